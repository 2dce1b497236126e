"""Divide what a manifest says by when its sizes are known: before a run, or in the middle.

Stage 0 is known from the inputs. Each step that finds sizes begins another stage, and so does a
body that runs on sizes of its own. What is found in a body is known in that body alone, so each
stage follows one of those before it. What is known in a stage is a manifest of its own, in which
sizes of other stages count as 0.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ..contents import Buffer, Symbol
from ..manifest import Manifest
from ..step import FoundSize, Step
from .fields import with_sizes

if TYPE_CHECKING:
    from .evaluation import Evaluation

_NAME = r"[A-Za-z_][A-Za-z_0-9]*"
_PLACE = r"at_([0-9]{1,9})"


class StageStart(NamedTuple):
    """Hold the symbols of a stage, what computes its sizes, and the arenas that it begins with.

    `arenas` are new, each in a memory space; those that are `carried` keep their content.
    """

    symbols: tuple[Symbol, ...]
    evaluation: "Evaluation"
    arenas: tuple[tuple[int, str], ...]
    carried: tuple[int, ...]


class Stages:
    """Know the stage in which each size of a manifest becomes known."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self._names = {symbol.name: {symbol.stage} for symbol in manifest.symbols}
        self._names |= {symbol.unit: {symbol.stage} for symbol in manifest.symbols}
        self._known: dict[int, Manifest] = {}
        self._begun: dict[tuple[str, ...], StageStart] = {}
        self._read: dict[str, frozenset[int]] = {}
        self._staged = manifest.stages > 0
        for each in manifest.named_sizes:
            self._names[each.name] = self._stages_of([each.expression])

    @cached_property
    def _known_in(self) -> dict[int, frozenset[int]]:
        """Map each stage to those that are known in it: itself, and what it follows."""
        known = {0: frozenset({0})}
        for stage, before, _ in stage_tree(self.manifest.steps):
            known[stage] = known[before] | {stage}
        return known

    def at(self, stage: int) -> Manifest:
        """Return what is known in a stage."""
        if not self.manifest.stages:
            return self.manifest
        if stage not in self._known:
            self._known[stage] = self._cut(stage)
        return self._known[stage]

    def prepare(self) -> None:
        """Make what computes the sizes of each stage; raise PackageError as `Evaluation` does."""
        for stage in range(self.manifest.stages + 1):
            self.at(stage).evaluation  # noqa: B018

    def begun(self, *symbols: str) -> StageStart:
        """Return what begins with the stage in which some symbols are found."""
        if symbols not in self._begun:
            manifest, number = self.manifest, self.of(*symbols)
            first = manifest.first_carried
            self._begun[symbols] = StageStart(
                tuple(each for each in manifest.symbols if each.stage == number),
                self.at(number).evaluation,
                tuple((base, manifest.space_of(base)) for base in manifest.arenas_in(number)),
                tuple(first + i for i, n in enumerate(manifest.carried_arenas) if n == number),
            )
        return self._begun[symbols]

    def of(self, *sizes: int | str) -> int:
        """Return the stage in which all of some sizes are known, if any is."""
        return max(self._stages_of(sizes), default=0)

    def are_known(self, stage: int, *sizes: int | str) -> bool:
        """Return whether some sizes are known in a stage."""
        return self._known_in[stage].issuperset(self._stages_of(sizes))

    def follows(self, stage: int, other: int) -> bool:
        """Return whether what is known in another stage is known in a stage."""
        return other in self._known_in[stage]

    def _stages_of(self, sizes: Sequence[int | str]) -> set[int]:
        if not self._staged:
            return set()
        found: set[int] = set()
        for size in sizes:
            if isinstance(size, str):
                found |= self._stages_in(size)
        return found

    def _stages_in(self, text: str) -> frozenset[int]:
        stages = self._read.get(text)
        if stages is None:
            names = re.findall(_NAME, text)
            stages = frozenset(stage for name in names for stage in self._of_name(name))
            self._read[text] = stages
        return stages

    def _of_name(self, name: str) -> set[int]:
        place = re.fullmatch(_PLACE, name)
        regions = self.manifest.regions
        if place and int(place[1]) < len(regions):
            return {self.manifest.stage_of(regions[int(place[1])].base)}
        return self._names.get(name, {0})

    def _cut(self, stage: int) -> Manifest:
        manifest, stages = self.manifest, self._known_in[stage]
        checks = (each for each in manifest.checks if self.are_known(stage, each.expression))
        known = replace(
            manifest,
            buffers=tuple(self._buffer_at(stage, each) for each in manifest.buffers),
            symbols=tuple(each for each in manifest.symbols if each.stage in stages),
            checks=tuple(checks),
        )

        def kept(text: str) -> Any:  # what the text is, is computed from the manifest made here
            return text if self.are_known(stage, text) else 0

        return with_sizes(known, kept)

    def _buffer_at(self, stage: int, buffer: Buffer) -> Buffer:
        """Return what is known of a buffer: one in an arena that is not made yet is nowhere."""
        if self.follows(stage, self.manifest.stage_of(buffer.base)):
            return buffer
        axes = max(len(buffer.shape), 1)  # a scalar would take bytes
        return replace(buffer, shape=(0,) * axes, offset=0)


def stage_tree(
    steps: Sequence[Step], before: int = 0, number: int = 0
) -> Iterator[tuple[int, int, tuple[FoundSize, ...]]]:
    """Yield the stages that steps begin, and those in them: each with the stage that it follows.

    The last item has what begins the stage. Stages are numbered in this order, from the one after
    `number` on.
    """
    for step in steps:
        for inner in step.inner().values():
            start = before
            if inside := step.finds_inside:
                number += 1
                yield number, before, inside
                start = number
            for each in stage_tree(inner, start, number):
                number = each[0]
                yield each
        if step.finds:
            number += 1
            yield number, before, step.finds
            before = number
