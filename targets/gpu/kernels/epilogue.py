"""`Epilogue`: stores a kernel's results, through the elementwise ops that follow the anchor."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import Shape, Tensor
from ..registry import lowering_of
from .buffer import Argument, Buffer
from .builder import KernelBuilder
from .coordinates import Axis, Coordinates
from .spread import in_a_row, spread
from .value import Value, compute_dtype, full

Reader = Buffer | Callable[[list[Value]], Value]
"""The elements of a result: a buffer of its shape, or a function of the index per dimension."""


@dataclass(frozen=True)
class Epilogue:
    """Apply the elementwise ops that follow an anchor to tiles of its result, and store them.

    `value` is that result (None in a group of elementwise ops only); `ops` are the ops that follow;
    `leaves` are the other buffers that they read, viewed under `shape`; `outputs` are the values to
    store. Tiles may come in any order.
    """

    kernel: KernelBuilder
    shape: Shape
    value: ir.Value | None
    ops: Sequence[Op]
    constants: Mapping[ir.Value, tri.Constant]
    leaves: Mapping[ir.Value, Buffer]
    outputs: Mapping[ir.Value, Argument]

    @property
    def order(self) -> tuple[int, ...]:
        """Return the dims of the result from the outermost to the innermost one in memory."""
        strides = next(iter(self.outputs.values())).strides
        return tuple(sorted(range(len(self.shape)), key=lambda dim: -strides[dim]))

    def reshape(self, shape: Shape) -> "Epilogue":
        """View the result under a shape that splits dimensions, or inserts dimensions of size 1."""
        leaves = {value: leaf.split(shape) for value, leaf in self.leaves.items()}
        outputs = {value: out.split(shape) for value, out in self.outputs.items()}
        return replace(self, shape=shape, leaves=leaves, outputs=outputs)

    def store(self, number: Value | None, at: Coordinates | Sequence[Value]) -> None:
        """Apply the ops to a tile and store the results; elements out of bounds are not stored."""
        if not isinstance(at, Coordinates):
            at = Coordinates.of(self.shape, at)
        known: dict[ir.Value, Value] = {}
        if self.value is not None and number is not None:
            known[self.value] = number
        for value, leaf in self.leaves.items():
            known[value] = leaf.load(at)
        for value, op in self.constants.items():
            dtype = compute_dtype(tensor_of(op.y.type).dtype)
            known[value] = full(op.value.reshape(-1)[0].item(), dtype)
        for op in self.ops:
            numbers = [known[v] for v in op.operation.operands]
            known[op.results[0]] = lowering_of(op).function(op, *numbers)
        for value, out in self.outputs.items():
            out.store(known[value], at)

    def emit_elementwise(
        self, read: Callable[[Coordinates], Value | None], sources: Sequence[Buffer] = ()
    ) -> None:
        """Add a grid over the elements; `read` loads from `sources` at the same coordinates."""
        if 0 in self.shape:
            return
        around = [*sources, *self.leaves.values(), *self.outputs.values()]
        at = spread(self.kernel, self.shape, self.order, around)
        self.store(read(at), at)

    def emit_ops(self) -> None:
        """Add a grid for a group of elementwise ops only."""
        self.emit_elementwise(lambda at: None)

    @property
    def tensor(self) -> Tensor:
        """Return the type of the anchor's result."""
        assert self.value is not None, "a group of elementwise ops has no anchor"
        return tensor_of(self.value.type)


def emit_indexed(
    kernel: KernelBuilder, epilogues: Sequence[Epilogue], readers: Sequence[Reader]
) -> None:
    """Add a grid in which each program stores a part of each result, from one reader each."""
    used = [
        (s, r) for s, r in zip(epilogues, readers, strict=True) if s.outputs and 0 not in s.shape
    ]
    if len(used) == 1:
        epilogue, reader = used[0]
        sources = [reader] if isinstance(reader, Buffer) else []
        epilogue.emit_elementwise(lambda at: _read(reader, at), sources)
        return
    largest = max((math.prod(epilogue.shape) for epilogue, _ in used), default=1)
    index = in_a_row(kernel, largest)
    for epilogue, reader in used:
        at = Coordinates(epilogue.shape, (Axis(epilogue.order, index),))
        epilogue.store(_read(reader, at), at)


def _read(reader: Reader, at: Coordinates) -> Value:
    return reader.load(at) if isinstance(reader, Buffer) else reader(at.indices())
