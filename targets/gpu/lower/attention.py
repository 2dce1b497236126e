"""Lowering of attention: softmax and products in one pass over the keys.

Source: Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning",
2023; for few queries, the keys are split as in Dao et al., "Flash-Decoding", 2023.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.sizes.dim import lowest
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.tensor import Tensor
from ....dialects.tri.attention.attention import fills_of
from ...kernels.arithmetic import compute_dtype
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.coordinates import Axis, Coordinates
from ..kernels.epilogue import Epilogue
from ..kernels.loop import loop
from ..kernels.value import Value, block_size, dot, full, scalar, zeros
from ..registry import accepts, template
from ..schedule.attention_plan import (
    KEYS_MULTIPLE,
    MOST_DEPTH,
    AttentionPlan,
    AttentionSizes,
    attention_plan,
)
from ..schedule.candidates import attention_settings
from ..schedule.product_blocks import next_power

LOG2_E = math.log2(math.e)


@accepts(tri.Attention)
def heads_of_at_most_256(op: tri.Attention) -> bool:
    """Takes queries and values of at most 256 elements."""
    return max(tensor_of(v.type).shape[-1] for v in (op.q, op.v)) <= MOST_DEPTH


@template(tri.Attention)
def lower_attention(
    op: tri.Attention,
    kernel: KernelBuilder,
    q: Buffer,
    k: Buffer,
    v: Buffer,
    masks: Sequence[Buffer],
    y: Epilogue,
) -> None:
    if 0 in y.shape:
        return
    *batch, heads, queries, depth = q.shape
    shared_heads, keys, values = *k.shape[-3:-1], v.shape[-1]
    shared = heads // shared_heads
    seen = lowest(keys, queries) if op.causal else keys
    outer = (*batch, shared_heads)
    sizes = AttentionSizes(
        math.prod(outer), shared, queries, seen, depth, values, q.dtype, kernel.precision
    )
    plan = attention_plan(sizes)
    split = (*outer, shared, queries)
    wide = [mask.broadcast_to((*batch, heads, queries, keys)) for mask in masks]
    masks = [mask.split((*split, keys)) for mask in wide]
    operands = _Operands(q.split((*split, depth)), k, v, masks)
    y = y.reshape((*split, values))
    numbering = _Numbering(len(outer), sizes, plan.packed)
    if plan.parts == 1:
        block = _Block(op, kernel, operands, plan, numbering)
        _, total, mixed = block.attend(0, seen)
        y.store(mixed / _divisor(total).expand(1), block.at(y.shape, block.rows, block.values))
        return
    parts = _attend_in_parts(op, kernel, operands, plan, numbering)
    _combine(kernel, parts, y, numbering, _Unit.of(op))


@dataclass(frozen=True)
class _Operands:
    """Queries as […, heads, shared, L, D], masks as […, heads, shared, L, S], k and v."""

    q: Buffer
    k: Buffer
    v: Buffer
    masks: Sequence[Buffer]


@dataclass(frozen=True)
class _Numbering:
    """Return which dims of [outer…, shared, L, …] programs walk by heads, and which by rows."""

    outer: int
    sizes: AttentionSizes
    packed: bool

    @property
    def heads(self) -> int:
        return self.sizes.heads * (1 if self.packed else self.sizes.shared)

    @property
    def rows(self) -> int:
        return self.sizes.queries * (self.sizes.shared if self.packed else 1)

    def axes(self, head: Value, rows: Value) -> tuple[Axis, Axis]:
        first = self.outer if self.packed else self.outer + 1
        dims = tuple(range(self.outer + 2))
        return Axis(dims[:first], head), Axis(dims[first:], rows)

    def shared_head(self, head: Value) -> Value:
        """Return the number of the keys' head, of those of all batches."""
        return head if self.packed else head / self.sizes.shared

    def position(self, rows: Value) -> Value:
        """Return which query of its head a row is."""
        return rows.remainder(self.sizes.queries) if self.packed else rows


