"""Choose which values stay in sram from where they are made to where they are last used."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, ops
from ...dialects.core.op import Op
from ...passes.core import Pass
from .layout import Layout, layout_of
from .members import is_constant, is_image, members_of, outputs_of
from .stay_costs import StayCosts

STAYS = "dla.stays"
"""The attribute of an op whose result stays in sram, and of a group: which inputs do."""

ROUNDS = 8
"""How often all values are tried at the most; few networks take more than three."""


class ChooseMemory(Pass):
    """Let values of an accelerator's groups stay in sram as wholes, as far as there is room.

    Those are chosen with which ops take the fewest cycles and move least: a value that stays is
    not moved, but ops that run meanwhile have less room, and may load weights and windows again.
    `share` is how much of sram values may take where an op has anything else to load or to store,
    in percent.

        %a = dla.conv %x   =>   %a = dla.conv %x {dla.stays}
        %b = dla.conv %a        %b = dla.conv %a
    """

    target: str = "vanilla"
    description: str = ""
    share: int = 100

    def run(self, module: Module) -> None:
        layout = layout_of(self.target, self.description)
        with module.operation.context:
            for op in ops(module.main):
                if isinstance(op, tri.Group) and op.target == self.target:
                    _choose(module, op, layout, self.share)


@dataclass(frozen=True)
class _Value:
    """Describe a value: its bytes, from which op to which it lives, and how often it is moved."""

    value: ir.Value
    size: int
    first: int
    last: int
    moves: int
    given: bool

    def meets(self, other: "_Value") -> bool:
        return self.first <= other.last and other.first <= self.last


def _choose(module: Module, group: tri.Group, layout: Layout, share: int) -> None:
    members = members_of(group)
    values = [value for value in _values(group, members, layout) if value.moves > 0]
    values.sort(key=lambda value: (_price(value), value.first))
    costs = StayCosts(module, group, members, layout)
    chosen = _Search(members, values, layout, share, costs).best()
    stay = {value.value for value in chosen}
    for op in members:
        if op.results[0] in stay:
            op.operation.attributes[STAYS] = ir.UnitAttr.get()
    inputs = [index for index, value in enumerate(group.block.arguments) if value in stay]
    if inputs:
        group.operation.attributes[STAYS] = ir.DenseI64ArrayAttr.get(inputs)


def _values(group: tri.Group, members: Sequence[Op], layout: Layout) -> list[_Value]:
    """List the images of a group, but for those that are constant outside."""
    outputs = outputs_of(group)
    places: dict[ir.Value, int] = {op.results[0]: n for n, op in enumerate(members)}
    found: list[_Value] = []
    inputs = [v for v in group.block.arguments if is_image(v) and not is_constant(group, v)]
    for value in [*inputs, *places]:
        uses = [n for n, op in enumerate(members) if value in list(op.operation.operands)]
        shape = layout.images(tensor_of(value.type).shape, "sram")
        made = value in places
        # Each use saves a load; what is made saves its store, unless it goes out anyway, and an
        # input has to be loaded once.
        moves = len(uses) + (made and value not in outputs) - (not made)
        first = places.get(value, uses[0] if uses else 0)
        last = max([first, *uses])
        found.append(
            _Value(value, shape.size_bytes, first, last, moves if uses else 0, given=not made)
        )
    return found


def _price(value: _Value) -> float:
    """Return the room that a value takes, over time, for each byte of traffic that it saves."""
    return (value.last - value.first + 1) / value.moves


@dataclass(frozen=True)
class _Search:
    """Look for values with whose stay ops take least.

    They are tried one after another: to let one stay, in the place of another one where there is
    no room for both, or to let it stay no longer. What helps most is done, until nothing does.
    """

    members: Sequence[Op]
    values: Sequence[_Value]
    layout: Layout
    share: int
    costs: StayCosts

    def best(self) -> list[_Value]:
        """Return the better of what is found from no values, and from all that there is room for.

        Of the latter, those are first that save most for the room that they take, and for as long.
        """
        found = [self._improved([]), self._improved(self._filled())]
        return min(found, key=lambda chosen: self._cost(chosen, 0, len(self.members) - 1))

    def _filled(self) -> list[_Value]:
        chosen: list[_Value] = []
        for value in self.values:
            if self._fits([*chosen, value], value):
                chosen.append(value)
        return chosen

    def _improved(self, chosen: list[_Value]) -> list[_Value]:
        for _ in range(ROUNDS):
            before = chosen
            for value in self.values:
                chosen = min(self._changes(chosen, value), key=partial(self._growth, chosen))
            if chosen is before:
                break
        return chosen

    def _changes(self, chosen: list[_Value], value: _Value) -> Iterator[list[_Value]]:
        """Yield what is chosen, and what would be if a value were to stay or not to."""
        yield chosen
        if value in chosen:
            yield [other for other in chosen if other != value]
        elif self._fits(more := [*chosen, value], value):
            yield more
        else:
            for gone in (other for other in chosen if other.meets(value)):
                rest = [other for other in more if other != gone]
                if self._fits(rest, value):
                    yield rest

    def _growth(self, chosen: list[_Value], other: list[_Value]) -> float:
        """Return how much more ops take with another choice."""
        changed = [v for v in (*chosen, *other) if (v in chosen) != (v in other)]
        if not changed:
            return 0
        span = min(v.first for v in changed), max(v.last for v in changed)
        return self._cost(other, *span) - self._cost(chosen, *span)

    def _cost(self, chosen: Sequence[_Value], first: int, last: int) -> float:
        """Return what ops take from one to another."""
        stay = {value.value for value in chosen}
        brought = [v.size for v in chosen if v.given and first <= v.first <= last]
        ops = (self.costs.of(n, stay, self._left(chosen, n)) for n in range(first, last + 1))
        return sum(ops) + sum(map(self.costs.bring, brought))

    def _left(self, chosen: Sequence[_Value], number: int) -> int:
        taken = sum(value.size for value in chosen if value.first <= number <= value.last)
        return self.layout.capacity("sram") - taken

    def _fits(self, chosen: Sequence[_Value], added: _Value) -> bool:
        """Say whether there is room for what is chosen, for as long as the one that was added."""
        stay = {value.value for value in chosen}
        capacity = self.layout.capacity("sram")
        for number in range(added.first, added.last + 1):
            still = _still(self.members[number], stay)
            kept = 0 if still else capacity - capacity * self.share // 100
            if self._left(chosen, number) < kept:
                return False
        return True


def _still(op: Op, stay: AbstractSet[ir.Value]) -> bool:
    """Say whether an op needs no tiles: all its images stay."""
    images = [v for v in [*op.operation.operands, *op.results] if is_image(v)]
    return all(value in stay for value in images)
