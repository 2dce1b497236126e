"""Choose which values of a group are resident in SRAM over their whole live range."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.op import Op
from ....passes.core import Pass
from ..layout.memory_layout import MemoryLayout
from ..registry import VANILLA, Configuration
from .alias_analysis import COPIES, AliasAnalysis, in_place_candidates
from .group_members import groups_of, is_constant, is_image, members_of, outputs_of
from .residency_cost import Residency, ResidencyCost

RESIDENT = "dla.resident"
"""The attribute of an op whose result is resident in SRAM; on a group: the indices of inputs."""

MAX_ROUNDS = 8
"""The most rounds of local search over all candidates; few networks need more than three."""


class AssignResidency(Pass):
    """Keep values of an accelerator's groups resident in SRAM, as far as they fit.

    The choice minimizes estimated cycles and DRAM traffic: a resident value is neither loaded nor
    stored, but ops that run during its live range have less SRAM for tiles, and may load weights
    and windows more often. `share` is the percentage of SRAM that resident values may use while
    an op runs that has tiles, too.

        %a = dla.conv %x   =>   %a = dla.conv %x {dla.resident}
        %b = dla.conv %a        %b = dla.conv %a
    """

    target: Configuration = VANILLA
    share: int = 100

    def run(self, module: Module) -> None:
        layout = MemoryLayout(self.target.description)
        with module.operation.context:
            for group in groups_of(module, self.target.name):
                _assign(module, group, layout, self.share)


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A value that may be resident: its bytes, its live range in ops, and the moves that it saves.

    `family` is the value with all subviews that become resident with it; if `copies`, the value is
    a concat that copies its operands, and these are left out. `since` is the first op whose cost
    depends on the choice. `reused` are operands whose buffers the value may overwrite.
    """

    value: ir.Value
    family: frozenset[ir.Value]
    size: int
    first: int
    last: int
    moves: int
    is_input: bool
    copies: bool
    since: int
    reused: frozenset[ir.Value]

    def overlaps(self, other: "_Candidate") -> bool:
        return self.first <= other.last and other.first <= self.last

    @property
    def price(self) -> float:
        """Return the ops of live range for each byte of traffic saved, per byte of the value."""
        return (self.last - self.first + 1) / self.moves


def _assign(module: Module, group: tri.Group, layout: MemoryLayout, share: int) -> None:
    members = members_of(group)
    aliases = AliasAnalysis.of(members, outputs_of(group), layout)
    candidates = [c for c in _candidates(group, members, aliases, layout) if c.moves > 0]
    candidates.sort(key=lambda candidate: (candidate.price, candidate.first))
    costs = ResidencyCost(module, group, members, layout)
    chosen = _Search(members, candidates, aliases, layout, share, costs).best()
    resident, copies = _residents(chosen), _copies(chosen)
    for op in members:
        if op.results[0] in resident:
            op.operation.attributes[RESIDENT] = ir.UnitAttr.get()
        if op.results[0] in copies:
            op.operation.attributes[COPIES] = ir.UnitAttr.get()
    inputs = [index for index, value in enumerate(group.block.arguments) if value in resident]
    if inputs:
        group.operation.attributes[RESIDENT] = ir.DenseI64ArrayAttr.get(inputs)


def _candidates(
    group: tri.Group, members: Sequence[Op], aliases: AliasAnalysis, layout: MemoryLayout
) -> Iterator[_Candidate]:
    """Yield a candidate for each image that is used, and a second one for concats that may copy."""
    made: dict[ir.Value, int] = {op.results[0]: n for n, op in enumerate(members)}
    outputs, reusable = outputs_of(group), in_place_candidates(members, aliases)
    uses: dict[ir.Value, list[int]] = {}
    for number, op in enumerate(members):
        for value in dict.fromkeys(op.operation.operands):
            uses.setdefault(value, []).append(number)
    inputs = [v for v in group.block.arguments if is_image(v) and not is_constant(group, v)]
    for value in [*inputs, *(each for each in made if not aliases.is_window(each))]:
        whole = aliases.with_subviews(value)
        copied = aliases.without({value}).with_subviews(value)
        for family in (whole, copied) if len(whole) > len(copied) else (whole,):
            users = [(n, each) for each in family for n in uses.get(each, [])]
            if not users:
                continue
            # A use saves a load unless it is a subview of the same buffer. A result saves its
            # store unless it is an output; an input is loaded once.
            moves = sum(not aliases.shares_storage(members[n], v) for n, v in users)
            moves += value in made and value not in outputs
            moves -= value not in made
            first = min(made.get(each, users[0][0]) for each in family)
            yield _Candidate(
                value,
                frozenset(family),
                layout.images(tensor_of(value.type).shape, "sram").size_bytes,
                first,
                max(n for n, _ in users),
                moves,
                is_input=value not in made,
                copies=len(family) < len(whole),
                since=min(made.get(each, first) for each in whole),
                reused=frozenset(reusable.get(value, ())),
            )


