"""The passes from placed groups to kernels that are printed, in order."""

from ...dialects.tile.contraction import IEEE
from ...passes.core import Pass
from .architecture import find_architecture
from .choose_blocks import ChooseBlocks
from .drop_bounds import DropBounds
from .fuse_prologues import FusePrologues
from .lower_to_tile import LowerToTile
from .simplify_indices import SimplifyIndices
from .use_descriptors import UseDescriptors


def lowering_passes(precision: str = IEEE) -> tuple[Pass, ...]:
    """Return the passes that make kernels of placed groups, for any architecture.

    `precision` says what factors of f32 are rounded to, as `tile.dot` has it.
    """
    return (FusePrologues(), LowerToTile(precision))


def kernel_passes(architecture: str = "sm_90", tuning: str = "") -> tuple[Pass, ...]:
    """Return the passes that make kernels fit for an architecture, with what a file knows of it."""
    moves = [UseDescriptors()] if find_architecture(architecture).descriptors else []
    return (ChooseBlocks(architecture, tuning), SimplifyIndices(), *moves, DropBounds())