@dataclass(frozen=True)
class _Unit:
    """Factors of scores, and of their differences, that make them exponents of 2.

    Scores as the model has them would overflow in the base of 2 where a mask makes them the
    lowest number: there the differences are converted.
    """

    scores: float
    differences: float

    @staticmethod
    def of(op: tri.Attention) -> "_Unit":
        finite = any(fill > -math.inf for fill in op.fills)
        floats = any(tensor_of(mask.type).dtype != "i1" for mask in op.masks)
        return _Unit(1.0, LOG2_E) if finite or floats else _Unit(LOG2_E, 1.0)

    def powers(self, difference: Value) -> Value:
        """Return e to the power of a difference of scores."""
        exponent = difference if self.differences == 1 else difference * self.differences
        return exponent.apply("exp2")


class _Block:
    """Compute attention of the queries of one program."""

    def __init__(
        self,
        op: tri.Attention,
        kernel: KernelBuilder,
        operands: _Operands,
        plan: AttentionPlan,
        numbering: _Numbering,
    ) -> None:
        self.op, self.operands, self.sizes, self.plan = op, operands, numbering.sizes, plan
        self.numbering, self.kernel, self.unit = numbering, kernel, _Unit.of(op)
        self.dtype = compute_dtype(self.sizes.dtype)
        kernel.warps, kernel.stages = plan.warps, plan.stages
        kernel.candidates = attention_settings(plan, self.sizes.dtype)
        for name, size in plan.blocks:
            kernel.block_of(name, size)
        self.first = (kernel.programs(numbering.rows, "BM") * block_size("BM")).named("first_row")
        self.row = kernel.indices(self.first, "BM", "rows")
        self.rows = self.row.expand(1)
        self.head = kernel.programs(numbering.heads).named("head")
        self.depth = kernel.indices(0, "BD", "depth")
        self.values = kernel.indices(0, "BE", "values").expand(0)
        self.q = operands.q.load_raw(
            self.at(operands.q.shape, self.rows, self.depth.expand(0)), whole=True
        ).named("q")

    def at(self, shape: Sequence[int], rows: Value, last: Value) -> Coordinates:
        """Return where elements are in a tensor of [outer…, shared, L, …]."""
        axes = self.numbering.axes(self.head, rows)
        return Coordinates(tuple(shape), (*axes, Axis((len(shape) - 1,), last)))

    def attend(self, begin: Value | int, end: Value | int) -> list[Value]:
        """Return the greatest score of each row, the sum of powers, and the values they mix."""
        state = [
            full(-math.inf, self.dtype, ("BM",)).named("top"),
            zeros(self.dtype, "BM").named("total"),
            zeros(self.dtype, "BM", "BE").named("mixed"),
        ]
        whole = self._end_of_whole_blocks(begin)
        if whole is not None:
            state = self._walk(begin, whole, state, checked=False)
            if not self.op.causal and self.sizes.keys % KEYS_MULTIPLE == 0:
                return state
            begin = whole
        if self.op.causal and not self.numbering.packed:
            end = (self.first + block_size("BM")).minimum(end)
        return self._walk(begin, end, state, checked=True)

    def _end_of_whole_blocks(self, begin: Value | int) -> Value | None:
        """Return up to where all keys of a block are seen by all rows; None if that is nowhere.

        Parts of the keys begin anywhere: they check each of their blocks.
        """
        keys, size = self.sizes.keys, block_size("BN")
        if isinstance(begin, Value) or at_least(keys, self.plan.keys) is False:
            return None
        if not self.op.causal:
            return ((scalar(keys) / size) * size).named("whole_keys")
        if self.numbering.packed:
            return None
        return (((self.first + 1).minimum(keys) / size) * size).named("whole_keys")

    def _walk(
        self, begin: Value | int, end: Value | int, state: list[Value], checked: bool
    ) -> list[Value]:
        def step(first: Value, top: Value, total: Value, mixed: Value) -> list[Value]:
            keys = self.kernel.indices(first, "BN", "keys")
            scores = self._scores(keys, checked)
            highest = top.maximum(scores.reduce("max", 1)).named("highest")
            shift = highest.equal(-math.inf).select(highest.like(0), highest).named("shift")
            powers = self.unit.powers(scores - shift.expand(1)).named("powers")
            scale = self.unit.powers(top - shift).named("scale")
            total = total * scale + powers.reduce("sum", 1)
            v = self.operands.v
            at = self._shared(v, keys.expand(1), self.values)
            value = v.load_raw(at, whole=True).named("v")
            mixed = mixed * scale.expand(1)
            product = dot(powers.cast(v.dtype), value, mixed, self.kernel.precision)
            return [highest, total, product]

        return loop(begin, end, block_size("BN"), state, step, "first_key")

    def _scores(self, keys: Value, checked: bool) -> Value:
        """Return the scores of a block of keys, in their unit."""
        k, column = self.operands.k, keys.expand(0)
        at = self._shared(k, column, self.depth.expand(1))
        key = k.load_raw(at, whole=True).named("k")
        scores = dot(self.q, key, zeros(self.dtype, "BM", "BN"), self.kernel.precision)
        scores = (scores * (self.op.scale * self.unit.scores)).named("scores")
        masks = self.operands.masks
        for mask, fill in zip(masks, fills_of(masks, self.op.fills), strict=True):
            seen = mask.load(self.at(mask.shape, self.rows, column)).named("mask")
            scores = seen.select(scores, fill) if seen.dtype == "i1" else scores + seen
        if not checked:
            return scores
        return self._visible(column).select(scores, -math.inf)

    def _visible(self, keys: Value) -> Value:
        inside = keys.less(self.sizes.keys)
        if not self.op.causal:
            return inside
        position = self.numbering.position(self.rows)
        return keys.less_equal(position).logical_and(inside)

    def _shared(self, x: Buffer, keys: Value, last: Value) -> Coordinates:
        """Return where elements are in keys or values."""
        rank = len(x.shape)
        head = Axis(tuple(range(rank - 2)), self.numbering.shared_head(self.head))
        return Coordinates(x.shape, (head, Axis((rank - 2,), keys), Axis((rank - 1,), last)))


