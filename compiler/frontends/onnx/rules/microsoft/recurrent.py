"""Rules of ONNX Runtime for recurrent layers whose weights are integers."""

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ....core.values import cast, tensor
from ...quantization import centered
from ...registry import Value, onnx_op
from . import DOMAIN


@onnx_op("DynamicQuantizeLSTM", since=1, domain=DOMAIN)
def dynamic_quantize_lstm(
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    sequence_lens: Value | None = None,
    initial_h: Value | None = None,
    initial_c: Value | None = None,
    p: Value | None = None,
    w_scale: Value | None = None,
    w_zero_point: Value | None = None,
    r_scale: Value | None = None,
    r_zero_point: Value | None = None,
    *,
    activation_alpha: tuple[float, ...] = (),
    activation_beta: tuple[float, ...] = (),
    activations: tuple[str, ...] = (),
    clip: float = 0.0,
    direction: str = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
) -> tri.Lstm:
    """Run an LSTM whose weights are integers, of [directions, columns, 4 * hidden].

    ONNX Runtime rounds the operands of each product to 8 bits, too; here they are exact.
    """
    recurrent = _weights(r, r_scale, r_zero_point, "r")
    return tri.Lstm.build(
        x,
        _weights(w, w_scale, w_zero_point, "w"),
        recurrent,
        b,
        sequence_lens,
        initial_h,
        initial_c,
        p,
        hidden_size=hidden_size or tensor(recurrent).shape[-1],
        direction=direction,
        activations=activations,
        alphas=activation_alpha,
        betas=activation_beta,
        clip=clip,
        layout=0,
        input_forget=bool(input_forget),
    )


def _weights(w: Value, scale: Value | None, zero_point: Value | None, name: str) -> Value:
    """Return weights as floats, of [directions, 4 * hidden, columns] as those of `LSTM`."""
    if scale is None or zero_point is None:
        raise Invalid(f"lacks input '{name}_scale' or '{name}_zero_point'")
    if tensor(w).rank != 3:
        raise Invalid(f"has weights {tensor(w)}, must have axes for directions, columns and gates")
    centre = centered(w, _of_each(zero_point))
    wide = tri.Mul.build(cast(centre, tensor(scale).dtype), _of_each(scale)).y
    return tri.Transpose.build(wide, permutation=(0, 2, 1)).y


def _of_each(value: Value) -> Value:
    """Shape what each direction has, or each gate of each, so that it broadcasts over weights."""
    shape = tensor(value).shape
    if len(shape) not in (1, 2):
        raise Invalid(f"has {tensor(value)} as scale or zero point, must be of rank 1 or 2")
    return tri.Reshape.build(value, shape=(shape[0], 1, shape[1] if len(shape) == 2 else 1)).y
