"""Examples of ops on packed weights: drawn as plain weights, then packed."""

import numpy as np
from examples import Example, Maker, Pick
from examples_moves import tensor_scatter
from examples_networks import conv
from trivium.dialects import cpu
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array
from trivium.dialects.cpu.block_quantized import BlockLayout
from trivium.dialects.cpu.matmul import NARROW
from trivium.dialects.cpu.packing import pack_columns
from trivium.dialects.cpu.vnni import PRODUCTS


def packed_conv(pick: Pick) -> Example:
    plain = conv(pick)
    x, w, bias = plain.operands
    window = {name: plain.attributes[name] for name in ("strides", "pads", "dilations")}
    block = pick.between(1, 3)
    packed = {"outputs": len(w), "block": block, "kernel": w.shape[2:]}
    return Example(
        (x, cpu.pack_kernels(w, plain.attributes["group"], block), bias), window | packed
    )


def panel_conv(pick: Pick) -> Example:
    channels, outputs, rank = pick.between(1, 3), pick.between(1, 40), pick.between(1, 2)
    kernel = pick.ints(rank, 1, 3)
    x = pick.array((pick.between(1, 2), channels, *pick.ints(rank, 5, 7)), "f32")
    w = cpu.pack_kernel_columns(
        pick.array((outputs, channels, *kernel), "f32"), pick.between(1, 2) * 16
    )
    bias = pick.maybe(pick.array((outputs,), "f32"))
    window = {
        "strides": pick.ints(rank, 1, 3),
        "pads": pick.ints(2 * rank, 0, 2),
        "dilations": pick.ints(rank, 1, 2),
    }
    return Example((x, w, bias), {"outputs": outputs, "kernel": kernel} | window)


def packed_mat_mul(pick: Pick) -> Example:
    depth, columns, block = pick.between(1, 9), pick.between(1, 40), pick.between(1, 2) * 16
    a = pick.array((*pick.ints(pick.between(0, 2), 1, 3), pick.between(1, 20), depth), "f32")
    w = pack_columns(pick.array((depth, columns), pick.one("f32", *NARROW)), block)
    return Example((a, w), {"columns": columns})


