"""Lowering of attention with a state: columns of a state never meet.

A program has a head and some columns of its state, which stay in registers for the whole sequence.
"""

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.substitution import likely
from ...kernels.arithmetic import compute_dtype
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.loop import loop
from ..kernels.value import Value, scalar, zeros
from ..registry import accepts, template
from ..schedule.product_blocks import LEAST, next_power

MOST_KEYS = 256
"""The most rows of a state: a program has all rows of its columns."""

ELEMENTS = 4096
"""Elements of a state that a program has, about: 32 in each of its threads."""


@accepts(tri.LinearAttention)
def keys_of_at_most_256(op: tri.LinearAttention) -> bool:
    """Takes keys of at most 256 elements."""
    return tensor_of(op.k.type).shape[3] <= MOST_KEYS


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
    part = _Columns(kernel, batch, shared, k.shape[3], columns)
    memory = zeros(compute_dtype(v.dtype), "KEYS", "BN")
    if state is not None:
        memory = state.load(part.state_at)
    kept = None if decay is None else decay.broadcast_to(k.shape)
    rate = None if beta is None else beta.broadcast_to((*k.shape[:3], 1))
    heads = q.shape[2] // shared

    def step(time: Value, memory: Value) -> list[Value]:
        key = part.row(k, part.place(time))
        value = v.load([*part.place(time), part.columns])
        if kept is not None:
            memory = memory * part.row(kept, part.place(time)).apply("exp").expand(1)
        if rate is not None:
            speed = rate.load([*part.place(time), scalar(0)])
            value = speed * (value - _recall(memory, key))
        memory = memory + key.expand(1) * value.expand(0)

        def answer(number: Value) -> list[Value]:
            asked = [part.image, time, part.head * heads + number]
            seen = _recall(memory, part.row(q, asked))
            y.store(seen * op.scale, [*asked, part.columns])
            return []

        loop(0, heads, 1, [], answer, "query")
        return [memory]

    (memory,) = loop(0, length, 1, [memory], step, "time")
    last_state.store(memory, part.state_at)


def _recall(memory: Value, key: Value) -> Value:
    """Return the product of a key with the state."""
    return (memory * key.expand(1)).reduce("sum", 0)


class _Columns:
    """Hold which image, head and columns of its state [keys, columns] a program has."""

    def __init__(
        self, kernel: KernelBuilder, batch: Size, shared: Size, keys: Size, columns: Size
    ) -> None:
        rows = next_power(keys)
        width = min(max(ELEMENTS // rows, LEAST), next_power(likely(columns)))
        kernel.block_of("KEYS", rows)
        self.columns = kernel.axis(columns, "BN", width, name="columns")
        self.head = kernel.programs(shared).named("head")
        self.image = kernel.programs(batch).named("image")
        self.keys = kernel.indices(0, "KEYS", "keys")
        self.exist = self.keys.less(keys)

    @property
    def state_at(self) -> list[Value]:
        return [self.image, self.head, self.keys.expand(1), self.columns.expand(0)]

    def place(self, time: Value) -> list[Value]:
        return [self.image, time, self.head]

    def row(self, x: Buffer, place: list[Value]) -> Value:
        """Load a number for each key, also where all have the same; 0 behind the last one."""
        return self.exist.select(x.load([*place, self.keys]), 0)
