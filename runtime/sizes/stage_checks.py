"""Check that what a manifest needs in a stage is known then."""

from collections.abc import Sequence

from ..contents import FIRST_PORT, Port
from ..errors import PackageError
from ..frozen import Frozen
from ..manifest import Manifest
from ..step import AFTER, BEFORE, ELEMENTS, END, SHAPE, START, FoundSize, Step
from .fields import texts_in
from .size_expressions import Size
from .stages import Stages, stage_tree


def check_stages(manifest: Manifest) -> None:
    """Raise PackageError unless each stage begins with what finds the symbols of it.

    No step may need sizes before they are known, and no arena.
    """
    checks = _Checks(manifest, Stages(manifest))
    checks.check_symbols()
    checks.check_arenas()
    for i, port in enumerate(manifest.inputs):
        checks.check_known(port.shape, 0, f"inputs[{i}].shape")
    for i, step in enumerate(manifest.load_steps):
        if step.finds:
            raise PackageError(f"'load_steps[{i}].finds' must be left out at load")
    checks.check_steps(manifest.steps, 0, "steps")


class _Checks(Frozen):
    """Check the fields of a manifest, each in its stage."""

    manifest: Manifest
    stages: Stages

    def check_symbols(self) -> None:
        tree = list(stage_tree(self.manifest.steps))
        found = {each.symbol: number for number, _, finds in tree for each in finds}
        wanted = {symbol.name: symbol.stage for symbol in self.manifest.symbols if symbol.stage}
        for name in sorted({*found, *wanted}):
            if found.get(name) != wanted.get(name):
                at = f"in stage {found[name]}" if name in found else "by no step"
                must = f"be in stage {wanted[name]}" if name in wanted else "be in no other stage"
                raise PackageError(f"'symbols' has '{name}' that is found {at}, must {must}")
        if sum(len(finds) for _, _, finds in tree) != len(found):
            raise PackageError("'steps' find a symbol twice")

    def check_arenas(self) -> None:
        manifest = self.manifest
        for i, stage in enumerate(manifest.carried_arenas):
            if not 1 <= stage <= manifest.stages:
                raise PackageError(
                    f"'carried_arenas[{i}]' is {stage}, must be a stage from 1 to {manifest.stages}"
                )
        for i, region in enumerate(manifest.regions):
            self.check_known([region.size], manifest.stage_of(region.base), f"regions[{i}].size")
        with_regions = {region.base for region in manifest.regions}
        for i, buffer in enumerate(manifest.buffers):
            if manifest.stage_of(buffer.base) and buffer.base not in with_regions:
                raise PackageError(f"'buffers[{i}].base' is {buffer.base}, an arena of no regions")

    def check_steps(self, steps: Sequence[Step], stage: int, where: str) -> int:
        """Check steps that follow one another, the first in a stage; return that of the last."""
        for i, step in enumerate(steps):
            stage = self.check_step(step, stage, f"{where}[{i}]")
        return stage

    def check_step(self, step: Step, stage: int, where: str) -> int:
        """Check a step that runs in a stage; return the one that follows."""
        inside = tuple(f"{where}.{name}[" for name in step.inner())
        for text, place in texts_in(step, where):
            if not place.startswith(inside):
                self.check_known([text], stage, place)
        if step.finds and not step.finds_sizes:
            raise PackageError(f"'{where}.kind' is '{step.kind}', which finds no sizes")
        begin, after = self._stage_of(step.finds_inside, stage), self._stage_of(step.finds, stage)
        when = {(BEFORE, ""): stage, (AFTER, ""): after}
        for name, inner in step.inner().items():
            when[START, name] = begin
            when[END, name] = self.check_steps(inner, begin, f"{where}.{name}")
        self._check_buffers(step.operands, stage, f"{where}.operands")
        self._check_buffers(step.results, after, f"{where}.results")
        for use in step.uses():
            self._check_buffers((use.buffer,), when[use.when, use.body], where)
        self._check_places(step.finds, step.results, f"{where}.finds")
        self._check_places(step.finds_inside, step.taken, f"{where} (in its body)")
        self._check_taken(step, begin, where)
        return after

    def _check_taken(self, step: Step, begin: int, where: str) -> None:
        """Check that what a body takes with sizes that change has arenas, which begin with it."""
        taken: set[int] = set()
        for index in step.taken:
            if not 0 <= index < len(self.manifest.buffers):
                continue  # refused by another check
            buffer = self.manifest.buffers[index]
            base = buffer.base
            is_own = self.manifest.is_carried(base) and base not in taken
            if not is_own or buffer.offset != 0 or self.manifest.stage_of(base) != begin:
                raise PackageError(
                    f"'{where}' carries buffer {index}, which is at base {base} offset "
                    f"{buffer.offset}, must begin a carried arena of stage {begin} of its own"
                )
            taken.add(base)

    def _check_places(self, finds: Sequence[FoundSize], buffers: Sequence[int], where: str) -> None:
        for i, found in enumerate(finds):
            if not self._is_there(buffers, found):
                raise PackageError(
                    f"'{where}[{i}]' is {found.of} {found.index} of result {found.result}, "
                    f"which is not '{found.symbol}'"
                )

    def _stage_of(self, finds: Sequence[FoundSize], stage: int) -> int:
        """Return the stage that begins where some sizes are found in another one."""
        return self.stages.of(finds[0].symbol) if finds else stage

    def check_known(self, sizes: Sequence[Size | str], stage: int, where: str) -> None:
        """Raise PackageError unless sizes are known in a stage."""
        if not self.stages.are_known(stage, *sizes):
            raise PackageError(f"'{where}' is {list(sizes)}, which is not known yet")

    def _check_buffers(self, indices: tuple[int, ...], stage: int, where: str) -> None:
        for i, index in enumerate(indices):
            if not 0 <= index < len(self.manifest.buffers):
                continue  # left out, or refused by another check
            buffer = self.manifest.buffers[index]
            self.check_known([*buffer.shape, buffer.offset], stage, f"{where}[{i}]")
            port = self._port(buffer.base)
            if port is not None:
                self.check_known(port.shape, stage, f"{where}[{i}]")
            if not self.stages.follows(stage, self.manifest.stage_of(buffer.base)):
                raise PackageError(f"'{where}[{i}]' is {index}, whose arena is not made yet")

    def _port(self, base: int) -> Port | None:
        """Return the input or output that a base is."""
        ports = (*self.manifest.inputs, *self.manifest.outputs)
        return ports[base - FIRST_PORT] if 0 <= base - FIRST_PORT < len(ports) else None

    def _is_there(self, buffers: Sequence[int], found: FoundSize) -> bool:
        """Return whether a step can find a size where it says, in one of some buffers."""
        if not 0 <= found.result < len(buffers) or found.index < 0:
            return False
        index = buffers[found.result]
        if not 0 <= index < len(self.manifest.buffers):
            return False
        buffer = self.manifest.buffers[index]
        if found.of == SHAPE:
            return buffer.shape[found.index : found.index + 1] == (found.symbol,)
        if found.of != ELEMENTS or any(isinstance(size, str) for size in buffer.shape):
            return False
        return buffer.dtype == "int64" and found.index < buffer.size_bytes // 8
