"""The passes of each phase of NVDLA."""

from collections.abc import Iterator

from ....dialects.core.module import Module
from ...choices import WINOGRAD_ERROR
from ..phase_checks import Fault, check_that
from ..phases import CODE_EMIT, IR_OPTIMIZATION, MEM_ALLOC, TENSOR_SCHED, Phases
from ..pipeline import CLEAN, selection_phases
from ..schedule.group_members import groups_of
from .choice import NAME, Choice
from .emit.emit_loadables import EmitLoadables, entry_of
from .schedule.choose_pixels import ChoosePixels
from .schedule.choose_winograd import ChooseNvdlaWinograd
from .schedule.place_values import ARENA_BYTES, PlaceValues
from .schedule.separate_places import SeparatePlaces
from .schedule.split_pools import SplitPools
from .schedule.split_rows import SplitRows
from .select.halves import HALF
from .select.select_nvdla import SegmentNvdla, SelectNvdla, accepts


def nvdla_phases(target: Choice, layer_error: float = WINOGRAD_ERROR) -> Phases:
    """Return the phases of a configuration; each checks its result.

    `layer_error` is what a layer may lose by Winograd's method, relative to its largest output.
    """
    accepted = accepts(target.configuration)
    return (
        selection_phases(target, SelectNvdla(target), SegmentNvdla(target), accepted)
        .add(IR_OPTIMIZATION, SelectNvdla(target, HALF), *CLEAN, before=SegmentNvdla.name)
        .add(TENSOR_SCHED, ChoosePixels(target), ChooseNvdlaWinograd(target, layer_error))
        .add(TENSOR_SCHED, SplitRows(target), SplitPools(target), SeparatePlaces(target))
        .add(MEM_ALLOC, PlaceValues(target))
        .add(CODE_EMIT, EmitLoadables(target))
        .check(MEM_ALLOC, check_that(_unplaced))
        .check(CODE_EMIT, check_that(_unemitted))
    )


def _unplaced(module: Module) -> Iterator[Fault]:
    """Find groups whose values have no addresses."""
    for group in groups_of(module, NAME):
        if ARENA_BYTES not in group.operation.attributes:
            yield group, f"on '{NAME}' has values without addresses (place-values)"


def _unemitted(module: Module) -> Iterator[Fault]:
    """Find groups without a loadable."""
    for number, group in enumerate(groups_of(module, NAME)):
        if entry_of(number) not in module.artifacts:
            yield group, f"on '{NAME}' has no loadable, must have one (emit-loadables)"
