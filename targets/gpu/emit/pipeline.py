"""The passes from placed groups to kernels that are printed, in order."""

from ....passes.core import Pass
from ..lower.to_tile import LowerToTile
from ..schedule.architecture import Architecture
from ..schedule.choose_blocks import ChooseBlocks as ChooseBlocks  # registers the pass
from .drop_bounds import DropBounds
from .simplify_indices import SimplifyIndices
from .use_descriptors import UseDescriptors


def lowering_passes(precision: str = "ieee") -> tuple[Pass, ...]:
    """Return the passes that make kernels of placed groups, for any architecture.

    `precision` says what factors of f32 are rounded to, as `tile.dot` has it.
    """
    return (LowerToTile(precision),)


def kernel_passes(architecture: Architecture) -> tuple[Pass, ...]:
    """Return the passes that fit kernels to an architecture and the settings they have."""
    moves = (UseDescriptors(),) if architecture.descriptors else ()
    return (SimplifyIndices(), *moves, DropBounds())