def packed_block_mat_mul(pick: Pick) -> Example:
    scales, zeros = pick.one("f32", "f16", "bf16"), pick.one("", "ui8", "f32")
    layout = BlockLayout(pick.one(2, 4, 8), pick.one(16, 64), scales, zeros)
    depth, columns, width = pick.between(1, 80), pick.between(1, 40), pick.between(1, 2) * 16
    shape = (columns, -(-depth // layout.block))
    w = pick.array((*shape, layout.block * layout.bits // 8), "ui8") * np.uint8(61)
    given = None if not zeros else pick.array(shape, zeros)
    packed = layout.pack(w, pick.array(shape, scales), given, width)
    a = pick.array((*pick.ints(pick.between(0, 2), 1, 3), pick.between(1, 20), depth), "f32")
    sizes = {"bits": layout.bits, "block": layout.block, "columns": columns}
    return Example((a, packed), {**sizes, "scales": scales, "zero_points": zeros})


def quantize_blocks(pick: Pick) -> Example:
    shape = (*pick.ints(pick.between(0, 2), 1, 3), pick.between(1, 80))
    x = pick.array(shape, pick.one("f32", "f16", "bf16"))
    return Example((x,), {"block": pick.one(16, 32, 64)})


def dot_block_mat_mul(pick: Pick) -> Example:
    plain = packed_block_mat_mul(pick)
    a, packed = plain.operands
    rounded = cpu.QuantizeBlocks(block=plain.attributes["block"]).reference(a)
    to = pick.one("f32", "f16", "bf16")
    return Example((*rounded, packed), {**plain.attributes, "to": to})


def dot_indexed_block_mat_mul(pick: Pick) -> Example:
    plain = packed_block_mat_mul(pick)
    (_, packed), groups, rows = plain.operands, pick.between(1, 3), pick.between(1, 9)
    blocks, block = packed.shape[1], plain.attributes["block"]
    a = pick.array((rows, blocks * block), "f32")
    index = pick.array((rows,), pick.one("i32", "i64")) % (groups + 2) - 1
    matrices = np.stack([np.roll(packed, group, axis=0) for group in range(groups)])
    rounded = cpu.QuantizeBlocks(block=block).reference(a)
    to = pick.one("f32", "f16", "bf16")
    return Example((*rounded, matrices, index), {**plain.attributes, "to": to})


def dot_mat_mul(pick: Pick) -> Example:
    dtype, depth, columns = pick.one(*PRODUCTS), pick.between(1, 70), pick.between(1, 40)
    a = pick.array((*pick.ints(pick.between(0, 2), 1, 3), pick.between(1, 20), depth), dtype)
    products = PRODUCTS[dtype]
    w = pick.array((depth, columns), products.factor)
    bias = pick.array((columns,), products.sums)
    block = pick.between(1, 2) * 16
    attributes = {"columns": columns, "signed": _signed(pick, dtype)}
    return Example((a, cpu.pack_vnni_columns(w, block), bias), attributes)


def _signed(pick: Pick, dtype: str) -> bool:
    return dtype != "bf16" and pick.one(False, True)


def dot_conv(pick: Pick) -> Example:
    dtype, group, rank = pick.one(*PRODUCTS), pick.between(1, 2), pick.between(1, 3)
    channels, outputs = pick.between(1, 9), group * pick.between(1, 9)
    kernel, block = pick.ints(rank, 1, 3), pick.between(1, 3)
    x = pick.array((pick.between(1, 2), group * channels, *pick.ints(rank, 5, 7)), dtype)
    w = pick.array((outputs, channels, *kernel), PRODUCTS[dtype].factor)
    bias = pick.array((outputs,), PRODUCTS[dtype].sums)
    attributes = {
        "outputs": outputs,
        "block": block,
        "kernel": kernel,
        "strides": pick.ints(rank, 1, 3),
        "pads": pick.ints(2 * rank, 0, 2),
        "dilations": pick.ints(rank, 1, 2),
        "padding": 0 if dtype == "bf16" else pick.between(0, 100),
        "signed": _signed(pick, dtype),
    }
    return Example((x, cpu.pack_vnni_kernels(w, group, block), bias), attributes)


def dot_panel_conv(pick: Pick) -> Example:
    dtype, rank = pick.one(*PRODUCTS), pick.between(1, 2)
    channels, outputs, kernel = pick.between(1, 9), pick.between(1, 40), pick.ints(rank, 1, 3)
    x = pick.array((pick.between(1, 2), channels, *pick.ints(rank, 5, 7)), dtype)
    w = pick.array((outputs, channels, *kernel), PRODUCTS[dtype].factor)
    bias = pick.array((outputs,), PRODUCTS[dtype].sums)
    attributes = {
        "outputs": outputs,
        "kernel": kernel,
        "strides": pick.ints(rank, 1, 3),
        "pads": pick.ints(2 * rank, 0, 2),
        "dilations": pick.ints(rank, 1, 2),
        "padding": 0 if dtype == "bf16" else pick.between(0, 100),
        "signed": _signed(pick, dtype),
    }
    block = pick.between(1, 2) * 16
    return Example((x, cpu.pack_vnni_kernel_columns(w, block), bias), attributes)


def blocked_dot_conv(pick: Pick) -> Example:
    made = dot_panel_conv(pick)
    x = made.operands[0]
    outputs, kernel = made.attributes["outputs"], made.attributes["kernel"]
    if x.shape[1] % 4 == 0:
        x = cpu.Block(lanes=4).reference(x)
        made.attributes["pads"] = (0,) * 2 * len(kernel)
    lanes = pick.one(*[n for n in range(1, 17) if outputs % n == 0])
    more = {"lanes": lanes, "rows": pick.between(0, 3)}
    return Example((x, *made.operands[1:]), made.attributes | more)


def lane_dot_conv(pick: Pick) -> Example:
    lanes, rank, dtype = pick.one(4, 8), pick.between(1, 2), pick.one("ui8", "i8")
    channels, kernel, strides = (
        lanes * pick.between(1, 2),
        pick.ints(rank, 1, 6),
        pick.ints(rank, 1, 3),
    )
    sizes = pick.ints(rank, 1, 5)
    lines = zip(sizes[:-1], strides, kernel, strict=False)
    reach = [(size - 1) * stride + taps for size, stride, taps in lines]
    spare = pick.ints(rank, 0, 2)
    image = (*reach, cpu.word_reach(sizes[-1], kernel[-1], strides[-1]))
    x = pick.array((pick.between(1, 2), channels, *map(sum, zip(image, spare, strict=True))), dtype)
    w = cpu.pack_lane_words(pick.array((channels, 1, *kernel), "i8"), lanes, strides[-1])
    attributes = {"kernel": kernel, "strides": strides, "sizes": sizes}
    attributes["signed"] = _signed(pick, dtype)
    bias = pick.array((channels,), "i32")
    return Example((cpu.Block(lanes=lanes).reference(x), w, bias), attributes)


def winograd_conv(pick: Pick) -> Example:
    channels, outputs, tile, block = (
        pick.between(1, 3),
        pick.between(1, 5),
        pick.one(2, 4),
        pick.between(1, 4),
    )
    x = pick.array((pick.between(1, 2), channels, *pick.ints(2, 3, 19)), "f32")
    u = cpu.transform_kernels(pick.array((outputs, channels, 3, 3), "f32"), tile, block)
    bias = pick.maybe(pick.array((outputs,), "f32"))
    pads = pick.ints(4, 0, 2)
    attributes = {"tile": tile, "outputs": outputs, "block": block, "pads": pads}
    return Example((x, u, bias), attributes)


def block(pick: Pick) -> Example:
    lanes = pick.between(1, 4)
    sizes = (pick.between(1, 2), lanes * pick.between(1, 3), *pick.ints(pick.between(0, 2), 1, 5))
    return Example((pick.array(sizes, "f32"),), {"lanes": lanes})


def unblock(pick: Pick) -> Example:
    return Example((pick.array(pick.ints(pick.between(3, 5), 1, 5), "f32"),), {})


def _blocked_image(pick: Pick, channels: int, lanes: int, *spatial: int) -> Array:
    x = pick.array((pick.between(1, 2), channels, *spatial), "f32")
    return cpu.Block(lanes=lanes).reference(x)


def blocked_conv(pick: Pick) -> Example:
    group, lanes, rank = pick.between(1, 2), pick.one(2, 4), pick.between(1, 2)
    channels, outputs = lanes * pick.between(1, 2), group * lanes * pick.between(1, 3)
    kernel = pick.ints(rank, 1, 2)
    x = _blocked_image(pick, group * channels, lanes, *pick.ints(rank, 5, 7))
    w = pick.array((outputs, channels, *kernel), "f32")
    packed = cpu.pack_group_columns(w, group, lanes * pick.between(1, 2))
    window = {"strides": pick.ints(rank, 1, 3), "dilations": pick.ints(rank, 1, 2)}
    more = {"outputs": outputs, "lanes": lanes, "group": group, "kernel": kernel}
    if pick.one(False, True):
        x, more["border"] = _with_border(pick, x, rank)
    return Example((x, packed, pick.maybe(pick.array((outputs,), "f32"))), more | window)


def _with_border(pick: Pick, x: Array, rank: int) -> tuple[Array, tuple[int, ...]]:
    """Put zeros around the pixels of a blocked image."""
    begins, ends = pick.ints(rank, 0, 4), pick.ints(rank, 0, 4)
    around = [(0, 0), (0, 0), *zip(begins, ends, strict=True), (0, 0)]
    return np.pad(x, around), (*begins, *ends)


def blocked_conv_transpose(pick: Pick) -> Example:
    lanes, rank = pick.one(2, 4), pick.between(1, 2)
    channels, outputs = lanes * pick.between(1, 2), lanes * pick.between(1, 3)
    taps, strides, counts = pick.ints(rank, 1, 2), pick.ints(rank, 1, 3), pick.ints(rank, 1, 4)
    crops = tuple(pick.between(0, stride - 1) for stride in strides)
    sizes = [count + (c > 0) + n - 1 for count, c, n in zip(counts, crops, taps, strict=True)]
    spare = pick.ints(rank, 0, 1)
    x = _blocked_image(pick, channels, lanes, *map(sum, zip(sizes, spare, strict=True)))
    whole = tuple(n * stride for n, stride in zip(taps, strides, strict=True))
    w = pick.array((channels, outputs, *whole), "f32")
    packed = cpu.pack_phases(w, strides, crops, lanes * pick.between(1, 2))
    made = tuple(count * stride for count, stride in zip(counts, strides, strict=True))
    window = {"kernel": taps, "strides": strides, "crops": crops, "sizes": made}
    bias = pick.maybe(pick.array((outputs,), "f32"))
    return Example((x, packed, bias), {"outputs": outputs} | window)


def lane_conv(pick: Pick) -> Example:
    lanes, rank = pick.one(4, 8), pick.between(1, 2)
    outputs, kernel = lanes * pick.between(1, 2), pick.ints(rank, 1, 3)
    x = _blocked_image(pick, outputs, lanes, *pick.ints(rank, 5, 7))
    w = cpu.pack_lanes(pick.array((outputs, pick.one(1, 2, 4), *kernel), "f32"), lanes)
    window = {"strides": pick.ints(rank, 1, 3), "dilations": pick.ints(rank, 1, 2)}
    bias = pick.maybe(pick.array((outputs,), "f32"))
    return Example((x, w, bias), {"kernel": kernel} | window)


def blocked_winograd_conv(pick: Pick) -> Example:
    tile, lanes, sizes = pick.one(2, 4), pick.one(2, 4), pick.ints(2, 1, 9)
    channels, outputs = lanes * pick.between(1, 2), lanes * pick.between(1, 3)
    reach = [cpu.whole_tiles(size, tile) + 2 for size in sizes]
    planes, taps = pick.ints(pick.one(0, 1), 1, 3), pick.between(1, 3)
    seen = [count + taps - 1 for count in planes]
    x = _blocked_image(pick, channels, lanes, *seen, *reach)
    w = pick.array((outputs, channels, *(taps,) * len(planes), 3, 3), "f32")
    u = cpu.transform_kernel_columns(w, tile, lanes * pick.between(1, 2))
    bias = pick.maybe(pick.array((outputs,), "f32"))
    sizes = (*planes, *sizes)
    return Example((x, u, bias), {"tile": tile, "outputs": outputs, "sizes": sizes})


def _recurrent(pick: Pick, parts: tuple[int, ...], hidden: int, shown: int = 0) -> Example:
    """Make inputs, packed weights, lengths and a first state, with the attributes of all layers.

    The state has `shown` elements, or as many as the cell.
    """
    directions, batch, gates = pick.between(1, 2), pick.between(1, 3), sum(parts)
    x = pick.array((pick.between(1, 4), batch, directions * gates * hidden), "f32")
    r = pick.array((directions, gates * hidden, shown or hidden), "f32")
    packed = cpu.pack_recurrent(r, parts, pick.one(1, 4, 16))
    state = pick.maybe(pick.array((directions, batch, shown or hidden), "f32"))
    direction = "bidirectional" if directions > 1 else pick.one("forward", "reverse")
    common = {"hidden_size": hidden, "direction": direction, "clip": pick.one(0.0, 1.5)}
    lengths = pick.maybe(np.array(pick.ints(batch, 0, len(x)), pick.one("i4", "i8")))
    return Example((x, packed, lengths, state), common)


def packed_rnn(pick: Pick) -> Example:
    hidden = pick.between(1, 5)
    made = _recurrent(pick, (1,), hidden)
    names = ("Tanh", "Relu", "Affine", "Elu", "HardSigmoid", "LeakyRelu", "ScaledTanh", "Softplus")
    functions = tuple(pick.one(*names) for _ in range(made.operands[1].shape[0]))
    parameters = {"alphas": (0.4, 0.3), "betas": (0.7,)}
    return Example(made.operands, made.attributes | {"activations": functions} | parameters)


def packed_gru(pick: Pick) -> Example:
    hidden, linear = pick.between(1, 5), pick.flag()
    made = _recurrent(pick, cpu.gru_parts(linear), hidden)
    directions = made.operands[1].shape[0]
    bias = pick.maybe(pick.array((directions, hidden), "f32")) if linear else None
    return Example((*made.operands, bias), made.attributes | {"linear_before_reset": linear})


def packed_lstm(pick: Pick) -> Example:
    hidden, shown = pick.between(1, 5), pick.one(0, 1, 3)
    made = _recurrent(pick, (4,), hidden, shown)
    (x, r, *states), projection = made.operands, None
    directions = r.shape[0]
    if shown:
        plain = pick.array((directions, shown, hidden), "f32")
        projection = cpu.pack_recurrent(plain, (1,), pick.one(4, 8))
    memory = pick.maybe(pick.array((directions, x.shape[1], hidden), "f32"))
    p = pick.maybe(pick.array((directions, 3 * hidden), "f32"))
    attributes = made.attributes | {"input_forget": pick.flag()}
    return Example((x, r, *states, memory, p, projection), attributes)


def dot_lstm(pick: Pick) -> Example:
    hidden = pick.between(1, 5)
    made = _recurrent(pick, (4,), hidden)
    x, packed, *states = made.operands
    directions = packed.shape[0]
    r = pick.array((directions, hidden, 4 * hidden), "i8")
    memory = pick.maybe(pick.array((directions, x.shape[1], hidden), "f32"))
    scale = pick.array((directions, 4 * hidden), "f32")
    words = cpu.pack_vnni_recurrent(r, pick.one(16, 32))
    sums = r.sum(1, dtype=np.int32)
    p = pick.maybe(pick.array((directions, 3 * hidden), "f32"))
    attributes = made.attributes | {"input_forget": pick.flag()}
    return Example((x, words, scale, sums, *states, memory, p), attributes)


def quantize(pick: Pick) -> Example:
    x = 200 * pick.array(pick.ints(pick.between(0, 3), 1, 9), "f32")
    to, low = pick.one(("ui8", 0), ("i8", -128))
    more = {"zero": pick.between(-200, 200), "low": low + 3, "high": low + 250, "to": to}
    return Example((x,), more)


def look_up(pick: Pick) -> Example:
    to = pick.one("ui8", "i8")
    x = pick.array(pick.ints(pick.between(0, 3), 1, 9), pick.one("ui8", "i8"))
    first = 0 if to == "ui8" else -128
    return Example((x,), {"table": [first + n * 7 % 256 for n in range(256)], "to": to})


def append(pick: Pick) -> Example:
    before, rows, columns = pick.between(0, 2), pick.between(0, 3), pick.between(1, 3)
    shapes = [(*[1] * before, count, columns) for count in (rows, pick.between(1, 3))]
    dtype = pick.one("f32", "i8")
    x, added = (pick.array(shape, dtype) for shape in shapes)
    return Example((x, [added]), {"axis": before})


CPU: dict[type[Op], Maker] = {
    cpu.Append: append,
    cpu.TensorScatter: tensor_scatter,
    cpu.Block: block,
    cpu.BlockedConv: blocked_conv,
    cpu.BlockedConvTranspose: blocked_conv_transpose,
    cpu.BlockedDotConv: blocked_dot_conv,
    cpu.BlockedWinogradConv: blocked_winograd_conv,
    cpu.DotConv: dot_conv,
    cpu.DotLstm: dot_lstm,
    cpu.DotMatMul: dot_mat_mul,
    cpu.DotPanelConv: dot_panel_conv,
    cpu.LaneConv: lane_conv,
    cpu.LaneDotConv: lane_dot_conv,
    cpu.LookUp: look_up,
    cpu.PackedConv: packed_conv,
    cpu.PackedGru: packed_gru,
    cpu.PackedLstm: packed_lstm,
    cpu.PackedMatMul: packed_mat_mul,
    cpu.DotBlockMatMul: dot_block_mat_mul,
    cpu.DotIndexedBlockMatMul: dot_indexed_block_mat_mul,
    cpu.Quantize: quantize,
    cpu.QuantizeBlocks: quantize_blocks,
    cpu.PackedBlockMatMul: packed_block_mat_mul,
    cpu.PackedRnn: packed_rnn,
    cpu.PanelConv: panel_conv,
    cpu.Unblock: unblock,
    cpu.WinogradConv: winograd_conv,
}