@dataclass(frozen=True)
class _Search:
    """Local search for the residents of least cost.

    A step makes one candidate resident, in exchange for another one where both do not fit, or
    evicts it. The best step for each candidate is taken until no step lowers the cost.
    """

    members: Sequence[Op]
    candidates: Sequence[_Candidate]
    aliases: AliasAnalysis
    layout: MemoryLayout
    share: int
    costs: ResidencyCost

    def best(self) -> list[_Candidate]:
        """Return the better of two local optima: from no residents, and from a greedy filling."""
        found = [self._improved([]), self._improved(self._filled())]
        return min(found, key=lambda chosen: self._cost(chosen, 0, len(self.members) - 1))

    def _filled(self) -> list[_Candidate]:
        chosen: list[_Candidate] = []
        for candidate in self.candidates:
            more = _with(chosen, candidate)
            if len(more) > len(chosen) and self._fits(more, candidate):
                chosen = more
        return chosen

    def _improved(self, chosen: list[_Candidate]) -> list[_Candidate]:
        for _ in range(MAX_ROUNDS):
            before = chosen
            for candidate in self.candidates:
                chosen = min(self._steps(chosen, candidate), key=partial(self._growth, chosen))
            if chosen is before:
                break
        return chosen

    def _steps(self, chosen: list[_Candidate], candidate: _Candidate) -> Iterator[list[_Candidate]]:
        """Yield the current choice, and those that differ in a candidate."""
        yield chosen
        if candidate in chosen:
            yield [other for other in chosen if other != candidate]
            return
        if candidate.copies:
            yield from self._with_operands(chosen, candidate)
        if self._fits(more := _with(chosen, candidate), candidate):
            yield more
        else:
            for evicted in (o for o in more if o != candidate and o.overlaps(candidate)):
                rest = [other for other in more if other != evicted]
                if self._fits(rest, candidate):
                    yield rest

    def _with_operands(
        self, chosen: list[_Candidate], candidate: _Candidate
    ) -> Iterator[list[_Candidate]]:
        """Yield a choice with a concat that copies, and all operands that it copies."""
        direct = [
            value
            for value, subview in self.aliases.subviews.items()
            if subview.parent == candidate.value and not subview.window
        ]
        added = [other for other in self.candidates if other.value in direct and not other.copies]
        more = reduce(_with, added, _with(chosen, candidate))
        if all(self._fits(more, each) for each in (candidate, *added)):
            yield more

    def _growth(self, chosen: list[_Candidate], other: list[_Candidate]) -> float:
        """Return the difference in cost between two choices."""
        changed = set(chosen) ^ set(other)
        if not changed:
            return 0
        ops = min(c.since for c in changed), max(c.last for c in changed)
        return self._cost(other, *ops) - self._cost(chosen, *ops)

    def _cost(self, chosen: Sequence[_Candidate], first: int, last: int) -> float:
        """Return the cost of a range of ops, and of loading the resident inputs."""
        residency = Residency(_residents(chosen), self.aliases.without(_copies(chosen)))
        loaded = [c.size for c in chosen if c.is_input and first <= c.first <= last]
        ops = (self.costs.of(n, residency, self._free(chosen, n)) for n in range(first, last + 1))
        return sum(ops) + sum(map(self.costs.load, loaded))

    def _free(self, chosen: Sequence[_Candidate], number: int) -> int:
        """Return the bytes of SRAM that are free while an op runs; a reused buffer counts once."""
        live = [each for each in chosen if each.first <= number <= each.last]
        values = {each.value for each in live}
        used = sum(c.size for c in live if c.first < number or c.reused.isdisjoint(values))
        return self.layout.capacity("sram") - used

    def _fits(self, chosen: Sequence[_Candidate], added: _Candidate) -> bool:
        """Report whether a choice fits into SRAM over the live range of a candidate."""
        resident = _residents(chosen)
        capacity = self.layout.capacity("sram")
        reserved = capacity - capacity * self.share // 100
        for number in range(added.first, added.last + 1):
            free = self._free(chosen, number)
            # An op whose images are all resident needs no tiles.
            if free < 0 or (free < reserved and not self.costs.images[number] <= resident):
                return False
        return True


def _residents(chosen: Sequence[_Candidate]) -> set[ir.Value]:
    return {each for candidate in chosen for each in candidate.family}


def _copies(chosen: Sequence[_Candidate]) -> set[ir.Value]:
    return {candidate.value for candidate in chosen if candidate.copies}


def _with(chosen: Sequence[_Candidate], candidate: _Candidate) -> list[_Candidate]:
    """Return a choice with one more candidate, and without its subviews and parents."""
    return [*(c for c in chosen if c.family.isdisjoint(candidate.family)), candidate]
