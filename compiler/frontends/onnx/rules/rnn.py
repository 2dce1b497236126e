"""ONNX rules for recurrent layers."""

from .....dialects import tri
from ...core.values import tensor
from ..registry import Value, onnx_op


@onnx_op("RNN", since=7)
def rnn(
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    sequence_lens: Value | None = None,
    initial_h: Value | None = None,
    *,
    activation_alpha: tuple[float, ...] = (),
    activation_beta: tuple[float, ...] = (),
    activations: tuple[str, ...] = (),
    clip: float = 0.0,
    direction: str = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
) -> tri.Rnn:
    return tri.Rnn.build(
        x,
        w,
        r,
        b,
        sequence_lens,
        initial_h,
        hidden_size=hidden_size or _hidden_size(r),
        direction=direction,
        activations=activations,
        alphas=activation_alpha,
        betas=activation_beta,
        clip=clip,
        layout=layout,
    )


@onnx_op("GRU", since=7)
def gru(
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    sequence_lens: Value | None = None,
    initial_h: Value | None = None,
    *,
    activation_alpha: tuple[float, ...] = (),
    activation_beta: tuple[float, ...] = (),
    activations: tuple[str, ...] = (),
    clip: float = 0.0,
    direction: str = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
    linear_before_reset: int = 0,
) -> tri.Gru:
    return tri.Gru.build(
        x,
        w,
        r,
        b,
        sequence_lens,
        initial_h,
        hidden_size=hidden_size or _hidden_size(r),
        direction=direction,
        activations=activations,
        alphas=activation_alpha,
        betas=activation_beta,
        clip=clip,
        layout=layout,
        linear_before_reset=bool(linear_before_reset),
    )


@onnx_op("LSTM", since=7)
def lstm(
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    sequence_lens: Value | None = None,
    initial_h: Value | None = None,
    initial_c: Value | None = None,
    p: Value | None = None,
    *,
    activation_alpha: tuple[float, ...] = (),
    activation_beta: tuple[float, ...] = (),
    activations: tuple[str, ...] = (),
    clip: float = 0.0,
    direction: str = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
    layout: int = 0,
) -> tri.Lstm:
    return tri.Lstm.build(
        x,
        w,
        r,
        b,
        sequence_lens,
        initial_h,
        initial_c,
        p,
        hidden_size=hidden_size or _hidden_size(r),
        direction=direction,
        activations=activations,
        alphas=activation_alpha,
        betas=activation_beta,
        clip=clip,
        layout=layout,
        input_forget=bool(input_forget),
    )


def _hidden_size(r: Value) -> int:
    """Return the size of the state by the weights that it has, 0 when they have no axes."""
    return tensor(r).shape[-1] if tensor(r).rank else 0
