"""Rules of ONNX Runtime for recurrent layers whose weights are integers."""

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import Shape
from ....core.values import cast, tensor
from ...quantization import centered
from ...registry import Value, onnx_op
from . import DOMAIN
from .quantize import by_range


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
) -> tri.QuantizedLstm:
    """Run an LSTM whose weights are integers, of [directions, columns, 4 * hidden].

    All inputs are rounded to bytes together, and the state in each step, as `DynamicQuantizeLinear`
    does: products are those of integers.
    """
    gates, directions = tensor(r).shape[-1], tensor(r).shape[0]
    columns = directions * gates
    turned = tri.Transpose.build(_weights(w, w_zero_point, "w"), permutation=(1, 0, 2)).y
    matrix = tri.Reshape.build(turned, shape=(tensor(w).shape[1], columns)).y
    integers, step, zero = by_range(x)
    product = tri.MatMul.build(centered(integers, zero), matrix).y
    scale = tri.Reshape.build(_scales(w_scale, (directions, gates), "w"), shape=(columns,)).y
    inputs = tri.Mul.build(cast(product, "f32"), tri.Mul.build(scale, step).y).y
    if b is not None:
        inputs = tri.Add.build(inputs, _bias(b, columns)).y
    return tri.QuantizedLstm.build(
        inputs,
        _weights(r, r_zero_point, "r"),
        _scales(r_scale, (directions, gates), "r"),
        sequence_lens,
        initial_h,
        initial_c,
        p,
        hidden_size=hidden_size or gates // 4,
        direction=direction,
        activations=activations,
        alphas=activation_alpha,
        betas=activation_beta,
        clip=clip,
        input_forget=bool(input_forget),
    )


def _weights(w: Value, zero_point: Value | None, name: str) -> Value:
    """Return weights, [directions, columns, 4 * hidden], as integers without zero points."""
    if zero_point is None:
        raise Invalid(f"lacks input '{name}_zero_point'")
    if tensor(w).rank != 3:
        raise Invalid(f"has weights {tensor(w)}, must have axes for directions, columns and gates")
    return centered(w, _of_each(zero_point))


def _scales(scale: Value | None, shape: Shape, name: str) -> Value:
    """Return a scale for each direction and each of its columns."""
    if scale is None:
        raise Invalid(f"lacks input '{name}_scale'")
    each = tri.Reshape.build(_of_each(scale), shape=(shape[0], tensor(scale).size // shape[0])).y
    return each if tensor(each).shape == shape else tri.Expand.build(each, shape=shape).y


def _bias(b: Value, columns: int) -> Value:
    """Add the biases of the inputs and of the state, of all directions."""
    halves = tri.Reshape.build(b, shape=(tensor(b).shape[0], 2, tensor(b).shape[1] // 2)).y
    total = tri.ReduceSum.build(halves, axes=(1,), keepdims=False).y
    return tri.Reshape.build(total, shape=(columns,)).y


def _of_each(value: Value) -> Value:
    """Shape what each direction has, or each gate of each, so that it broadcasts over weights."""
    shape = tensor(value).shape
    if len(shape) not in (1, 2):
        raise Invalid(f"has {tensor(value)} as scale or zero point, must be of rank 1 or 2")
    return tri.Reshape.build(value, shape=(shape[0], 1, shape[1] if len(shape) == 2 else 1)).y
