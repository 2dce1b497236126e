"""Examples of ops on packed weights: drawn as plain weights, then packed."""

from examples import Example, Maker, Pick
from examples_networks import conv
from trivium.dialects import cpu
from trivium.dialects.core.op import Op
from trivium.dialects.cpu.packing import pack_columns
from trivium.dialects.cpu.words import PRODUCTS


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
    w = pack_columns(pick.array((depth, columns), "f32"), block)
    return Example((a, w), {"columns": columns})


def dot_mat_mul(pick: Pick) -> Example:
    dtype, depth, columns = pick.one(*PRODUCTS), pick.between(1, 70), pick.between(1, 40)
    a = pick.array((*pick.ints(pick.between(0, 2), 1, 3), pick.between(1, 20), depth), dtype)
    products = PRODUCTS[dtype]
    w = pick.array((depth, columns), products.factor)
    bias = pick.array((columns,), products.sums)
    block = pick.between(1, 2) * 16
    return Example((a, cpu.pack_word_columns(w, block), bias), {"columns": columns})


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
    }
    return Example((x, cpu.pack_word_kernels(w, group, block), bias), attributes)


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
    }
    block = pick.between(1, 2) * 16
    return Example((x, cpu.pack_word_kernel_columns(w, block), bias), attributes)


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


CPU: dict[type[Op], Maker] = {
    cpu.DotConv: dot_conv,
    cpu.DotMatMul: dot_mat_mul,
    cpu.DotPanelConv: dot_panel_conv,
    cpu.PackedConv: packed_conv,
    cpu.PackedMatMul: packed_mat_mul,
    cpu.PanelConv: panel_conv,
    cpu.WinogradConv: winograd_conv,
}
