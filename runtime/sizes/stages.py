"""Divide what a manifest says by when its sizes are known: before a run, or in the middle.

Stage 0 is known from the inputs. Each step that finds sizes begins another stage. What is known in
a stage is a manifest of its own, in which sizes of later stages count as 0.
"""

import re
from dataclasses import replace
from typing import Any

from ..contents import Buffer
from ..manifest import Manifest
from .fields import with_sizes

_NAME = r"[A-Za-z_][A-Za-z_0-9]*"
_PLACE = r"at_([0-9]{1,9})"


class Stages:
    """Know the stage in which each size of a manifest becomes known."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._names = {symbol.name: symbol.stage for symbol in manifest.symbols}
        self._names |= {symbol.unit: symbol.stage for symbol in manifest.symbols}
        self._known: dict[int, Manifest] = {}
        self._staged = manifest.stages > 0

    def at(self, stage: int) -> Manifest:
        """Return what is known in a stage."""
        if not self._manifest.stages:
            return self._manifest
        if stage not in self._known:
            self._known[stage] = self._cut(stage)
        return self._known[stage]

    def prepare(self) -> None:
        """Make what computes the sizes of each stage; raise PackageError as `Evaluation` does."""
        for stage in range(self._manifest.stages + 1):
            self.at(stage).evaluation  # noqa: B018

    def of(self, *sizes: int | str) -> int:
        """Return the stage in which all of some sizes are known."""
        if not self._staged:
            return 0
        texts = [size for size in sizes if isinstance(size, str)]
        return max((self._of_name(name) for t in texts for name in re.findall(_NAME, t)), default=0)

    def _of_name(self, name: str) -> int:
        place = re.fullmatch(_PLACE, name)
        regions = self._manifest.regions
        if place and int(place[1]) < len(regions):
            return self._manifest.stage_of(regions[int(place[1])].base)
        return self._names.get(name, 0)

    def _cut(self, stage: int) -> Manifest:
        manifest = self._manifest
        known = replace(
            manifest,
            buffers=tuple(self._buffer_at(stage, each) for each in manifest.buffers),
            symbols=tuple(each for each in manifest.symbols if each.stage <= stage),
            checks=tuple(each for each in manifest.checks if self.of(each.expression) <= stage),
        )

        def kept(text: str) -> Any:  # what the text is, is computed from the manifest made here
            return text if self.of(text) <= stage else 0

        return with_sizes(known, kept)

    def _buffer_at(self, stage: int, buffer: Buffer) -> Buffer:
        """Return what is known of a buffer: one in the arena of a later stage is nowhere yet."""
        if self._manifest.stage_of(buffer.base) <= stage:
            return buffer
        return replace(buffer, shape=(0,) * len(buffer.shape), offset=0)
