"""The passes from placed groups to kernels that are printed, in order."""

from ...passes.core import Pass
from .choose_blocks import ChooseBlocks
from .drop_bounds import DropBounds
from .fuse_prologues import FusePrologues
from .lower_to_tile import LowerToTile
from .simplify_indices import SimplifyIndices


def lowering_passes() -> tuple[Pass, ...]:
    """Return the passes that make kernels of placed groups, for any architecture."""
    return (FusePrologues(), LowerToTile())


def kernel_passes(architecture: str = "sm_90", tuning: str = "") -> tuple[Pass, ...]:
    """Return the passes that make kernels fit for an architecture, with what a file knows of it."""
    return (ChooseBlocks(architecture, tuning), SimplifyIndices(), DropBounds())
