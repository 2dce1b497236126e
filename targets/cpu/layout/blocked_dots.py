"""The blocked form of convolutions by dot products: of bytes, and of bf16."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ....dialects import cpu
from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import Machine
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import Array, Shape, Tensor
from ....dialects.cpu.vnni import BYTES, VNNI, products_of, unpack_vnni, vnni_count
from ....passes.rewriting import NoMatch, Rewriter
from ..schedule.layout_costs import conv_cost, depthwise_dot_costs, on_blocks, relayout_cost
from ..schedule.products import Product
from ..schedule.schedule import WINOGRAD
from .blocked_convs import border_cost, bordered, build_winograd, unseen
from .blocked_forms import Blocks, Form, has_blocked_form
from .joined_pixels import Dots, JoinedPixels
from .packed_constants import packed_constant

JOINING = 2.0
"""How many times as long as blocking an image its border and transposition take."""


@has_blocked_form(cpu.DotConv, cpu.DotPanelConv)
def _dots(op: Dots, blocks: Blocks, rewriter: Rewriter) -> Form:
    x = tensor_of(op.x.type)
    products = products_of(x, op.signed)
    if isinstance(op, cpu.DotConv) and tensor_of(op.w.type).shape[0] > 1:
        return _lanes(op, blocks)
    whole = x.shape[1] % blocks.lanes == 0 and blocks.lanes % products.count == 0
    images = (0,) if whole else ()
    product = _product(op, vnni_count(x.shape[1], products.count))
    schedule, cost = conv_cost(on_blocks(product), blocks.machine, 0.0)
    tile, by_tiles = _tiled(op, blocks) if whole else (0, math.inf)
    taken: dict[str, Any] = {**op.attributes, "lanes": blocks.lanes, "rows": schedule.rows}
    taken.pop("block", None)

    def pack(words: Array) -> Array:
        return cpu.pack_kernel_columns(_kernels(op, words), schedule.vectors * blocks.lanes)

    def build(blocked: Sequence[ir.Value], rewriter: Rewriter) -> Op:
        if blocked and by_tiles < cost:
            return build_winograd(op, blocked[0], tile, lambda words: _factors(op, words), rewriter)
        w = packed_constant(op, op.w, pack, rewriter)
        if not blocked:
            return cpu.BlockedDotConv.build(op.x, w, op.b, **taken)
        image = bordered(blocked[0], op.pads, op.padding)
        zeros = x.dtype != "i8" and op.padding == 0
        inside: dict[str, Any] = {**taken, "pads": (0,) * len(op.pads)}
        inside["border"] = unseen(op) if zeros else ()
        return cpu.BlockedDotConv.build(image, w, op.b, **inside)

    _, plain = conv_cost(product, blocks.machine, 0.0)
    packing = _packing_cost(op, product, blocks.machine)
    if images:
        return Form(images, build, plain + packing, min(cost, by_tiles) + border_cost(op, blocks))
    form = Form(images, build, plain + packing, cost + packing)
    joined = JoinedPixels.of(op, products.count)
    return form if joined is None else _cheaper(form, _joined(op, joined, form.plain, blocks))


def _cheaper(one: Form, other: Form) -> Form:
    return one if one.blocked <= other.blocked else other


def _joined(op: Dots, pixels: JoinedPixels, plain: float, blocks: Blocks) -> Form:
    """Return the form of a convolution whose words go on from one pixel to the next."""
    product = replace(_product(op, 1), depth=math.prod(pixels.kernel), taps=pixels.kernel)
    schedule, cost = conv_cost(on_blocks(product), blocks.machine, 0.0)
    x = tensor_of(op.x.type)

    def pack(words: Array) -> Array:
        kernels = _factors(op, words)
        return cpu.pack_kernel_columns(pixels.words(kernels), schedule.vectors * blocks.lanes)

    def build(_: Sequence[ir.Value], rewriter: Rewriter) -> Op:
        w = packed_constant(op, op.w, pack, rewriter)
        more: dict[str, Any] = {**op.attributes, **pixels.window}
        more |= {"lanes": blocks.lanes, "rows": schedule.rows}
        more.pop("block", None)
        image = pixels.build_image(op.x, op.padding)
        return cpu.BlockedDotConv.build(image, w, op.b, **more)

    wide = Tensor(x.shape, VNNI)  # a number of f32 in registers for each of the image
    return Form((), build, plain, cost + JOINING * relayout_cost(wide, blocks.machine))


def _tiled(op: Dots, blocks: Blocks) -> tuple[int, float]:
    """Return the tiles by which Winograd's method convolves a blocked image of bf16, and its cost.

    That multiplies in f32, four times less; without tiles, the cost is infinite.
    """
    x = tensor_of(op.x.type)
    if x.dtype != "bf16":
        return 0, math.inf
    wide = on_blocks(replace(_product(op, x.shape[1]), dtype="f32"))
    schedule, cost = conv_cost(wide, blocks.machine, blocks.error)
    return (schedule.rows, cost) if schedule.method == WINOGRAD else (0, math.inf)


def _factors(op: Dots, words: Array) -> Array:
    """Return kernels of numbers: [outputs, channels, taps…]."""
    x = tensor_of(op.x.type)
    return unpack_vnni(_kernels(op, words), 1, products_of(x, op.signed).factor, x.shape[1])


def _lanes(op: cpu.DotConv, blocks: Blocks) -> Form:
    """Return the form of a depthwise convolution."""
    x, y = tensor_of(op.x.type), tensor_of(op.y.type)
    if tensor_of(op.w.type).shape[0] != x.shape[1] or products_of(x).count != BYTES:
        raise NoMatch("has groups of several channels, or of halves")
    if set(op.dilations) != {1} or not y.is_static:
        raise NoMatch("has windows with gaps, or sizes that are only known at run time")
    stride = op.strides[-1]

    def pack(words: Array) -> Array:
        kernels = unpack_vnni(_kernels(op, words), 1, "i8", 1)
        return cpu.pack_lane_words(kernels, blocks.lanes, stride)

    def build(blocked: Sequence[ir.Value], rewriter: Rewriter) -> Op:
        return cpu.LaneDotConv.build(
            bordered(blocked[0], _word_pads(op), op.padding),
            packed_constant(op, op.w, pack, rewriter),
            op.b,
            kernel=op.kernel,
            strides=op.strides,
            sizes=y.shape[2:],
            signed=op.signed,
        )

    plain, inside = depthwise_dot_costs(op, blocks.machine)
    return Form((0,), build, plain, inside + border_cost(op, blocks))


def _word_pads(op: cpu.DotConv) -> Shape:
    """Return the pads of a depthwise convolution, wide enough for all words of the last axis."""
    *others, last = op.pads
    before, size = op.pads[len(op.kernel) - 1], tensor_of(op.x.type).shape[-1]
    width = tensor_of(op.y.type).shape[-1]
    reach = cpu.word_reach(width, op.kernel[-1], op.strides[-1])
    return (*others, max(last, reach - before - size))


def _kernels(op: Dots, words: Array) -> Array:
    """Return kernels as words: [outputs, words of the channels, taps…]."""
    if isinstance(op, cpu.DotPanelConv):
        return cpu.unpack_kernel_columns(words, op.outputs, op.kernel)
    rows = cpu.unpack_rows(words, op.outputs // len(words), op.block)
    return rows.reshape(op.outputs, -1, *op.kernel)


def _product(op: Dots, words: int) -> Product:
    """Return what a convolution multiplies word by word."""
    x, y = (tensor_of(value.type).likely for value in (op.x, op.y))
    strided = any(step != 1 for step in op.strides)
    taps, image = op.kernel, y.shape[2:]
    return Product(
        op.outputs,
        math.prod(image),
        words * math.prod(taps),
        VNNI,
        count=y.shape[0],
        taps=taps,
        image=image,
        moved=strided or any(op.pads) or x.shape[2:] != image,
        plain=not strided and set(op.dilations) <= {1},
        seen=math.prod(x.shape[2:]),
        fixed=tensor_of(op.y.type).is_static,
    )


def _packing_cost(op: Dots, product: Product, machine: Machine) -> float:
    """Return the cost of bringing a plain image into words."""
    batch = tensor_of(op.x.type).likely.shape[0]
    words = Tensor((batch, product.channels, product.seen), VNNI)
    return relayout_cost(words, machine)
