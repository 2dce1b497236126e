"""Count the arithmetic operations of ops: two for each product that is added to a sum.

Only ops that contract are counted: convolutions, matrix products, attention, recurrent ops. All
others are limited by memory long before they are limited by arithmetic, and count nothing. A
convolution by Winograd's method counts as what it replaces, so its rate may exceed the peak; causal
attention counts the scores that it skips. Sizes that change from run to run are the likely ones.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...dialects import cpu, tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.op import OPS, Op
from ...dialects.core.sizes.substitution import likely
from ...dialects.core.tensor import Tensor
from ...dialects.cpu.vnni import PRODUCTS
from ...dialects.cpu.winograd import TAPS
from ...dialects.tri.linear_algebra.equation import Equation

Count = Callable[[Any], int]


def flops(op: Op) -> int:
    """Return the operations that an op counts for; 0 for an op that does not contract."""
    count = _COUNTS.get(op.op_name)
    return count(op) if count else 0


def multiplies(op: Op) -> str:
    """Return the element type whose peak an op is held against: i8, bf16 or, for all else, f32."""
    if isinstance(op, (cpu.DotBlockMatMul, cpu.DotIndexedBlockMatMul)):
        return "i8"
    if isinstance(op, tri.Attention):
        return "bf16" if tensor_of(op.q.type).dtype == "bf16" else "f32"
    if not isinstance(op, (cpu.DotKernelConv, cpu.DotMatMul)):
        return "f32"
    return PRODUCTS[tensor_of(op.operation.operands[0].type).dtype].factor


def is_missing(name: str) -> bool:
    """Return whether an op, by its name, is one of ours whose operations are not counted here."""
    kind = OPS.get(name)
    return kind is not None and kind.anchor and name.startswith("cpu.") and name not in _COUNTS


def _tensors(values: Iterable[Any]) -> list[Tensor]:
    return [tensor_of(value.type).likely for value in values]


def _conv(op: tri.Conv) -> int:
    w, y = _tensors((op.w, op.y))
    return 2 * y.size * (w.size // max(1, w.shape[0]))


def _conv_transpose(op: tri.ConvTranspose) -> int:
    x, w = _tensors((op.x, op.w))
    return 2 * x.size * (w.size // max(1, w.shape[0]))


def _packed_conv(op: cpu.PackedConv) -> int:
    w, y = _tensors((op.w, op.y))
    return 2 * y.size * (w.size // op.outputs)


def _panel_conv(op: Any) -> int:
    w, y = _tensors((op.w, op.y))
    return 2 * y.size * w.shape[1]


def _dot_conv(op: cpu.DotConv) -> int:
    x, w, y = _tensors((op.x, op.w, op.y))
    return 2 * y.size * (x.shape[1] // w.shape[0]) * math.prod(op.kernel)


def _dot_panel_conv(op: cpu.DotPanelConv) -> int:
    x, y = _tensors((op.x, op.y))
    return 2 * y.size * x.shape[1] * math.prod(op.kernel)


def _blocked_dot_conv(op: cpu.BlockedDotConv) -> int:
    x, y = _tensors((op.x, op.y))
    blocks = x.shape[2 + len(op.kernel) :]
    return 2 * y.size * x.shape[1] * math.prod(blocks) * math.prod(op.kernel)


def _lane_conv(op: cpu.LaneConv) -> int:
    w, y = _tensors((op.w, op.y))
    return 2 * y.size * w.shape[1] * w.shape[2]


def _lane_dot_conv(op: cpu.LaneDotConv) -> int:
    (y,) = _tensors((op.y,))
    return 2 * y.size * math.prod(op.kernel)


def _blocked_winograd_conv(op: cpu.BlockedWinogradConv) -> int:
    u, y = _tensors((op.u, op.y))
    return 2 * y.size * u.shape[2] * TAPS**2


def _winograd_conv(op: cpu.WinogradConv) -> int:
    x, y = _tensors((op.x, op.y))
    return 2 * y.size * x.shape[1] * TAPS**2


def _mat_mul(op: Any) -> int:
    a, y = _tensors((op.a, op.y))
    return 2 * y.size * a.shape[-1]


def _dot_block_mat_mul(op: cpu.DotBlockMatMul | cpu.DotIndexedBlockMatMul) -> int:
    a, y = _tensors((op.a, op.y))
    return 2 * y.size * a.shape[0] * op.block


def _gemm(op: tri.Gemm) -> int:
    a, y = _tensors((op.a, op.y))
    return 2 * y.size * a.shape[0 if op.trans_a else 1]


def _einsum(op: tri.Einsum) -> int:
    xs = _tensors(op.xs)
    return 2 * _points(op.equation, [x.shape for x in xs]) if len(xs) > 1 else 0


def _points(equation: str, shapes: Sequence[tuple[int, ...]]) -> int:
    """Count the points of the space of all indices: the result's, if it kept every index."""
    parsed = Equation.parse(equation)
    letters = dict.fromkeys("".join(parsed.inputs).replace(".", ""))
    dots = "..." if any("..." in term for term in parsed.inputs) else ""
    points = 1
    for size in Equation(parsed.inputs, dots + "".join(letters)).output_shape(shapes):
        points *= size
    return points


