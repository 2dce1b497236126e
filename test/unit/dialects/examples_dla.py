"""Examples of ops on images of bytes, with all that these ops can be told."""

from typing import Any

import numpy as np
from examples import Example, Maker, Pick
from trivium.dialects import dla
from trivium.dialects.core.numerics.fixed_point import ROUNDINGS
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array


def image(pick: Pick, *shape: int) -> Array:
    """Draw bytes, among them often the least and the greatest."""
    random = np.random.default_rng(pick.between(0, 1 << 16))
    values = random.integers(-128, 128, shape)
    return np.where(random.random(shape) < 0.1, random.choice([-128, 127], shape), values).astype(
        np.int8
    )


def some_image(pick: Pick) -> Array:
    return image(pick, pick.between(1, 2), *pick.ints(3, 1, 5))


def byte(pick: Pick) -> int:
    return pick.one(0, -128, 127, pick.between(-128, 127))


def multiplier(pick: Pick) -> int:
    return pick.one(0, 1, (1 << 31) - 1, pick.between(0, 1 << 20))


def shift(pick: Pick) -> int:
    return pick.one(0, 1, 62, pick.between(0, 40))


def bounds(pick: Pick) -> dict[str, int]:
    low, high = sorted((byte(pick), byte(pick)))
    return pick.one({}, {"low": low, "high": high})


def scaling(pick: Pick) -> dict[str, Any]:
    factor = {"multiplier": multiplier(pick), "shift": shift(pick)}
    return {**factor, **result(pick), "source_zero": byte(pick)}


def result(pick: Pick) -> dict[str, Any]:
    zero = {"destination_zero": byte(pick), "rounding": pick.one(*ROUNDINGS)}
    return {**zero, **bounds(pick)}


def window(pick: Pick, *sizes: int) -> dict[str, Any]:
    """Draw how a kernel moves; it meets something of the image everywhere."""
    kernel, strides = pick.ints(2, 1, 3), pick.ints(2, 1, 3)
    dilations = tuple(pick.between(1, max(1, min(2, size))) for size in sizes)
    pads = [0, 0, 0, 0]
    for axis, size in enumerate(sizes):
        reach = (kernel[axis] - 1) * dilations[axis] + 1
        pads[axis] = pick.between(0, min(reach - 1, 2))
        lacking = max(0, reach - size - pads[axis])
        pads[axis + 2] = max(lacking, pick.between(0, reach - 1))
    moves = {"strides": strides, "dilations": dilations, "pads": tuple(pads)}
    return {"kernel": kernel, **moves}


def conv(pick: Pick) -> Example:
    x, filters = some_image(pick), pick.between(1, 4)
    drawn = window(pick, *x.shape[1:3])
    depthwise = pick.flag()
    shape = (*drawn.pop("kernel"), x.shape[3])
    w = image(pick, *shape, *([] if depthwise else [filters]))
    filters = w.shape[-1]
    count = pick.one(1, filters)
    factors = {
        "multiplier": tuple(multiplier(pick) for _ in range(count)),
        "shift": tuple(shift(pick) for _ in range(count)),
    }
    bias = np.array(pick.ints(filters, -(1 << 30), 1 << 30), np.int32)
    mode = "depthwise" if depthwise else "dense"
    rest = {"mode": mode, "source_zero": byte(pick), **result(pick)}
    return Example((x, w, bias), {**drawn, **factors, **rest})


def pool(pick: Pick) -> Example:
    x = some_image(pick)
    kind = {"mode": pick.one("max", "average"), "divisor": pick.one("none", "inside")}
    drawn = {**window(pick, *x.shape[1:3]), **kind, **scaling(pick)}
    if kind["divisor"] == "inside":
        drawn["shift"] = min(drawn["shift"], 40)
    return Example((x,), drawn)


def eltwise(pick: Pick) -> Example:
    x = some_image(pick)
    other = image(pick, *(size if pick.flag() else 1 for size in x.shape[:3]), x.shape[3])
    more = {"other_zero": byte(pick), "other_multiplier": multiplier(pick)}
    operator = pick.one("add", "mul", "max", "min")
    return Example((x, other), {"operator": operator, **more, **scaling(pick)})


def lookup(pick: Pick) -> Example:
    return Example((some_image(pick), image(pick, 256)))


def resize(pick: Pick) -> Example:
    start = tuple(pick.one(0, -(1 << 31), (1 << 31) - 1, -40000) for _ in range(2))
    step = tuple(pick.one(0, (1 << 32) - 1, 1 << 15, 100000) for _ in range(2))
    return Example((some_image(pick),), {"out": pick.ints(2, 1, 6), "start": start, "step": step})


def copy(pick: Pick) -> Example:
    return Example((some_image(pick),), scaling(pick))


def concat(pick: Pick) -> Example:
    shape, axis = (pick.between(1, 2), *pick.ints(3, 1, 4)), pick.one(1, 2, 3, -1)
    xs: list[Array] = []
    for _ in range(pick.between(1, 3)):
        sizes = list(shape)
        sizes[axis] = pick.between(1, 4)
        xs.append(image(pick, *sizes))
    return Example((xs,), {"axis": axis})


def part(pick: Pick) -> Example:
    shape = [pick.between(1, 6) for _ in range(3)]
    start = tuple(pick.between(0, size - 1) for size in shape)
    sizes = tuple(pick.between(1, size - first) for size, first in zip(shape, start, strict=True))
    return Example((image(pick, pick.between(1, 2), *shape),), {"start": start, "sizes": sizes})


DLA: dict[type[Op], Maker] = {
    dla.Conv: conv,
    dla.Pool: pool,
    dla.Eltwise: eltwise,
    dla.Lookup: lookup,
    dla.Resize: resize,
    dla.Copy: copy,
    dla.Concat: concat,
    dla.Slice: part,
}
