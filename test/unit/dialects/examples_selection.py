"""Examples of ops that select elements by what they are; the sizes that they find are given."""

import numpy as np
from examples import ANY, INTEGERS, Example, Maker, Pick
from trivium.dialects import tri
from trivium.dialects.core.tensor import Array, numpy_dtype


def non_zero(pick: Pick) -> Example:
    x = pick.array(pick.shape(), *ANY)
    chosen = np.random.default_rng(pick.between(0, 99)).random(x.shape) < 0.5
    x = np.where(chosen, x, x.dtype.type(0))
    return Example((x,), {"count": int(np.count_nonzero(x))})


def padded_non_zero(pick: Pick) -> Example:
    return Example(non_zero(pick).operands)


def compress(pick: Pick) -> Example:
    x = pick.array(pick.shape((1, 3)), *ANY)
    axis = pick.axis(x.ndim)
    condition = pick.array((pick.between(0, x.shape[axis]),), "i1")
    return Example((x, condition), {"axis": axis, "count": int(condition.sum())})


def unique(pick: Pick) -> Example:
    x = pick.array(pick.shape((1, 3), (0, 4)), *ANY)
    axis = pick.axis(x.ndim)
    rows = np.moveaxis(x, axis, 0).astype(np.float64)
    count = len({str((row + 0.0).tolist()) for row in rows})
    return Example((x,), {"axis": axis, "count": count, "sorted": pick.flag()})


def non_max_suppression(pick: Pick) -> Example:
    batches, classes, number = *pick.ints(2, 0, 2), pick.between(0, 5)
    dtype = numpy_dtype(pick.one("f64", "f32", "f16"))
    random = np.random.default_rng(pick.between(0, 1 << 16))
    boxes = random.integers(0, 5, (batches, number, 4)).astype(dtype)
    scores = random.permuted(np.tile(np.arange(5.0), (batches, classes, 1)), axis=2)
    scores = scores[..., :number].astype(dtype)
    overlap, least = pick.one(None, 0.25, 0.5), pick.one(None, 0.0, 1.5)
    limit = pick.one(1, 2, 9)
    count = sum(
        _kept(boxes[batch], scores[batch, kind], overlap or 0.0, least, limit)
        for batch in range(batches)
        for kind in range(classes)
    )
    operands = (boxes, scores, _scalar(overlap), _scalar(least))
    return Example(operands, {"count": count, "limit": limit})


def padded_non_max_suppression(pick: Pick) -> Example:
    example = non_max_suppression(pick)
    return Example(example.operands, {"limit": example.attributes["limit"]})


def _scalar(number: float | None) -> Array | None:
    return None if number is None else np.array(number, np.float32)


def _kept(boxes: Array, scores: Array, overlap: float, least: float | None, limit: int) -> int:
    """Count the boxes of one class that are kept, in whole numbers and fractions of four."""
    kept: list[list[float]] = []
    for score, box in sorted(zip(scores.tolist(), boxes.tolist(), strict=True), reverse=True):
        if len(kept) == limit or (least is not None and score <= least):
            break
        if all(_shared(box, other) <= overlap * _union(box, other) for other in kept):
            kept.append(box)
    return len(kept)


def _shared(a: list[float], b: list[float]) -> float:
    sides: list[float] = []
    for axis in (0, 1):
        spans = [sorted((box[axis], box[axis + 2])) for box in (a, b)]
        sides.append(min(high for _, high in spans) - max(low for low, _ in spans))
    return max(sides[0], 0) * max(sides[1], 0)


def _union(a: list[float], b: list[float]) -> float:
    areas = [abs(box[2] - box[0]) * abs(box[3] - box[1]) for box in (a, b)]
    return sum(areas) - _shared(a, b)


def define_sizes(pick: Pick) -> Example:
    shape = pick.one((), (pick.between(0, 3),))
    x = np.abs(pick.array(shape, *INTEGERS))
    sizes = tuple(x.reshape(-1).tolist())
    return Example((x,), {"sizes": sizes, "limits": pick.one((), sizes)})


def decode_image(pick: Pick) -> Example:
    """Write a file in the plainest of formats: a line, then the pixels."""
    height, width, pixels = pick.between(1, 3), pick.between(1, 3), pick.one("RGB", "BGR")
    data = f"P6 {width} {height} 255\n".encode() + bytes(range(3 * height * width))
    attributes = {"height": height, "width": width, "pixels": pixels}
    return Example((np.frombuffer(data, np.uint8),), attributes)


SELECTION: dict[type[tri.TriOp], Maker] = {
    tri.NonZero: non_zero,
    tri.Compress: compress,
    tri.Unique: unique,
    tri.NonMaxSuppression: non_max_suppression,
    tri.DefineSizes: define_sizes,
    tri.DecodeImage: decode_image,
    tri.PaddedNonZero: padded_non_zero,
    tri.PaddedNonMaxSuppression: padded_non_max_suppression,
}
