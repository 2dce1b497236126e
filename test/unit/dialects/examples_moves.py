"""Examples of ops that move, repeat, gather and scatter elements."""

import numpy as np
from examples import ANY, INDICES, NUMBERS, Example, Maker, Pick
from trivium.dialects import tri
from trivium.dialects.core.tensor import numpy_dtype


def constant(pick: Pick) -> Example:
    return Example((), {"value": pick.array(pick.shape(), *ANY)})


def sizes(pick: Pick) -> Example:
    shape = pick.shape((0, 2), (0, 3))
    values = pick.ints(int(np.prod(shape, dtype=int)), -3, 9)
    return Example((), {"values": tuple(values), "shape": shape})


def iota(pick: Pick) -> Example:
    return Example((), {"size": pick.between(0, 9)})


def reshape(pick: Pick) -> Example:
    x = pick.array(pick.shape(), *ANY)
    return Example((x,), {"shape": pick.one(x.shape, (x.size,), (1, x.size, 1), x.shape[::-1])})


def copy(pick: Pick) -> Example:
    return Example((pick.array(pick.shape(), *ANY),), {"to": pick.one("gpu", "host")})


def transpose(pick: Pick) -> Example:
    x = pick.array(pick.shape((0, 4)), *ANY)
    return Example((x,), {"permutation": pick.permutation(x.ndim)})


def slice_(pick: Pick) -> Example:
    x = pick.array(pick.shape((0, 3), (0, 5)), *ANY)
    ranges = [
        range(*slice(start, stop, step).indices(size))
        for size in x.shape
        for start, stop in [pick.ints(2, -6, 6)]
        for step in [pick.one(-3, -1, 1, 2)]
    ]
    starts, sizes = tuple(r.start for r in ranges), tuple(map(len, ranges))
    return Example((x,), {"starts": starts, "sizes": sizes, "steps": tuple(r.step for r in ranges)})


def concat(pick: Pick) -> Example:
    shape, dtype = pick.shape((1, 3)), pick.one(*ANY)
    axis = pick.axis(len(shape))
    before, after = shape[: axis % len(shape)], shape[axis % len(shape) + 1 :]
    sizes = pick.ints(pick.between(1, 3), 0, 3)
    return Example(
        ([pick.array((*before, size, *after), dtype) for size in sizes],), {"axis": axis}
    )


def stack(pick: Pick) -> Example:
    shape, dtype = pick.shape((0, 3)), pick.one(*ANY)
    xs = [pick.array(shape, dtype) for _ in range(pick.between(1, 3))]
    return Example((xs,), {"axis": pick.axis(len(shape) + 1)})


def unbind(pick: Pick) -> Example:
    x = pick.array(pick.shape((1, 3), (1, 3)), *ANY)
    return Example((x,), {"axis": pick.axis(x.ndim)})


def roll(pick: Pick) -> Example:
    x = pick.array(pick.shape((1, 3), (0, 4)), *ANY)
    axes = pick.permutation(x.ndim)[: pick.between(0, 2)]
    return Example((x,), {"shifts": pick.ints(len(axes), -5, 5), "axes": axes})


def channel_shuffle(pick: Pick) -> Example:
    groups, size = pick.ints(2, 1, 3)
    x = pick.array((2, groups * size, *pick.shape((0, 2))), *ANY)
    return Example((x,), {"groups": groups})


def split(pick: Pick) -> Example:
    x = pick.array(pick.shape((1, 3), (0, 5)), *ANY)
    axis = pick.axis(x.ndim)
    sizes = pick.parts(x.shape[axis], pick.between(1, 3))
    return Example((x,), {"axis": axis, "sizes": sizes})


def pad(pick: Pick) -> Example:
    mode = pick.one("constant", "reflect", "edge", "wrap")
    x = pick.array(pick.shape((0, 3), (2, 4)), *ANY)
    pads = pick.ints(2 * x.ndim, -1, 3)
    value = pick.one(0.0, 1.0) if mode == "constant" else 0.0
    sides = zip(x.shape, pads[: x.ndim], pads[x.ndim :], strict=True)
    empty = any(size + min(before, 0) + min(after, 0) == 0 for size, before, after in sides)
    return Example((x,), {"pads": pads, "mode": "constant" if empty else mode, "value": value})


def expand(pick: Pick) -> Example:
    shape = pick.shape()
    return Example((pick.array(pick.narrowed(shape), *ANY),), {"shape": shape})


def tile(pick: Pick) -> Example:
    x = pick.array(pick.shape(), *ANY)
    return Example((x,), {"repeats": pick.ints(x.ndim, 0, 3)})


def trilu(pick: Pick) -> Example:
    x = pick.array(pick.shape((2, 4)), *ANY)
    return Example((x,), {"k": pick.between(-4, 4), "upper": pick.flag()})


def reverse_sequence(pick: Pick) -> Example:
    x = pick.array(pick.shape((2, 4), (1, 4)), *ANY)
    batch, time, *_ = pick.permutation(x.ndim)
    lengths = np.array(pick.ints(x.shape[batch], 0, x.shape[time]), numpy_dtype(pick.one(*INDICES)))
    return Example((x, lengths), {"batch_axis": batch, "time_axis": time - x.ndim})


