"""Find values that are parts of others: made at their places there, or taken from there."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ....dialects import dla
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import Shape
from ..layout.memory_layout import Layout

COPIES = "dla.copies"
"""The attribute of an op that joins copies of its parts, which have places of their own before."""


@dataclass(frozen=True)
class Part:
    """Say of which value another one is a part, and where in it that starts.

    What is `taken` from the whole is there as soon as that is; all else is made at its place.
    """

    whole: ir.Value
    at: Shape
    taken: bool = False


@dataclass(frozen=True)
class Joins:
    """Know the parts of the values of a group; parts may have parts themselves."""

    parts: Mapping[ir.Value, Part]

    @staticmethod
    def of(members: Sequence[Op], outputs: Sequence[ir.Value], layout: Layout) -> "Joins":
        """Find the parts: what an op of the group makes, and what has no other place to be.

        An output has one of its own, and so has what is joined already. Along channels, parts are
        whole grains, since what pads them is written, too; the last one may be padded. A window
        that begins with a grain is a part of what an op of the group makes.
        """
        made = {op.results[0] for op in members}.difference(outputs)
        parts: dict[ir.Value, Part] = {}
        here = {op.results[0] for op in members}
        for op in members:
            if isinstance(op, dla.Slice) and op.x in here and op.y in made:
                parts |= _window(op, layout)
            if isinstance(op, dla.Concat) and COPIES not in op.operation.attributes:
                for value, at in placed(op):
                    if (
                        value in made
                        and value not in parts
                        and _whole_grains(value, at, op, layout)
                    ):
                        parts[value] = Part(op.y, at)
        return Joins(parts)

    def without(self, copies: AbstractSet[ir.Value]) -> "Joins":
        """Return the parts that there are when some values are made of copies."""
        left = {v: part for v, part in self.parts.items() if part.taken or part.whole not in copies}
        return Joins(left) if copies else self

    def family(self, value: ir.Value) -> list[ir.Value]:
        """List a value and all its parts, with theirs."""
        found = [value]
        for part, place in self.parts.items():
            if place.whole == value:
                found += self.family(part)
        return found

    def in_place(self, op: Op, value: ir.Value) -> bool:
        """Say whether an op joins a value that was made at its place, or takes a part of it."""
        (result,) = op.results
        if value in self.parts and self.parts[value].whole == result:
            return True
        return self.is_taken(result) and self.parts[result].whole == value

    def is_taken(self, value: ir.Value) -> bool:
        """Say whether a value is a window of another one, which was there before."""
        return value in self.parts and self.parts[value].taken

    def whole_of(self, value: ir.Value) -> ir.Value | None:
        """Return what a value is a part of, if anything."""
        return self.parts[value].whole if value in self.parts else None


def _window(op: dla.Slice, layout: Layout) -> dict[ir.Value, Part]:
    if op.start[2] % layout.grain:
        return {}
    return {op.y: Part(op.x, (0, *op.start), taken=True)}


def placed(op: dla.Concat) -> Iterator[tuple[ir.Value, Shape]]:
    """Yield what is joined with the place where it goes."""
    axis, first = op.axis % 4, 0
    for value in op.xs:
        yield value, tuple(first if each == axis else 0 for each in range(4))
        first += tensor_of(value.type).shape[axis]


def _whole_grains(value: ir.Value, at: Shape, op: dla.Concat, layout: Layout) -> bool:
    end, total = at[3] + tensor_of(value.type).shape[3], tensor_of(op.y.type).shape[3]
    return at[3] % layout.grain == 0 and (end % layout.grain == 0 or end == total)