def _attention(op: tri.Attention) -> int:
    q, k, y = _tensors((op.q, op.k, op.y))
    return 2 * (q.size + y.size) * k.shape[-2]


def _cached_attention(op: tri.CachedAttention) -> int:
    q, y = _tensors((op.q, op.y))
    return 2 * (q.size + y.size) * likely(op.rows)


def _recurrent(op: tri.Recurrent) -> int:
    x, w, r = _tensors((op.x, op.w, op.r))
    steps = x.shape[0] * x.shape[1]  # of all sequences together
    return 2 * steps * (w.size + r.size) + _projection(op)


def _packed_recurrent(op: cpu.PackedRecurrent) -> int:
    x, r = _tensors((op.x, op.r))
    steps = x.shape[0] * x.shape[1]  # of all sequences together
    return 2 * steps * x.shape[2] * r.shape[2] + _projection(op)


def _projection(op: tri.Recurrent | cpu.PackedRecurrent) -> int:
    if not isinstance(op, tri.Lstm | cpu.PackedLstm) or op.projection is None:
        return 0
    (y,) = _tensors((op.y,))
    return 2 * y.size * op.hidden_size


def _quantized_lstm(op: tri.QuantizedLstm | cpu.DotLstm) -> int:
    (x,) = _tensors((op.x,))
    return 2 * x.size * op.hidden_size


_COUNTS: dict[str, Count] = {
    "cpu.block": lambda op: 0,
    "cpu.blocked_conv": _panel_conv,
    "cpu.blocked_conv_transpose": _panel_conv,
    "cpu.blocked_winograd_conv": _blocked_winograd_conv,
    "cpu.dot_block_mat_mul": _dot_block_mat_mul,
    "cpu.dot_conv": _dot_conv,
    "cpu.dot_indexed_block_mat_mul": _dot_block_mat_mul,
    "cpu.dot_lstm": _quantized_lstm,
    "cpu.dot_mat_mul": _mat_mul,
    "cpu.blocked_dot_conv": _blocked_dot_conv,
    "cpu.dot_panel_conv": _dot_panel_conv,
    "cpu.lane_conv": _lane_conv,
    "cpu.lane_dot_conv": _lane_dot_conv,
    "cpu.packed_block_mat_mul": _mat_mul,
    "cpu.packed_conv": _packed_conv,
    "cpu.packed_gru": _packed_recurrent,
    "cpu.packed_lstm": _packed_recurrent,
    "cpu.packed_mat_mul": _mat_mul,
    "cpu.packed_rnn": _packed_recurrent,
    "cpu.panel_conv": _panel_conv,
    "cpu.winograd_conv": _winograd_conv,
    "tri.attention": _attention,
    "tri.cached_attention": _cached_attention,
    "tri.block_quantized_mat_mul": _mat_mul,
    "tri.conv": _conv,
    "tri.conv_transpose": _conv_transpose,
    "tri.einsum": _einsum,
    "tri.gemm": _gemm,
    "tri.gru": _recurrent,
    "tri.indexed_block_mat_mul": _mat_mul,
    "tri.indexed_mat_mul": _mat_mul,
    "tri.lstm": _recurrent,
    "tri.mat_mul": _mat_mul,
    "tri.quantized_lstm": _quantized_lstm,
    "tri.rnn": _recurrent,
}
