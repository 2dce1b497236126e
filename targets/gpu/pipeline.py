"""The passes from placed groups to kernels that are printed, in order."""

from ...passes.core import Pass
from .architecture import find_architecture
from .choose_blocks import ChooseBlocks
from .drop_bounds import DropBounds
from .fuse_prologues import FusePrologues
from .lower_to_tile import LowerToTile
from .simplify_indices import SimplifyIndices
from .use_descriptors import UseDescriptors

IEEE = "ieee"
"""The precision of products that leaves their factors as they are."""


def lowering_passes(precision: str = IEEE) -> tuple[Pass, ...]:
    """Return the passes that make kernels of placed groups, for any architecture.

    `precision` says what factors of f32 are rounded to, as `tile.dot` has it.
    """
    return (FusePrologues(), LowerToTile(precision))


def kernel_passes(architecture: str = "sm_90", tuning: str = "") -> tuple[Pass, ...]:
    """Return the passes that make kernels fit for an architecture, with what a file knows of it."""
    return (ChooseBlocks(architecture, tuning), *setting_passes(architecture))


def setting_passes(architecture: str) -> tuple[Pass, ...]:
    """Return the passes that make kernels which have their settings fit for an architecture."""
    moves = [UseDescriptors()] if find_architecture(architecture).descriptors else []
    return (SimplifyIndices(), *moves, DropBounds())
