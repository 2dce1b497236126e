"""The passes from placed groups to kernels that are printed, in order."""

from ...passes.core import Pass
from .choose_blocks import ChooseBlocks as ChooseBlocks  # registers the pass
from .drop_bounds import DropBounds
from .fuse_prologues import FusePrologues
from .lower_to_tile import LowerToTile
from .simplify_indices import SimplifyIndices


def lowering_passes() -> tuple[Pass, ...]:
    """Return the passes that make kernels of placed groups, for any architecture."""
    return (FusePrologues(), LowerToTile())


def kernel_passes() -> tuple[Pass, ...]:
    """Return the passes that fit kernels to the settings that were chosen for them."""
    return (SimplifyIndices(), DropBounds())
