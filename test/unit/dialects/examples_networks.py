"""Examples of the ops that networks are made of: layers, windows, products, recurrences."""

from typing import Any

import numpy as np
from examples import FLOATS, NUMBERS, Example, Maker, Pick, along, drawn
from examples_trees import tree_ensemble
from trivium.dialects import tri
from trivium.dialects.core.tensor import dtype_of


def _window(pick: Pick, kernel: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """Draw the parts of a window that fits any input not smaller than 3 times the kernel."""
    count = len(kernel)
    return {
        "strides": pick.ints(count, 1, 2),
        "pads": tuple(pick.between(0, (k - 1) // 2) for k in kernel * 2),
        "dilations": pick.ints(count, 1, 2),
    }


def conv(pick: Pick) -> Example:
    dtype, group, kernel = pick.one(*FLOATS), pick.between(1, 2), pick.shape((1, 3), (1, 3))
    x = pick.array((pick.between(1, 2), 2 * group, *(n + 4 for n in kernel)), dtype)
    w = pick.array((group * pick.between(1, 2), 2, *kernel), dtype)
    bias = pick.maybe(pick.array(w.shape[:1], dtype))
    return Example((x, w, bias), _window(pick, kernel) | {"group": group})


def conv_transpose(pick: Pick) -> Example:
    dtype, group, kernel = pick.one(*FLOATS), pick.between(1, 2), pick.shape((1, 3), (1, 3))
    x = pick.array((1, 2 * group, *pick.ints(len(kernel), 2, 4)), dtype)
    w = pick.array((2 * group, pick.between(1, 2), *kernel), dtype)
    bias = pick.maybe(pick.array((w.shape[1] * group,), dtype))
    window = _window(pick, kernel)
    extra = tuple(pick.between(0, stride - 1) for stride in window["strides"])
    return Example((x, w, bias), window | {"group": group, "output_padding": extra})


def pool(*dtypes: str, **attributes: Any) -> Maker:
    def make(pick: Pick) -> Example:
        kernel = pick.shape((1, 3), (1, 3))
        x = pick.array((1, pick.between(1, 2), *(n + 4 for n in kernel)), *dtypes)
        common = {"kernel": kernel, "ceil_mode": pick.flag()} | _window(pick, kernel)
        return Example((x,), common | drawn(pick, attributes))

    return make


def mat_mul(pick: Pick) -> Example:
    dtype, (m, k, n) = pick.one(*NUMBERS), pick.ints(3, 1, 3)
    outer = pick.shape((0, 2), (1, 3))
    a = pick.array(pick.one((k,), (m, k), (*pick.narrowed(outer), m, k)), dtype)
    b = pick.array(pick.one((k,), (k, n), (*pick.narrowed(outer), k, n)), dtype)
    return Example((a, b))


def indexed_mat_mul(pick: Pick) -> Example:
    dtype, (m, groups, k, n) = pick.one(*NUMBERS), pick.ints(4, 1, 3)
    index = pick.array((m,), pick.one("i32", "i64")) % (groups + 2) - 1
    return Example((pick.array((m, k), dtype), pick.array((groups, k, n), dtype), index))


def block_quantized_mat_mul(pick: Pick) -> Example:
    dtype, bits, block = pick.one("f32", "f16", "bf16"), pick.one(2, 4, 8), pick.one(16, 32)
    rows, depth = pick.between(1, 5), pick.between(1, 70)
    blocks = -(-depth // block)
    a = pick.array((*pick.ints(pick.between(0, 2), 1, 3), depth), dtype)
    w = pick.array((rows, blocks, block * bits // 8), "ui8") * np.uint8(61)
    scales = pick.array((rows, blocks), dtype)
    zeros = pick.maybe(pick.array((rows, blocks), dtype, "ui8"))
    sizes = {"bits": bits, "block": block, "activations": pick.one("", "i8")}
    return Example((a, w, scales, zeros), sizes)


def indexed_block_mat_mul(pick: Pick) -> Example:
    dtype, bits, block = pick.one("f32", "f16", "bf16"), pick.one(2, 4, 8), pick.one(16, 32)
    rows, groups, columns, depth = (*pick.ints(3, 1, 4), pick.between(1, 70))
    shape = (groups, columns, -(-depth // block))
    w = pick.array((*shape, block * bits // 8), "ui8") * np.uint8(61)
    zeros = pick.maybe(pick.array(shape, dtype, "ui8"))
    index = pick.array((rows,), pick.one("i32", "i64")) % (groups + 2) - 1
    operands = (pick.array((rows, depth), dtype), w, pick.array(shape, dtype), index, zeros)
    sizes = {"bits": bits, "block": block, "activations": pick.one("", "i8")}
    return Example(operands, sizes)


def gemm(pick: Pick) -> Example:
    dtype, (m, k, n) = pick.one(*NUMBERS), pick.ints(3, 1, 3)
    trans_a, trans_b = pick.flag(), pick.flag()
    a = pick.array((k, m) if trans_a else (m, k), dtype)
    b = pick.array((n, k) if trans_b else (k, n), dtype)
    c = pick.maybe(pick.array(pick.narrowed((m, n)), dtype))
    scales = {"alpha": pick.number(), "beta": pick.number()}
    return Example((a, b, c), {"trans_a": trans_a, "trans_b": trans_b} | scales)


def linear(pick: Pick) -> Example:
    dtype, (*outer, k, n) = pick.one(*NUMBERS), pick.ints(4, 1, 3)
    x = pick.array((*outer[: pick.between(0, 2)], k), dtype)
    return Example((x, pick.array((n, k), dtype), pick.maybe(pick.array((n,), dtype))))


EQUATIONS = {
    "ij,jk->ik": [(2, 3), (3, 4)],
    "bij,bjk": [(2, 2, 3), (2, 3, 1)],
    "ii->i": [(3, 3)],
    "...i,...i->...": [(2, 3), (3,)],
    "i,j,k->kji": [(1,), (2,), (3,)],
    "ij->": [(2, 3)],
}


def einsum(pick: Pick) -> Example:
    equation, dtype = pick.one(*EQUATIONS), pick.one(*NUMBERS)
    return Example(([pick.array(s, dtype) for s in EQUATIONS[equation]],), {"equation": equation})


def per_channel(count: int, **attributes: Any) -> Maker:
    """Make examples of norms of N C … tensors with so many operands of shape C."""

    def make(pick: Pick) -> Example:
        dtype = pick.one(*FLOATS)
        x = pick.array((pick.between(1, 2), 4, *pick.shape((1, 2), (1, 3))), dtype)
        others = [np.abs(pick.array((4,), dtype)) for _ in range(count)]
        return Example((x, *others), drawn(pick, attributes))

    return make


def last_axes(count: int) -> Maker:
    """Make examples of norms over the last axes, with so many operands that may be absent."""

    def make(pick: Pick) -> Example:
        x = pick.array(pick.shape((1, 3), (1, 3)), *FLOATS)
        others = [
            pick.maybe(pick.array(pick.narrowed(x.shape), dtype_of(x.dtype))) for _ in range(count)
        ]
        return Example((x, *others), {"axis": pick.axis(x.ndim), "epsilon": 1e-3})

    return make


def lp_normalize(pick: Pick) -> Example:
    x = pick.array(pick.shape((1, 3), (1, 3)), *FLOATS)
    attributes = {"axis": pick.axis(x.ndim), "p": pick.one(1, 2), "epsilon": pick.one(0.0, 2.5)}
    return Example((x,), attributes)


def lrn(pick: Pick) -> Example:
    x = pick.array((1, 3, *pick.shape((0, 2), (1, 3))), *FLOATS)
    return Example((x,), {"size": pick.one(1, 2, 3), "bias": pick.number(0.5, 2.0)})


def attention(pick: Pick) -> Example:
    dtype, (queries, keys, d, e) = pick.one(*FLOATS), pick.ints(4, 1, 3)
    outer, heads, shared = pick.shape((0, 1), (1, 2)), pick.between(1, 2), pick.between(1, 2)
    q = pick.array((*outer, heads * shared, queries, d), dtype)
    k = pick.array((*outer, heads, keys, d), dtype)
    v = pick.array((*outer, heads, keys, e), dtype)
    masks = [pick.array((queries, keys), "i1", dtype) for _ in range(pick.between(0, 2))]
    fills = tuple(pick.number() for _ in range(pick.between(0, len(masks))))
    attributes = {"scale": pick.number(), "causal": pick.flag(), "fills": fills}
    return Example((q, k, v, masks), attributes)


def cached_attention(pick: Pick) -> Example:
    dtype, (batch, queries, d, e) = pick.one(*FLOATS), pick.ints(4, 1, 3)
    heads, shared, capacity = pick.between(1, 2), pick.between(1, 2), pick.between(0, 5)
    rows = pick.between(0, capacity)
    q = pick.array((batch, heads * shared, queries, d), dtype)
    sizes = ((batch, heads, capacity, size) for size in (d, e))
    drawn = (pick.array(shape, dtype) for shape in sizes)
    k, v = (np.where(np.isfinite(x.astype(np.float64)), x, 1).astype(x.dtype) for x in drawn)
    starts = np.array(pick.ints(batch, -1, 5), pick.one(np.int64, np.int32))
    attributes = {"rows": rows, "scale": pick.number(), "window": pick.between(0, 3)}
    if dtype == "f64" or pick.flag():
        return Example((q, k, v, starts, None, None), attributes)
    drawn = (tri.QuantizeRows().reference(x) for x in (k, v))
    (k, k_scales), (v, v_scales) = drawn
    return Example((q, k, v, starts, k_scales, v_scales), attributes)


def multihead_attention(pick: Pick) -> Example:
    dtype, (batch, queries, keys, heads, size) = pick.one(*FLOATS), pick.ints(5, 1, 2)
    e, first = heads * size, pick.flag()
    packed = pick.flag()
    sizes = (e, e, e) if packed else (e, *pick.ints(2, 1, 3))
    lengths = (queries, keys, keys)
    inputs = [
        pick.array((batch, n, d) if first else (n, batch, d), dtype)
        for n, d in zip(lengths, sizes, strict=True)
    ]
    w = [(3 * e, e)] if packed else [(e, d) for d in sizes]
    learned = [pick.array((1, 1, e), dtype) for _ in range(2)] if pick.flag() else [None, None]
    shape = pick.narrowed((batch, heads, queries, keys))
    shape = (batch * heads, queries, keys) if len(shape) == 3 else shape
    mask = pick.maybe(pick.array(shape, pick.one(dtype, "i1")))
    return Example(
        (
            *inputs,
            [pick.array(shape, dtype) for shape in w],
            pick.array((e, e), dtype),
            pick.maybe(pick.array((3 * e,), dtype)),
            pick.maybe(pick.array((e,), dtype)),
            *learned,
            mask,
        ),
        {"heads": heads, "batch_first": first, "add_zero": pick.flag()},
    )


def recurrent(
    gates: int, states: int = 1, peepholes: int = 0, projects: bool = False, **attributes: Any
) -> Maker:
    def make(pick: Pick) -> Example:
        dtype, (length, batch, inputs, hidden) = pick.one("f32", "f16"), pick.ints(4, 1, 3)
        direction, layout = pick.one("forward", "reverse", "bidirectional"), pick.between(0, 1)
        count = 2 if direction == "bidirectional" else 1
        x = pick.array((length, batch, inputs) if layout == 0 else (batch, length, inputs), dtype)
        w = pick.array((count, gates * hidden, inputs), dtype)
        shown = pick.between(1, 3) if projects and pick.flag() else 0
        r = pick.array((count, gates * hidden, shown or hidden), dtype)
        b = pick.maybe(pick.array((count, 2 * gates * hidden), dtype))
        lengths = pick.maybe(np.array(pick.ints(batch, 0, length), np.int32))
        outer = (count, batch) if layout == 0 else (batch, count)
        sizes = (shown or hidden, *[hidden] * (states - 1))
        initial = [pick.maybe(pick.array((*outer, size), dtype)) for size in sizes]
        p = [pick.maybe(pick.array((count, peepholes * hidden), dtype))] if peepholes else []
        if projects:
            p.append(pick.array((count, shown, hidden), dtype) if shown else None)
        common = {"hidden_size": hidden, "direction": direction, "layout": layout}
        options = common | {"clip": pick.one(0.0, 1.5)} | drawn(pick, attributes)
        return Example((x, w, r, b, lengths, *initial, *p), options)

    return make


def quantized_lstm(pick: Pick) -> Example:
    directions, hidden, batch = pick.between(1, 2), pick.between(1, 5), pick.between(1, 3)
    length, gates = pick.between(1, 4), 4 * hidden
    state = (directions, batch, hidden)
    lens = pick.maybe(np.array(pick.ints(batch, 0, length), np.int32))
    return Example(
        (
            pick.array((length, batch, directions * gates), "f32"),
            pick.array((directions, hidden, gates), "i32"),
            pick.array((directions, gates), "f32"),
            lens,
            pick.maybe(pick.array(state, "f32")),
            pick.maybe(pick.array(state, "f32")),
            pick.maybe(pick.array((directions, 3 * hidden), "f32")),
        ),
        {
            "hidden_size": hidden,
            "direction": "bidirectional" if directions > 1 else pick.one("forward", "reverse"),
            "clip": pick.one(0.0, 0.5),
            "input_forget": pick.flag(),
        },
    )


def recurrent_stack(pick: Pick) -> Example:
    dtype, (length, batch, inputs, hidden, layers) = pick.one("f32", "f16"), pick.ints(5, 1, 3)
    cell, bidirectional, first = pick.one("lstm", "gru", "tanh", "relu"), pick.flag(), pick.flag()
    gates, count = {"lstm": 4, "gru": 3}.get(cell, 1), 1 + bidirectional
    shown = pick.between(1, 3) if cell == "lstm" and pick.flag() else 0
    size, rows = shown or hidden, gates * hidden
    widths = [inputs, *[count * size] * (layers - 1)]
    x = pick.array((batch, length, inputs) if first else (length, batch, inputs), dtype)
    w = [pick.array((count, rows, width), dtype) for width in widths]
    r = [pick.array((count, rows, size), dtype) for _ in widths]
    b = [pick.array((count, 2 * rows), dtype) for _ in widths] if pick.flag() else []
    projection = [pick.array((count, shown, hidden), dtype) for _ in widths] if shown else []
    sizes = (size, hidden) if cell == "lstm" else (size,)
    states = [pick.array((layers * count, batch, each), dtype) for each in sizes]
    attributes = {"cell": cell, "hidden_size": hidden, "bidirectional": bidirectional}
    operands = (x, w, r, b, projection, states if pick.flag() else [])
    return Example(operands, attributes | {"batch_first": first})


TRANSFORMS = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)


def resize(pick: Pick) -> Example:
    x = pick.array((1, 2, *pick.ints(2, 1, 6)), *NUMBERS)
    sizes = (*x.shape[:2], *pick.ints(2, 1, 9))
    attributes = {
        "sizes": sizes,
        "scales": tuple(new / old for new, old in zip(sizes, x.shape, strict=True)),
        "mode": pick.one("nearest", "linear", "cubic"),
        "coordinate_transform": pick.one(*TRANSFORMS),
        "nearest_mode": pick.one("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
        "exclude_outside": pick.flag(),
        "antialias": pick.flag(),
        "roi": (0.0, 0.0, 0.1, 0.2, 1.0, 1.0, 0.7, 1.2),
    }
    return Example((x,), attributes)


def grid_sample(pick: Pick) -> Example:
    sizes = pick.shape((1, 3), (1, 5))
    points = np.tanh(pick.array((2, *pick.ints(len(sizes), 1, 3), len(sizes)), *FLOATS)) * 2
    attributes = {
        "mode": pick.one("nearest", "linear", "cubic"),
        "padding_mode": pick.one("zeros", "border", "reflection"),
        "align_corners": pick.flag(),
        "normalized": pick.flag(),
    }
    image = pick.array((2, pick.between(1, 3), *sizes), *FLOATS)
    return Example((image, np.where(np.isnan(points), 0, points).astype(points.dtype)), attributes)


def flag(pick: Pick) -> bool:
    return pick.flag()


NETWORKS: dict[type[tri.TriOp], Maker] = {
    tri.Softmax: along(*FLOATS),
    tri.LogSoftmax: along(*FLOATS),
    tri.Hardmax: along(*FLOATS),
    tri.Resize: resize,
    tri.GridSample: grid_sample,
    tri.Conv: conv,
    tri.ConvTranspose: conv_transpose,
    tri.MaxPool: pool(*NUMBERS),
    tri.MaxPoolIndices: pool(*NUMBERS, storage_order=lambda pick: pick.between(0, 1)),
    tri.AveragePool: pool(*FLOATS, count_include_pad=flag),
    tri.LpPool: pool(*FLOATS, p=lambda pick: pick.one(1, 2)),
    tri.BlockQuantizedMatMul: block_quantized_mat_mul,
    tri.IndexedBlockMatMul: indexed_block_mat_mul,
    tri.IndexedMatMul: indexed_mat_mul,
    tri.MatMul: mat_mul,
    tri.Gemm: gemm,
    tri.Linear: linear,
    tri.Einsum: einsum,
    tri.BatchNorm: per_channel(4),
    tri.InstanceNorm: per_channel(2),
    tri.GroupNorm: per_channel(2, groups=lambda pick: pick.one(1, 2, 4)),
    tri.LayerNorm: last_axes(2),
    tri.RmsNorm: last_axes(1),
    tri.LpNormalize: lp_normalize,
    tri.Lrn: lrn,
    tri.Attention: attention,
    tri.CachedAttention: cached_attention,
    tri.MultiheadAttention: multihead_attention,
    tri.Rnn: recurrent(1),
    tri.Gru: recurrent(3, linear_before_reset=flag),
    tri.RecurrentStack: recurrent_stack,
    tri.Lstm: recurrent(4, states=2, peepholes=3, projects=True, input_forget=flag),
    tri.QuantizedLstm: quantized_lstm,
    tri.TreeEnsemble: tree_ensemble,
}