def depth_to_space(pick: Pick) -> Example:
    n, c, h, w = pick.ints(4, 1, 2)
    block = pick.between(1, 3)
    x = pick.array((n, c * block**2, h, w), *ANY)
    return Example((x,), {"blocksize": block, "mode": pick.one("DCR", "CRD")})


def space_to_depth(pick: Pick) -> Example:
    n, c, h, w = pick.ints(4, 1, 2)
    block = pick.between(1, 3)
    return Example((pick.array((n, c, h * block, w * block), *ANY),), {"blocksize": block})


def gather(pick: Pick) -> Example:
    x = pick.array(pick.shape((1, 3), (1, 3)), *ANY)
    axis = pick.axis(x.ndim)
    return Example((x, pick.places(pick.shape((0, 2)), x.shape[axis])), {"axis": axis})


def gather_elements(pick: Pick) -> Example:
    x = pick.array(pick.shape((1, 3), (1, 3)), *ANY)
    axis = pick.axis(x.ndim)
    shape = tuple(pick.between(0, n) for n in x.shape)
    return Example((x, pick.places(shape, x.shape[axis])), {"axis": axis})


def gather_nd(pick: Pick) -> Example:
    x = pick.array(pick.shape((1, 3), (1, 3)), *ANY)
    batch_dims = pick.between(0, x.ndim - 1)
    depth = pick.between(1, x.ndim - batch_dims)
    shape = (*x.shape[:batch_dims], *pick.shape((0, 2)), depth)
    return Example((x, _tuples(pick, shape, x.shape[batch_dims:])), {"batch_dims": batch_dims})


def _tuples(pick: Pick, shape: tuple[int, ...], sizes: tuple[int, ...]) -> np.ndarray:
    columns = [pick.places(shape[:-1], sizes[i]) for i in range(shape[-1])]
    return np.stack(columns, -1).astype(np.int64)


def scatter_elements(pick: Pick) -> Example:
    reduction = pick.one("none", "add", "mul", "max", "min")
    x = pick.array(pick.shape((1, 3), (1, 3)), *(ANY if reduction == "none" else NUMBERS))
    axis = pick.axis(x.ndim)
    indices = pick.places(tuple(pick.between(0, n) for n in x.shape), x.shape[axis])
    updates = pick.array(indices.shape, "i8").astype(x.dtype)
    return Example((x, indices, updates), {"axis": axis, "reduction": reduction})


def scatter_nd(pick: Pick) -> Example:
    reduction = pick.one("none", "add", "mul", "max", "min")
    x = pick.array(pick.shape((1, 3), (1, 3)), *(ANY if reduction == "none" else NUMBERS))
    depth = pick.between(1, x.ndim)
    indices = _tuples(pick, (*pick.shape((0, 2)), depth), x.shape)
    updates = pick.array((*indices.shape[:-1], *x.shape[depth:]), "i8").astype(x.dtype)
    return Example((x, indices, updates), {"reduction": reduction})


def tensor_scatter(pick: Pick) -> Example:
    circular = pick.one(False, True)
    x = pick.array(pick.shape((2, 3), (1, 4)), *ANY)
    axis = pick.between(1, x.ndim - 1)
    size, entries = x.shape[axis], x.shape[0]
    length = pick.between(0, size)
    shape = tuple(length if d == axis else n for d, n in enumerate(x.shape))
    updates = pick.array(shape, "i8").astype(x.dtype)
    ends = (-size, 2 * size) if circular else (0, size - length)
    starts = np.array(pick.ints(entries, *ends), pick.one(np.int64, np.int32))
    counts = pick.maybe(np.array(pick.ints(entries, -1, length + 1), np.int32))
    attributes = {"axis": pick.one(axis, axis - x.ndim), "circular": circular}
    return Example((x, updates, starts, counts), attributes)


def one_hot(pick: Pick) -> Example:
    depth = pick.between(0, 4)
    indices = pick.array(pick.shape((0, 2)), *INDICES)
    values = pick.array((2,), *ANY)
    return Example((indices, values), {"depth": depth, "axis": pick.axis(indices.ndim + 1)})


MOVES: dict[type[tri.TriOp], Maker] = {
    tri.Constant: constant,
    tri.Copy: copy,
    tri.Sizes: sizes,
    tri.Iota: iota,
    tri.Reshape: reshape,
    tri.Transpose: transpose,
    tri.Slice: slice_,
    tri.Concat: concat,
    tri.Split: split,
    tri.Stack: stack,
    tri.Unbind: unbind,
    tri.Roll: roll,
    tri.ChannelShuffle: channel_shuffle,
    tri.Pad: pad,
    tri.Expand: expand,
    tri.Tile: tile,
    tri.Trilu: trilu,
    tri.ReverseSequence: reverse_sequence,
    tri.DepthToSpace: depth_to_space,
    tri.SpaceToDepth: space_to_depth,
    tri.Gather: gather,
    tri.GatherElements: gather_elements,
    tri.GatherNd: gather_nd,
    tri.ScatterElements: scatter_elements,
    tri.ScatterNd: scatter_nd,
    tri.TensorScatter: tensor_scatter,
    tri.OneHot: one_hot,
}
