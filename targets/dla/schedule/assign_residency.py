"""Choose which values stay in sram from where they are made to where they are last used."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, ops
from ....dialects.core.op import Op
from ....passes.core import Pass
from ..layout.memory_layout import Layout, layout_of
from .alias_analysis import COPIES, Joins
from .group_members import is_constant, is_image, members_of, outputs_of
from .in_place import replaced
from .residency_cost import Choice, StayCosts

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


@dataclass(frozen=True, eq=False)
class _Value:
    """Describe a value: its bytes, from which op to which it lives, and how often it is moved.

    `family` has all that stays with it: itself and its parts, unless it `copies` these. Which ops
    run from `since` on depends on it. Where it `replaces` what stays, it takes no more room.
    """

    value: ir.Value
    family: frozenset[ir.Value]
    size: int
    first: int
    last: int
    moves: int
    given: bool
    copies: bool
    since: int
    replaces: frozenset[ir.Value]

    def meets(self, other: "_Value") -> bool:
        return self.first <= other.last and other.first <= self.last


def _choose(module: Module, group: tri.Group, layout: Layout, share: int) -> None:
    members = members_of(group)
    joins = Joins.of(members, outputs_of(group), layout)
    values = [value for value in _values(group, members, joins, layout) if value.moves > 0]
    values.sort(key=lambda value: (_price(value), value.first))
    costs = StayCosts(module, group, members, layout)
    chosen = _Search(members, values, joins, layout, share, costs).best()
    stay, copies = _staying(chosen), _copies(chosen)
    for op in members:
        if op.results[0] in stay:
            op.operation.attributes[STAYS] = ir.UnitAttr.get()
        if op.results[0] in copies:
            op.operation.attributes[COPIES] = ir.UnitAttr.get()
    inputs = [index for index, value in enumerate(group.block.arguments) if value in stay]
    if inputs:
        group.operation.attributes[STAYS] = ir.DenseI64ArrayAttr.get(inputs)


def _values(
    group: tri.Group, members: Sequence[Op], joins: Joins, layout: Layout
) -> Iterator[_Value]:
    """Yield the images of a group, but for those that are constant outside."""
    made: dict[ir.Value, int] = {op.results[0]: n for n, op in enumerate(members)}
    outputs, operands = outputs_of(group), replaced(members, joins)
    uses: dict[ir.Value, list[int]] = {}
    for number, op in enumerate(members):
        for value in dict.fromkeys(op.operation.operands):
            uses.setdefault(value, []).append(number)
    inputs = [v for v in group.block.arguments if is_image(v) and not is_constant(group, v)]
    for value in [*inputs, *(each for each in made if not joins.is_taken(each))]:
        whole = joins.family(value)
        apart = joins.without({value}).family(value)
        for family in (whole, apart) if len(whole) > len(apart) else (whole,):
            used = [n for each in family for n in uses.get(each, [])]
            if not used:
                continue
            # Each use saves a load, but for those that join a part which is there already. What
            # is made saves its store, unless it goes out anyway; an input has to be loaded once.
            moves = sum(not joins.in_place(members[n], v) for v in family for n in uses.get(v, []))
            moves += value in made and value not in outputs
            moves -= value not in made
            first, last = min(made.get(each, used[0]) for each in family), max(used)
            since = min(made.get(each, first) for each in whole)
            copies = len(family) < len(whole)
            size = layout.images(tensor_of(value.type).shape, "sram").size_bytes
            given = value not in made
            stays, over = frozenset(family), frozenset(operands.get(value, ()))
            yield _Value(value, stays, size, first, last, moves, given, copies, since, over)


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
    joins: Joins
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
            more = _with(chosen, value)
            if len(more) > len(chosen) and self._fits(more, value):
                chosen = more
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
            return
        if value.copies:
            yield from self._with_parts(chosen, value)
        if self._fits(more := _with(chosen, value), value):
            yield more
        else:
            for gone in (other for other in more if other != value and other.meets(value)):
                rest = [other for other in more if other != gone]
                if self._fits(rest, value):
                    yield rest

    def _with_parts(self, chosen: list[_Value], value: _Value) -> Iterator[list[_Value]]:
        """Yield what is chosen with a value and all that it copies."""
        parts = self.joins.parts.items()
        direct = [part for part, place in parts if place.whole == value.value and not place.taken]
        added = [other for other in self.values if other.value in direct and not other.copies]
        more = reduce(_with, added, _with(chosen, value))
        if all(self._fits(more, each) for each in (value, *added)):
            yield more

    def _growth(self, chosen: list[_Value], other: list[_Value]) -> float:
        """Return how much more ops take with another choice."""
        changed = set(chosen) ^ set(other)
        if not changed:
            return 0
        span = min(v.since for v in changed), max(v.last for v in changed)
        return self._cost(other, *span) - self._cost(chosen, *span)

    def _cost(self, chosen: Sequence[_Value], first: int, last: int) -> float:
        """Return what ops take from one to another."""
        choice = Choice(_staying(chosen), self.joins.without(_copies(chosen)))
        brought = [v.size for v in chosen if v.given and first <= v.first <= last]
        ops = (self.costs.of(n, choice, self._left(chosen, n)) for n in range(first, last + 1))
        return sum(ops) + sum(map(self.costs.bring, brought))

    def _left(self, chosen: Sequence[_Value], number: int) -> int:
        """Return how many bytes are left while an op runs; what is replaced counts once."""
        alive = [value for value in chosen if value.first <= number <= value.last]
        there = {value.value for value in alive}
        taken = sum(v.size for v in alive if v.first < number or v.replaces.isdisjoint(there))
        return self.layout.capacity("sram") - taken

    def _fits(self, chosen: Sequence[_Value], added: _Value) -> bool:
        """Say whether there is room for what is chosen, for as long as the one that was added."""
        stay = _staying(chosen)
        capacity = self.layout.capacity("sram")
        kept = capacity - capacity * self.share // 100
        for number in range(added.first, added.last + 1):
            left = self._left(chosen, number)
            # An op needs no tiles where all its images stay.
            if left < 0 or (left < kept and not self.costs.images[number] <= stay):
                return False
        return True


def _staying(chosen: Sequence[_Value]) -> set[ir.Value]:
    return {each for value in chosen for each in value.family}


def _copies(chosen: Sequence[_Value]) -> set[ir.Value]:
    return {value.value for value in chosen if value.copies}


def _with(chosen: Sequence[_Value], value: _Value) -> list[_Value]:
    """Return a choice with one more value, and without what is a part of it or has it as one."""
    apart = (other for other in chosen if other.family.isdisjoint(value.family))
    return [*apart, value]
