"""Alias analysis of the values of a group: subviews of other values, and in-place candidates."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ....dialects import dla
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import Shape
from ..layout.memory_layout import MemoryLayout

COPIES = "dla.copies"
"""The attribute of a concat that copies its operands instead of aliasing them."""

ELEMENTWISE = (dla.Eltwise, dla.Lookup, dla.Copy)
"""Ops whose tiles may overwrite the window that they read."""


@dataclass(frozen=True)
class Subview:
    """Locate a value inside its parent.

    A `window` is read from a parent that exists before it; any other subview is written by its
    producer directly into the buffer of the parent.
    """

    parent: ir.Value
    offset: Shape
    window: bool = False


@dataclass(frozen=True)
class AliasAnalysis:
    """Map values of a group to their parents; a subview may have subviews itself."""

    subviews: Mapping[ir.Value, Subview]

    @staticmethod
    def of(
        members: Sequence[Op], outputs: Sequence[ir.Value], layout: MemoryLayout
    ) -> "AliasAnalysis":
        """Find the subviews among the values of a group.

        Outputs of the group have buffers of their own, and a value has one parent at most. Along
        channels, a subview covers whole grains, because padding channels are written, too; only
        the last operand of a concat may be padded. A slice aliases its operand if it starts at a
        grain and an op of the group makes that operand.
        """
        made = {op.results[0] for op in members}
        inner = made.difference(outputs)
        subviews: dict[ir.Value, Subview] = {}
        for op in members:
            if isinstance(op, dla.Slice) and op.x in made and op.y in inner:
                if op.start[2] % layout.grain == 0:
                    subviews[op.y] = Subview(op.x, (0, *op.start), window=True)
            elif isinstance(op, dla.Concat) and COPIES not in op.operation.attributes:
                for value, offset in operand_offsets(op):
                    free = value in inner and value not in subviews
                    if free and _covers_grains(value, offset, op, layout):
                        subviews[value] = Subview(op.y, offset)
        return AliasAnalysis(subviews)

    def without(self, copies: AbstractSet[ir.Value]) -> "AliasAnalysis":
        """Return the subviews that remain if the concats of some values copy their operands."""
        if not copies:
            return self
        return AliasAnalysis(
            {v: s for v, s in self.subviews.items() if s.window or s.parent not in copies}
        )

    def with_subviews(self, value: ir.Value) -> list[ir.Value]:
        """List a value and all its subviews, nested ones included."""
        found = [value]
        for inner, subview in self.subviews.items():
            if subview.parent == value:
                found += self.with_subviews(inner)
        return found

    def shares_storage(self, op: Op, operand: ir.Value) -> bool:
        """Report whether the result and an operand of an op share memory, so that nothing moves."""
        (result,) = op.results
        if operand in self.subviews and self.subviews[operand].parent == result:
            return True
        return self.is_window(result) and self.subviews[result].parent == operand

    def is_window(self, value: ir.Value) -> bool:
        """Report whether a value is read from a parent that exists before it."""
        return value in self.subviews and self.subviews[value].window

    def parent_of(self, value: ir.Value) -> ir.Value | None:
        """Return the parent of a subview; None for a value with a buffer of its own."""
        return self.subviews[value].parent if value in self.subviews else None


def operand_offsets(op: dla.Concat) -> Iterator[tuple[ir.Value, Shape]]:
    """Yield the operands of a concat, each with its offset in the result."""
    axis, first = op.axis % 4, 0
    for value in op.xs:
        yield value, tuple(first if each == axis else 0 for each in range(4))
        first += tensor_of(value.type).shape[axis]


def in_place_candidates(
    members: Sequence[Op], aliases: AliasAnalysis
) -> dict[ir.Value, list[ir.Value]]:
    """Return for each elementwise result the operands whose buffer it may reuse, if resident.

    Such an operand has the type of the result, no parent, and no use after the op, nor has any of
    its subviews. A subview is stored inside the buffer of its parent and reuses no other one.
    """
    last = {value: n for n, op in enumerate(members) for value in op.operation.operands}

    def is_dead_after(value: ir.Value, number: int) -> bool:
        return all(last.get(each, number) <= number for each in aliases.with_subviews(value))

    return {
        op.results[0]: [
            value
            for value in op.operation.operands
            if value.type == op.results[0].type
            and value not in aliases.subviews
            and is_dead_after(value, number)
        ]
        for number, op in enumerate(members)
        if isinstance(op, ELEMENTWISE) and op.results[0] not in aliases.subviews
    }


def _covers_grains(value: ir.Value, offset: Shape, op: dla.Concat, layout: MemoryLayout) -> bool:
    end, total = offset[3] + tensor_of(value.type).shape[3], tensor_of(op.y.type).shape[3]
    return offset[3] % layout.grain == 0 and (end % layout.grain == 0 or end == total)
