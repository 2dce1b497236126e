"""The default passes of each phase of an accelerator."""

from ...passes.core import Pass
from ...passes.cse import Cse
from ...passes.decompose import Decompose
from ...passes.default import QUANTISED, widen
from ...passes.eliminate import Eliminate
from ...passes.fold.fold_shapes import FoldShapes
from ...passes.quantize.convert_uint8_to_int8 import ConvertUint8ToInt8
from ...passes.quantize.expose_storage import ExposeStorage
from ...passes.quantize.lower_quantized import LowerQuantized
from .allocate.allocate_buffers import AllocateBuffers
from .allocate.insert_tokens import InsertTokens
from .emit.emit_containers import EmitContainers
from .phase_checks import check_that, unemitted, ungrouped, unlowered, unscheduled
from .phases import CODE_EMIT, IR_OPTIMIZATION, MEM_ALLOC, TENSOR_SCHED, TENSOR_SEL, Phases
from .registry import Configuration
from .schedule.assign_residency import AssignResidency
from .schedule.lower_to_buffers import LowerToBuffers
from .schedule.prefetch import Prefetch
from .select.segment_dla import Accepts, SegmentDla, accepts
from .select.select_dla import SelectDla
from .select.selection import Arithmetic

CLEAN = (widen(), FoldShapes(), widen(), Cse(), Eliminate())


def selection_phases(target: Arithmetic, select: Pass, grouping: Pass, accepted: Accepts) -> Phases:
    """Return phases whose first two select ops and group them by two passes."""
    return (
        Phases()
        .add(
            TENSOR_SEL,
            Eliminate(),
            ConvertUint8ToInt8(),
            LowerQuantized(target.rounding, target.multiplier_bits),
            ExposeStorage(),
            Eliminate(),  # and no folding: constants would be wider than bytes
            select,
            Eliminate(),
        )
        .add(
            IR_OPTIMIZATION,
            # Refused ops become arithmetic, for other targets.
            Decompose(QUANTISED),
            ExposeStorage(),
            *CLEAN,
            grouping,
        )
        .check(IR_OPTIMIZATION, check_that(ungrouped, accepted, type(grouping)))
    )


def default_phases(target: Configuration) -> Phases:
    """Return the default phases of an accelerator; each checks its result."""
    description = target.description
    grouped = SegmentDla(target)
    return (
        selection_phases(description, SelectDla(target), grouped, accepts(description))
        .add(
            TENSOR_SCHED,
            lambda attempt: AssignResidency(target, attempt.share),
            lambda attempt: LowerToBuffers(target, attempt.tile_share),
            lambda attempt: Prefetch(target, attempt.prefetch),
        )
        .add(MEM_ALLOC, AllocateBuffers(target), InsertTokens(target))
        .add(CODE_EMIT, EmitContainers(target))
        .check(TENSOR_SCHED, check_that(unlowered, target.name))
        .check(MEM_ALLOC, check_that(unscheduled, target.name))
        .check(CODE_EMIT, check_that(unemitted, target.name))
    )
