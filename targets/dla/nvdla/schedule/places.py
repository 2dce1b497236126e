"""Where in memory the values of a group are: in images of their own, or in parts of others."""

from collections.abc import Iterator
from dataclasses import dataclass

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.module import ops
from .....dialects.core.op import Op, view
from .....dialects.core.tensor import Shape
from .....passes.rewriting import users
from ..dialect.convolution import Conv
from ..dialect.dialect import ELEMENTS, EngineOp
from ..dialect.moves import Join, Window
from ..dialect.pools import Pdp
from ..dialect.single import Sdp

Offset = tuple[int, int, int]
"""Channels, rows and columns."""


@dataclass(frozen=True)
class Place:
    """A part of an image that is stored as a whole: `root` is that image."""

    root: ir.Value
    offset: Offset = (0, 0, 0)

    def moved(self, by: Shape) -> "Place":
        """Return the place at an offset from here."""
        first, second, third = (a + b for a, b in zip(self.offset, by, strict=True))
        return Place(self.root, (first, second, third))


@dataclass(frozen=True)
class Step:
    """What runs as one: an op, with the convolution that feeds it, and a pool that it feeds."""

    conv: Conv | None
    op: Op
    pool: Pdp | None = None

    @property
    def ops(self) -> tuple[Op, ...]:
        """Return one op or more, each of which feeds the next one."""
        return tuple(op for op in (self.conv, self.op, self.pool) if op is not None)

    @property
    def images(self) -> list[ir.Value]:
        """Return the images in memory that are read or written."""
        values = [v for op in self.ops for v in (*op.operation.operands, *op.results)]
        fed = list(self.op.results) if self.pool is not None else []
        return [value for value in values if is_image(value) and value not in fed]


def steps_of(group: tri.Group) -> Iterator[Step]:
    """Yield what engines run, in order."""
    fed: set[ir.Value] = set()
    for op in ops(group.block):
        if not isinstance(op, EngineOp) or isinstance(op, Conv) or op.results[0] in fed:
            continue
        made = maker_of(op.operation.operands[0]) if isinstance(op, Sdp) else None
        conv = made if isinstance(made, Conv) else None
        pool = None if conv is None or conv.winograd else fed_pool(op)
        if pool is not None:
            fed.add(pool.y)
        yield Step(conv, op, pool)


def fed_pool(op: Op) -> Pdp | None:
    """Return the pool that is all that reads a result, which then is in no memory.

    Winograd convolutions have results tile by tile, and feed none.
    """
    readers = [view(user) for user in users(op.results[0])]
    return readers[0] if len(readers) == 1 and isinstance(readers[0], Pdp) else None


def maker_of(value: ir.Value) -> Op | None:
    """Return the op that makes a value, None for an argument of the group."""
    return view(value.owner) if isinstance(value, ir.OpResult) else None


def is_image(value: ir.Value) -> bool:
    """Report whether a value is a batch of images in memory."""
    tensor = tensor_of(value.type)
    return tensor.rank == 4 and tensor.dtype in ELEMENTS


def places_of(group: tri.Group) -> dict[ir.Value, Place]:
    """Return the place of each image; operands of joins must be where they can be placed."""
    parents: dict[ir.Value, tuple[ir.Value, Shape]] = {}
    for op in ops(group.block):
        if isinstance(op, Window):
            parents[op.y] = op.x, op.start
        elif isinstance(op, Join):
            at = [0, 0, 0]
            for x in op.xs:
                parents[x] = op.y, tuple(at)
                at[op.axis - 1] += tensor_of(x.type).shape[op.axis]
    found: dict[ir.Value, Place] = {}

    def place(value: ir.Value) -> Place:
        if value not in found:
            parent = parents.get(value)
            found[value] = Place(value) if parent is None else place(parent[0]).moved(parent[1])
        return found[value]

    images = [*group.block.arguments, *(v for op in ops(group.block) for v in op.results)]
    return {value: place(value) for value in images if is_image(value)}
