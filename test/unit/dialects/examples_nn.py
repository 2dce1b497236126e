"""Examples of the ops of detection, signals and long sequences."""

import numpy as np
from examples import FLOATS, Example, Maker, Pick
from examples_factors import FACTORS
from trivium.dialects import tri


def dft(pick: Pick) -> Example:
    inverse, onesided = pick.flag(), pick.flag()
    parts = (2 if inverse else 1) if onesided else pick.between(1, 2)
    shape = (*pick.shape((1, 2), (1, 4)), parts)
    x = pick.array(shape, *FLOATS)
    # Sums with infinities depend on how they are ordered.
    x = np.where(np.isfinite(x), x, 1).astype(x.dtype)
    axis = pick.between(-len(shape), -2)
    attributes = {"axis": axis, "length": pick.between(1, 5)}
    return Example((x,), attributes | {"inverse": inverse, "onesided": onesided})


def det(pick: Pick) -> Example:
    size = pick.between(0, 3)
    return Example((pick.array((*pick.shape((0, 2)), size, size), *FLOATS),))


def inverse(pick: Pick) -> Example:
    size, dtype = pick.between(0, 3), pick.one(*FLOATS)
    x = pick.array((*pick.shape((0, 2)), size, size), dtype)
    # Errors of other matrices have no bound that all types share.
    return Example(
        (np.where(np.eye(size) > 0, 8, np.clip(np.nan_to_num(x), -1, 1)).astype(x.dtype),)
    )


def couple_pairs(pick: Pick) -> Example:
    size, dtype = pick.between(1, 4), pick.one(*FLOATS)
    x = pick.array((pick.between(0, 3), size, size), dtype)
    upper = np.triu(1 / (1 + np.exp(-x.astype(np.float64))), 1)
    return Example(((upper + np.tril(1 - upper.transpose(0, 2, 1), -1)).astype(x.dtype),))


def roi_align(pick: Pick) -> Example:
    dtype, count = pick.one(*FLOATS), pick.between(0, 3)
    x = pick.array((2, pick.between(1, 3), *pick.ints(2, 1, 5)), dtype)
    rois = abs(pick.array((count, 4), "i8")).astype(x.dtype)
    images = pick.array((count,), "i1").astype(pick.one("int64", "int32"))
    attributes = {
        "sizes": pick.ints(2, 1, 3),
        "mode": pick.one("avg", "max"),
        "sampling_ratio": pick.between(0, 2),
        "spatial_scale": pick.one(0.5, 1.0),
        "half_pixel": pick.flag(),
    }
    return Example((x, rois, images), attributes)


def max_roi_pool(pick: Pick) -> Example:
    align = roi_align(pick)
    x, rois, images = align.operands
    regions = pick.array((len(rois), 5), "i8").astype(x.dtype)
    regions[:, 0] = images
    return Example((x, regions), {"sizes": pick.ints(2, 1, 3), "spatial_scale": 0.5})


def deform_conv(pick: Pick) -> Example:
    dtype, kernel = pick.one(*FLOATS), pick.shape((1, 2), (1, 3))
    group, offset_group = pick.between(1, 2), pick.between(1, 2)
    x = pick.array((pick.between(1, 2), 2, *(n + 4 for n in kernel)), dtype)
    w = pick.array((2, 2 // group, *kernel), dtype)
    attributes = {
        "strides": pick.ints(len(kernel), 1, 2),
        "pads": pick.ints(2 * len(kernel), 0, 2),
        "dilations": pick.ints(len(kernel), 1, 2),
        "group": group,
    }
    plain = tri.Conv(**attributes).infer(*Example((x, w)).types)
    taps = offset_group * int(w[0, 0].size)
    offset = pick.array((len(x), taps * len(kernel), *plain.shape[2:]), "i8").astype(x.dtype)
    b = pick.maybe(pick.array((2,), dtype))
    mask = pick.maybe(pick.array((len(x), taps, *plain.shape[2:]), dtype))
    return Example((x, w, offset / 2, b, mask), attributes | {"offset_group": offset_group})


def linear_attention(pick: Pick) -> Example:
    dtype, (batch, length, keys, values) = pick.one(*FLOATS), pick.ints(4, 1, 3)
    shared, times = pick.between(1, 2), pick.between(1, 2)
    steps = (batch, length, shared)
    q = pick.array((batch, length, shared * times, keys), dtype)
    k, v = pick.array((*steps, keys), dtype), pick.array((*steps, values), dtype)
    decay = pick.maybe(pick.array((*steps, pick.one(1, keys)), dtype))
    beta = pick.maybe(pick.array((*steps[:2], pick.one(1, shared), 1), dtype))
    state = pick.maybe(pick.array((batch, shared, keys, values), dtype))
    return Example((q, k, v, decay, beta, state), {"scale": pick.number()})


NN: dict[type[tri.TriOp], Maker] = {
    tri.Dft: dft,
    tri.Det: det,
    tri.Inverse: inverse,
    tri.CouplePairs: couple_pairs,
    tri.RoiAlign: roi_align,
    tri.MaxRoiPool: max_roi_pool,
    tri.DeformConv: deform_conv,
    tri.LinearAttention: linear_attention,
    **FACTORS,
}
