"""Choose the setting of each kernel: its block sizes, warps and stages."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from ....dialects import tile
from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.location import describe
from ....dialects.core.module import Module
from ....dialects.tile.setting import Setting
from ....passes.core import Pass
from ...tuning_file import Entry
from .architecture import Architecture, find_architecture
from .estimate import estimate_us, rejection
from .tuning_file import read_entries
from .work import work_of

MARGIN = 0.8
"""A candidate must be expected to take less than this part of the time to be preferred."""


class ChooseBlocks(Pass):
    """Give each kernel the setting that it will have on an architecture.

    That is the one that a tuning file found the fastest; without one, the one it has, unless it
    does not fit the architecture or a candidate is expected to be much faster. It is an error when
    nothing fits.

        tile.kernel @k {blocks = ["BM=64"], candidates = ["BM=32 warps=4 stages=2"]}
            =>   tile.kernel @k {blocks = ["BM=32"], warps = 4, stages = 2, …}
    """

    architecture: str = "sm_90"
    tuning: str = ""

    def run(self, module: Module) -> None:
        architecture = find_architecture(self.architecture)
        entries = read_entries(self.tuning, self.architecture)
        with module.operation.context:
            for kernel in tile.kernels_of(module.operation):
                entry = entries.get(kernel.sym_name)
                kernel.use(choose_setting(kernel, architecture, entry))


def choose_setting(
    kernel: tile.Kernel, architecture: Architecture, entry: Entry[Setting] | None = None
) -> Setting:
    """Return the setting for a kernel: tuned, or expected to be the best that fits.

    Raises CompileError, with the reason, when none of its settings fits.
    """
    if entry is not None:
        for setting in _ranked(entry):
            if (legal := _legal(setting, kernel)) and not rejection(kernel, legal, architecture):
                return legal
    chosen = next_setting(kernel, (), architecture)
    if chosen is None:
        reason = rejection(kernel, kernel.setting, architecture)
        message = f"'{kernel.op_name}' op has no setting that fits {architecture.name}: {reason}"
        raise CompileError([Diagnostic(describe(kernel.location), message)])
    return chosen


def next_setting(
    kernel: tile.Kernel, tried: Collection[Setting], architecture: Architecture
) -> Setting | None:
    """Return the best setting for a kernel that was not tried yet; None when all were.

    What does not fit by its estimate is not tried. A kernel whose code turns out not to fit gets
    another setting by this.
    """
    return next((s for s in _preferred(kernel, architecture) if s not in tried), None)


def settings_of(kernel: tile.Kernel, architecture: Architecture) -> list[Setting]:
    """List the setting of a kernel and its candidates that fit, the expected fastest first."""
    listed = [kernel.setting, *map(Setting.parse, kernel.candidates)]
    legal = [found for setting in listed if (found := _legal(setting, kernel))]
    fitting = [s for s in dict.fromkeys(legal) if rejection(kernel, s, architecture) is None]
    return sorted(fitting, key=lambda setting: estimate_us(kernel, setting, architecture))


def _preferred(kernel: tile.Kernel, architecture: Architecture) -> Iterator[Setting]:
    """Yield the settings of a kernel that fit: its own, the candidates, then fewer stages."""
    own, ranked = kernel.setting, settings_of(kernel, architecture)
    if own in ranked:
        if ranked[0] != own and _much_faster(kernel, ranked[0], architecture):
            yield ranked[0]
        yield own
    yield from ranked
    for setting in (own, *ranked):
        for stages in range(setting.stages - 1, 0, -1):
            fewer = replace(setting, stages=stages)
            if rejection(kernel, fewer, architecture) is None:
                yield fewer


def _much_faster(kernel: tile.Kernel, setting: Setting, architecture: Architecture) -> bool:
    """Return whether a setting is expected to be faster than a kernel's own by a margin.

    Only of products: what else kernels do takes as long as its memory with any sensible setting.
    """
    if not work_of(kernel, setting).products:
        return False
    own = estimate_us(kernel, kernel.setting, architecture)
    return estimate_us(kernel, setting, architecture) < MARGIN * own


def _ranked(entry: Entry[Setting]) -> list[Setting]:
    """List the settings of an entry: the chosen one, then the others by time."""
    return [entry.schedule, *sorted(entry.candidates, key=lambda s: entry.candidates[s])]


def _legal(setting: Setting, kernel: tile.Kernel) -> Setting | None:
    """Return a setting with block sizes in the order of a kernel's; None when it has others."""
    sizes = dict(setting.blocks)
    if sizes.keys() != kernel.block_sizes.keys():
        return None
    return replace(setting, blocks=tuple((name, sizes[name]) for name in kernel.block_sizes))
