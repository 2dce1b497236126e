"""Examples of ops on packed weights: drawn as plain weights, then packed."""

from examples import Example, Maker, Pick
from examples_networks import conv
from trivium.dialects import cpu
from trivium.dialects.core.op import Op


def packed_conv(pick: Pick) -> Example:
    plain = conv(pick)
    x, w, bias = plain.operands
    window = {name: plain.attributes[name] for name in ("strides", "pads", "dilations")}
    block = pick.between(1, 3)
    packed = {"outputs": len(w), "block": block, "kernel": w.shape[2:]}
    return Example(
        (x, cpu.pack_kernels(w, plain.attributes["group"], block), bias), window | packed
    )


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


CPU: dict[type[Op], Maker] = {cpu.PackedConv: packed_conv, cpu.WinogradConv: winograd_conv}
