"""The lowering of attention with a state: columns of a state never meet.

A unit of work is a head and some neighbouring columns of its state, which stay in the nearest cache
for the whole sequence.
"""

from collections.abc import Callable
from dataclasses import dataclass

from .....dialects import tri
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.sizes.dim import ceildiv
from ....kernels.arithmetic import compute_dtype
from ...kernels.approximation import exp
from ...kernels.buffer import Buffer, Lanes, tail_mask, zero
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue, each_vector
from ...kernels.index import IndexExpr, carry, for_each
from ...kernels.loops import each
from ...kernels.value import Value
from ...kernels.windows import repeated
from ...registry import template

SIDE_BY_SIDE = 4
"""How many vectors of columns a unit has, if there are so many: their sums hide latencies."""


@template(tri.LinearAttention)
def lower_linear_attention(
    op: tri.LinearAttention,
    kernel: KernelBuilder,
    q: Buffer,
    k: Buffer,
    v: Buffer,
    decay: Buffer | None,
    beta: Buffer | None,
    state: Buffer | None,
    y: Epilogue,
    last_state: Epilogue,
) -> None:
    batch, length, shared, columns = v.shape
    dtype = compute_dtype(v.dtype)
    width = kernel.lanes(dtype, *y.dtypes, *last_state.dtypes)
    beside = _vectors(columns, width)
    kept = None if decay is None else _powers(kernel, decay, dtype).broadcast_to(k.shape)
    rate = None if beta is None else beta.broadcast_to((*k.shape[:3], 1))
    memory = kernel.private((k.shape[3], beside * width), dtype)

    def unit(at: list[IndexExpr]) -> None:
        head, first = at[:2], at[2] * (beside * width)
        lanes = [_lanes(columns, first + n * width, width) for n in range(beside)]
        part = _Columns(memory, [first + n * width for n in range(beside)], lanes)
        part.start(None if state is None else state.part(head))

        def step(time: IndexExpr) -> None:
            place = [head[0], time, head[1]]
            old = None if kept is None else kept.part(place)
            value = part.load(v.part(place))
            if rate is not None:
                known = part.recall(k.part(place), old)
                speed = rate.load([*place, IndexExpr(0)])
                pairs = zip(value, known, lanes, strict=True)
                value = [repeated(speed, one) * (new - seen) for new, seen, one in pairs]
                old = None
            part.learn(k.part(place), value, old)
            heads = q.shape[2] // shared

            def answer(number: IndexExpr) -> None:
                asked = head[1] * heads + number
                seen = part.recall(q.part([head[0], time, asked]), None)
                part.store(y, [head[0], time, asked], [s * op.scale for s in seen])

            for_each(heads, answer)

        for_each(length, step)
        for_each(k.shape[3], lambda row: part.store(last_state, [*head, row], part.row(row)))

    each((batch, shared, ceildiv(columns, beside * width)), unit)


def _vectors(columns: Size, width: int) -> int:
    """Return how many vectors of columns a unit has: no more than there are."""
    return 1 if is_symbolic(columns) else max(1, min(SIDE_BY_SIDE, ceildiv(columns, width)))


def _lanes(columns: Size, first: IndexExpr, width: int) -> Lanes:
    """Return a vector of columns, of which the last ones may not be there."""
    if not is_symbolic(columns) and columns % width == 0:
        return Lanes(width)
    left = (IndexExpr(columns) - first).maximum(0)
    return Lanes(width, tail_mask(width, left))


def _powers(kernel: KernelBuilder, decay: Buffer, dtype: str) -> Buffer:
    """Return the exponentials of a tensor, in memory that all threads share."""
    made = kernel.scratch(decay.shape, dtype)
    each_vector(
        decay.shape,
        kernel.lanes(dtype),
        lambda at, lanes: made.store(exp(decay.load(at, lanes)), at, lanes),
    )
    return made


@dataclass(frozen=True)
class _Columns:
    """Hold some columns of the state of a head in private memory, [keys, columns]."""

    memory: Buffer
    first: list[IndexExpr]
    lanes: list[Lanes]

    @property
    def keys(self) -> Size:
        return self.memory.shape[0]

    def load(self, row: Buffer) -> list[Value]:
        """Load these columns of a row of all columns."""
        return [row.load([at], one) for at, one in zip(self.first, self.lanes, strict=True)]

    def store(self, target: Epilogue, row: list[IndexExpr], values: list[Value]) -> None:
        """Store these columns of a row of all columns."""
        for at, value, lanes in zip(self.first, values, self.lanes, strict=True):
            target.store(value, [*row, at], lanes)

    def row(self, key: IndexExpr) -> list[Value]:
        """Load the state of a key."""
        return [self.memory.load(*place) for place in self._places(key)]

    def start(self, state: Buffer | None) -> None:
        """Fill the state with zeros, or with a state [keys, columns]."""

        def row(key: IndexExpr) -> None:
            if state is None:
                self._keep(key, self._zeros())
            else:
                self._keep(key, self.load(state.part([key])))

        for_each(self.keys, row)

    def recall(self, key: Buffer, kept: Buffer | None) -> list[Value]:
        """Return the product of a key with the state, of which only a part is `kept` before."""

        def add(i: IndexExpr, now: list[Value]) -> list[Value]:
            rows = self._kept(i, kept)
            if kept is not None:
                self._keep(i, rows)
            return self._each(lambda n, scalar: rows[n].fma(scalar, now[n]), key.load([i]))

        return carry(self.keys, self._zeros(), add)

    def learn(self, key: Buffer, value: list[Value], kept: Buffer | None) -> None:
        """Add the outer product of a key and a value to the state, of which a part is `kept`."""

        def add(i: IndexExpr) -> None:
            rows = self._kept(i, kept)
            self._keep(
                i, self._each(lambda n, scalar: value[n].fma(scalar, rows[n]), key.load([i]))
            )

        for_each(self.keys, add)

    def _kept(self, key: IndexExpr, kept: Buffer | None) -> list[Value]:
        rows = self.row(key)
        if kept is None:
            return rows
        return self._each(lambda n, share: rows[n] * share, kept.load([key]))

    def _each(self, function: Callable[[int, Value], Value], scalar: Value) -> list[Value]:
        """Apply a function of a number to all vectors of columns."""
        return [function(n, repeated(scalar, lanes)) for n, lanes in enumerate(self.lanes)]

    def _keep(self, key: IndexExpr, rows: list[Value]) -> None:
        for value, (at, lanes) in zip(rows, self._places(key), strict=True):
            self.memory.store(value, at, lanes)

    def _places(self, key: IndexExpr) -> list[tuple[list[IndexExpr], Lanes]]:
        """List where the vectors of the state of a key are: whole ones, in private memory."""
        width = self.lanes[0].width
        return [([key, IndexExpr(n * width)], Lanes(width)) for n in range(len(self.lanes))]

    def _zeros(self) -> list[Value]:
        return [zero(self.memory.dtype, lanes) for lanes in self.lanes]
