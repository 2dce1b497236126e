"""The passes that accelerators have in each phase, unless they say otherwise."""

from ...passes.cse import Cse
from ...passes.decompose import Decompose
from ...passes.default import QUANTISED, WIDEN
from ...passes.eliminate import Eliminate
from ...passes.fold.fold_shapes import FoldShapes
from ...passes.quantize.convert_uint8_to_int8 import ConvertUint8ToInt8
from ...passes.quantize.expose_storage import ExposeStorage
from ...passes.quantize.lower_quantized import LowerQuantized
from .allocate.allocate_buffers import AllocateBuffers
from .allocate.insert_tokens import InsertTokens
from .core.description import Description
from .phase_checks import promise, ungrouped, unlowered, unscheduled
from .phases import CODE_EMIT, IR_OPTIMIZATION, MEM_ALLOC, TENSOR_SCHED, TENSOR_SEL, Phases
from .schedule.assign_residency import AssignResidency
from .schedule.lower_to_buffers import LowerToBuffers
from .schedule.prefetch import Prefetch
from .select.record_refusals import RecordRefusals
from .select.segment_dla import SegmentDla
from .select.select_dla import SelectDla

CLEAN = (WIDEN, FoldShapes(), WIDEN, Cse(), Eliminate())


def default_phases(description: Description, target: str, file: str = "") -> Phases:
    """Return the phases of an accelerator that a description says all about.

    Whichever passes are put in place of others, each phase checks that it gave what it promises.
    """
    return (
        Phases()
        .add(
            TENSOR_SEL,
            ConvertUint8ToInt8(),
            LowerQuantized(description.rounding, description.multiplier_bits),
            ExposeStorage(),
            Eliminate(),  # and no more: folded constants would be wider than bytes
            SelectDla(target, file),
            Eliminate(),
        )
        .add(
            IR_OPTIMIZATION,
            RecordRefusals(),
            # What no op of the accelerator stands for becomes arithmetic, for other targets.
            Decompose(QUANTISED),
            ExposeStorage(),
            *CLEAN,
            SegmentDla(target, file),
        )
        .add(
            TENSOR_SCHED,
            lambda parameters: AssignResidency(target, file, parameters.share),
            lambda parameters: LowerToBuffers(target, file, parameters.tile_share),
            lambda parameters: Prefetch(target, file, parameters.prefetch),
        )
        .add(MEM_ALLOC, AllocateBuffers(target, file), InsertTokens(target, file))
        .check(IR_OPTIMIZATION, promise(ungrouped, target, file))
        .check(TENSOR_SCHED, promise(unlowered, target))
        .check(MEM_ALLOC, promise(unscheduled, target))
        .check(CODE_EMIT, promise(unlowered, target), promise(unscheduled, target))
    )
