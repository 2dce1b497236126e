"""The pipelines that compile a model for any target, by optimisation level."""

from .core import Pass
from .cse import Cse
from .decompose import Decompose
from .eliminate import Eliminate
from .fold.fold_batch_norm import FoldBatchNorm
from .fold.fold_casts import FoldCasts
from .fold.fold_constants import FoldConstants
from .fold.fold_dead_taps import FoldDeadTaps
from .fold.fold_limits import FoldLimits
from .fold.fold_pad import FoldPad
from .fold.fold_repeated_heads import FoldRepeatedHeads
from .fold.fold_scale import FoldScale
from .fold.fold_shapes import FoldShapes
from .fold.fold_slices import FoldSlices
from .fold.hoist_gather import HoistGather
from .fold.hoist_rows import HoistRows
from .fold.unflatten_gemm import UnflattenGemm
from .fuse.fuse_attention import FuseAttention
from .fuse.fuse_block_quantized import FuseBlockQuantized
from .fuse.fuse_elementwise import FuseElementwise
from .fuse.fuse_epilogues import FuseEpilogues
from .fuse.fuse_gelu import FuseGelu
from .fuse.fuse_group_norm import FuseGroupNorm
from .fuse.fuse_hardswish import FuseHardswish
from .fuse.fuse_indexed_products import FuseIndexedProducts
from .fuse.fuse_layer_norm import FuseLayerNorm
from .fuse.fuse_mish import FuseMish
from .fuse.fuse_rms_norm import FuseRmsNorm
from .fuse.fuse_silu import FuseSilu
from .quantize.expose_storage import ExposeStorage
from .quantize.sink_dequantize import SinkDequantize

WHOLE = (
    *("channel_shuffle", "expression", "linear", "multihead_attention", "recurrent_stack", "roll"),
    *("stack", "unbind"),
)
"""Ops that frontends keep as their source has them."""

QUANTISED = ("quantize", "dequantize", "requantize", "requantize_mean")
"""Ops on quantised numbers, which targets without such numbers have as arithmetic."""

CLEAN: tuple[Pass, ...] = (Eliminate(),)

ARITHMETIC: tuple[Pass, ...] = (Decompose(ops=QUANTISED), ExposeStorage())

SIMPLIFY: tuple[Pass, ...] = (
    Decompose(ops=WHOLE),  # first: all other passes look at the parts
    FoldLimits(),  # early: products are scaled only once then
    SinkDequantize(),  # before constants are folded: weights are still integers
    HoistGather(),
    FoldBatchNorm(alone=False),  # early: there are fewer ops for what follows
    FoldConstants(),
    Eliminate(),
    Cse(),
    Decompose(ops=("einsum",)),
    FoldCasts(),
    UnflattenGemm(),
    HoistRows(),
    Cse(),
    FoldShapes(),
    FoldSlices(),
    FoldPad(),
    FoldDeadTaps(),
    FoldConstants(),
    Eliminate(),
    FoldBatchNorm(),
    FoldScale(),
    FoldShapes(),
    Cse(),
    Eliminate(),
)

RECOGNISE: tuple[Pass, ...] = (
    FuseBlockQuantized(),
    FuseIndexedProducts(),
    FuseGelu(),
    FuseSilu(),
    FuseMish(),
    FuseHardswish(),
    FuseLayerNorm(),
    FuseRmsNorm(),
    FuseGroupNorm(),
    FoldScale(),
    FuseAttention(),
    FoldShapes(),  # the keys of an attention come transposed
    FoldRepeatedHeads(),
    FoldShapes(),
    FoldConstants(),
    Cse(),
    Eliminate(),
)

GROUPINGS = (FuseEpilogues(), FuseElementwise())
"""What makes groups of ops: kernels, if a target takes them."""

GROUP: tuple[Pass, ...] = (*GROUPINGS, Eliminate())

LEVELS = ((), SIMPLIFY, (*SIMPLIFY, *RECOGNISE))


def widen(narrow: tuple[str, ...] = ()) -> FoldConstants:
    """Fold constants for targets that compute none when a package is loaded.

    Weights of the element types `narrow` stay as they are.
    """
    return FoldConstants(size_budget=64 * 1024, growth=4, narrow=narrow)


def default_pipeline(
    opt_level: int,
    exact: bool = False,
    quantized: bool = False,
    prepares: bool = True,
    narrow: tuple[str, ...] = (),
) -> tuple[Pass, ...]:
    """Return the passes of a level, in the order in which they run.

    0 only removes what does nothing; 1 also computes, merges and folds; 2 also recognises the ops
    that exporters took apart. Levels above 2 are level 2. With `exact`, products are scaled where
    the model scales them. With `quantized`, quantised numbers stay what they are, for targets that
    have them; otherwise they become arithmetic at every level. With `prepares`, constants stay ops
    on smaller ones, for targets that compute them when a package is loaded; for others, weights of
    the element types `narrow` do.
    """
    first = CLEAN if quantized else (*CLEAN, *ARITHMETIC)
    passes = (*first, *LEVELS[min(opt_level, len(LEVELS) - 1)])
    if not prepares:
        passes = tuple(widen(narrow) if isinstance(p, FoldConstants) else p for p in passes)
    return tuple(p for p in passes if not (exact and isinstance(p, SinkDequantize)))


def grouping_pipeline(opt_level: int) -> tuple[Pass, ...]:
    """Return the passes that make groups, after a target's own passes have run: at level 2."""
    return GROUP if opt_level >= 2 else ()
