"""The passes that accelerators have in each phase, unless they say otherwise."""

from ...passes.cse import Cse
from ...passes.decompose import Decompose
from ...passes.default import QUANTISED
from ...passes.eliminate import Eliminate
from ...passes.expose_storage import ExposeStorage
from ...passes.fold_constants import FoldConstants
from ...passes.fold_shapes import FoldShapes
from ...passes.lower_quantized import LowerQuantized
from .core.description import Description
from .phases import IR_OPTIMIZATION, TENSOR_SEL, Phases
from .segment_dla import SegmentDla

CLEAN = (FoldConstants(), FoldShapes(), FoldConstants(), Cse(), Eliminate())


def default_phases(description: Description, target: str, file: str = "") -> Phases:
    """Return the phases of an accelerator that a description says all about."""
    return (
        Phases()
        .add(
            TENSOR_SEL,
            LowerQuantized(description.rounding, description.multiplier_bits),
            ExposeStorage(),
            *CLEAN,
            # What no op of the accelerator stands for becomes arithmetic, for other targets.
            Decompose(QUANTISED),
            ExposeStorage(),
            *CLEAN,
        )
        .add(IR_OPTIMIZATION, SegmentDla(target, file))
    )