def _attend_in_parts(
    op: tri.Attention,
    kernel: KernelBuilder,
    operands: _Operands,
    plan: AttentionPlan,
    numbering: _Numbering,
) -> list[Buffer]:
    """Begin a kernel in which each program sees a part of the keys.

    Returns the greatest scores and sums as [parts, heads, rows], and the values as
    [parts, heads, rows, E].
    """
    first = kernel.prior_kernel("partial")
    masks = [first.import_buffer(mask) for mask in operands.masks]
    taken = _Operands(
        first.import_buffer(operands.q),
        first.import_buffer(operands.k),
        first.import_buffer(operands.v),
        masks,
    )
    with first:
        block = _Block(op, first, taken, plan, numbering)
        part = first.programs(plan.parts).named("part")
        begin = (part * plan.span).named("begin")
        state = block.attend(begin, (begin + plan.span).minimum(block.sizes.keys))
        shape = (plan.parts, numbering.heads, numbering.rows)
        shapes = (shape, shape, (*shape, block.sizes.values))
        made = [first.intermediate(Tensor(s, block.dtype)) for s in shapes]
        for buffer, number in zip(made[:2], state[:2], strict=True):
            buffer.store(number, [part, block.head, block.row])
        made[2].store(state[2], [part, block.head, block.rows, block.values])
    return [kernel.import_buffer(buffer) for buffer in made]


def _combine(
    kernel: KernelBuilder, found: Sequence[Buffer], y: Epilogue, numbering: _Numbering, unit: _Unit
) -> None:
    """Combine the results of the parts of the keys, one row per program."""
    tops, totals, mixed = found
    kernel.block_of("PARTS", next_power(tops.shape[0]))
    kernel.block_of("BE", next_power(mixed.shape[-1]))
    row, head = (kernel.programs(size) for size in (numbering.rows, numbering.heads))
    part = kernel.indices(0, "PARTS", "part")
    values = kernel.indices(0, "BE", "values")
    top = tops.load([part, head, row], -math.inf)
    highest = top.reduce("max", 0)
    shift = highest.equal(-math.inf).select(highest.like(0), highest)
    weights = unit.powers(top - shift).named("weights")
    total = (totals.load([part, head, row]) * weights).reduce("sum", 0).named("total")
    parts = mixed.load([part.expand(1), head, row, values.expand(0)])
    number = (parts * weights.expand(1)).reduce("sum", 0) / _divisor(total)
    axes = (*numbering.axes(head, row), Axis((len(y.shape) - 1,), values))
    y.store(number, Coordinates(y.shape, axes))


def _divisor(total: Value) -> Value:
    """Return the divisor of powers; a row without visible keys is zero."""
    return total.equal(0).select(total.like(1), total)
