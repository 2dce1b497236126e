"""The blocked forms of convolutions."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.sizes.substitution import likely
from ....dialects.core.tensor import Array, Shape
from ....dialects.cpu.winograd import TRANSFORMS
from ....passes.building import cast
from ....passes.rewriting import NoMatch, Rewriter, uses
from ..schedule.layout_costs import conv_cost, depthwise_costs, on_blocks, relayout_cost
from ..schedule.products import Product, product_of
from ..schedule.schedule import SCHEDULE, WINOGRAD
from .blocked_forms import Blocks, Form, has_blocked_form
from .conv_phases import BlockedPhases
from .packed_constants import packed_constant
from .winograd_layout import panel_vectors, tiles_at_a_time
from .winograd_weights import Convolution, fit_f16, transformed_parts


@has_blocked_form(tri.Conv)
def _conv(op: tri.Conv, blocks: Blocks, rewriter: Rewriter) -> Form:
    if SCHEDULE in op.operation.attributes:
        raise NoMatch("has a schedule for a plain image")
    outputs, channels, *_ = tensor_of(op.w.type).shape
    rewriter.need_weight(op.w)
    if outputs == channels * op.group and channels < blocks.lanes and op.group > 1:
        return _lanes(op, blocks)
    product = product_of(op)
    whole = channels % blocks.lanes == 0
    if product is None or product.outputs % blocks.lanes or not (whole or op.group == 1):
        raise NoMatch(f"has groups of {channels} channels, in blocks of {blocks.lanes}")
    return _dense(op, product, blocks)


@has_blocked_form(tri.ConvTranspose)
def _conv_transpose(op: tri.ConvTranspose, blocks: Blocks, rewriter: Rewriter) -> Form:
    rewriter.need_weight(op.w)
    phases = BlockedPhases.of(op, blocks.lanes)
    count, taps, y = math.prod(op.strides), phases.taps, tensor_of(op.y.type)
    schedule, cost = conv_cost(_product_of_phases(op, phases), blocks.machine, 0.0)

    def build(blocked: Sequence[ir.Value], rewriter: Rewriter) -> Op:
        def pack(kernels: Array) -> Array:
            columns = schedule.vectors * blocks.lanes
            return cpu.pack_phases(kernels, op.strides, phases.crops, columns)

        return cpu.BlockedConvTranspose.build(
            bordered(blocked[0], (*phases.before, *phases.after)),
            packed_constant(op, op.w, pack, rewriter),
            op.b,
            outputs=y.shape[1],
            kernel=taps,
            strides=op.strides,
            crops=phases.crops,
            sizes=y.shape[2:],
            rows=schedule.rows,
        )

    # On a plain image every output is multiplied by all taps, of which it sees one in `count`.
    return Form((0,), build, count * cost, cost)


def _product_of_phases(op: tri.ConvTranspose, phases: BlockedPhases) -> Product:
    """Return what all phases of a transposed convolution multiply, at the likely sizes."""
    x, y = (tensor_of(value.type).likely for value in (op.x, op.y))
    counts = tuple(map(likely, phases.counts))
    after = map(likely, phases.after)
    return Product(
        outputs=y.shape[1],
        points=math.prod(counts),
        depth=x.shape[1] * math.prod(phases.taps),
        dtype=y.dtype,
        count=y.shape[0] * math.prod(op.strides),
        taps=phases.taps,
        image=counts,
        moved=True,
        seen=math.prod(map(sum, zip(x.shape[2:], phases.before, after, strict=True))),
        blocked=True,
    )


def _lanes(op: tri.Conv, blocks: Blocks) -> Form:
    """Return the form of a convolution whose groups are parts of a block."""
    channels = tensor_of(op.w.type).shape[1]
    if blocks.lanes % channels:
        raise NoMatch(f"has groups of {channels} channels, in blocks of {blocks.lanes}")
    if channels == 1:
        plain, blocked = depthwise_costs(op, blocks.machine)
    else:
        product = product_of(op)
        assert product is not None, "a constant kernel of several channels makes a product"
        _, plain = conv_cost(product, blocks.machine, 0.0)
        blocked = channels * depthwise_costs(op, blocks.machine)[1]

    def build(images: Sequence[ir.Value], rewriter: Rewriter) -> Op:
        w = packed_constant(op, op.w, lambda w: cpu.pack_lanes(w, blocks.lanes), rewriter)
        image = bordered(images[0], op.pads)
        return cpu.LaneConv.build(image, w, op.b, **_window(op))

    return Form((0,), build, plain, blocked + border_cost(op, blocks))


def _dense(op: tri.Conv, product: Product, blocks: Blocks) -> Form:
    """Return the form of a convolution that sums over whole blocks, or over a plain image."""
    machine, lanes = blocks.machine, blocks.lanes
    images = (0,) if tensor_of(op.x.type).shape[1] % lanes == 0 else ()
    error = blocks.error if images else 0.0
    schedule, cost = conv_cost(on_blocks(product), machine, error)

    def build(blocked: Sequence[ir.Value], rewriter: Rewriter) -> Op:
        image = blocked[0] if blocked else op.x
        if schedule.method == WINOGRAD:
            return build_winograd(op, image, schedule.rows, lambda kernels: kernels, rewriter)

        def pack(kernels: Array) -> Array:
            return cpu.pack_group_columns(kernels, op.group, schedule.vectors * lanes)

        return cpu.BlockedConv.build(
            bordered(image, op.pads),
            packed_constant(op, op.w, pack, rewriter),
            op.b,
            outputs=tensor_of(op.w.type).shape[0],
            lanes=lanes,
            group=op.group,
            rows=schedule.rows,
            border=unseen(op),
            **_window(op),
        )

    _, plain = conv_cost(product, machine, blocks.error)
    return Form(images, build, plain, cost + border_cost(op, blocks))


def build_winograd(
    op: Convolution,
    image: ir.Value,
    tile: int,
    kernels: Callable[[Array], Array],
    rewriter: Rewriter,
) -> Op:
    """Build a convolution of a blocked image by Winograd's method.

    `kernels` returns the kernels, [outputs, channels, taps…], of the constant that the op has.
    """
    _, outputs, *sizes = tensor_of(op.y.type).shape
    lanes = tensor_of(image.type).shape[-1]
    vectors = panel_vectors(outputs // lanes, _batches(op, tile))

    def split(weight: Array) -> list[Array]:
        return [cpu.tap_columns(kernels(weight), vectors * lanes)]

    narrow = tensor_of(op.x.type).dtype == "bf16" and fit_f16(kernels(rewriter.constant(op.w)))
    (u,) = transformed_parts(op, tile, split, rewriter, "f16" if narrow else "f32")
    ends = [*op.pads[len(sizes) :]]
    for axis in (-2, -1):
        ends[axis] += cpu.whole_tiles(sizes[axis], tile) - sizes[axis]
    wide = bordered(image, (*op.pads[: len(sizes)], *ends))
    more: dict[str, Any] = {"tile": tile, "outputs": outputs, "sizes": tuple(sizes)}
    b = None if op.b is None else cast(op.b, "f32")
    return cpu.BlockedWinogradConv.build(wide, u, b, **more)


def _batches(op: Convolution, tile: int) -> int:
    """Return how many batches of tiles are transformed, each before its products."""
    _, channels, *taps = tensor_of(op.w.type).shape
    count, _, *sizes = map(likely, tensor_of(op.y.type).shape)
    planes = math.prod(sizes[:-2]) + math.prod(taps[:-2]) - 1
    tiles = math.prod(-(-size // tile) for size in sizes[-2:])
    return count * -(-tiles // tiles_at_a_time(TRANSFORMS[tile].points ** 2, channels, planes))


def bordered(image: ir.Value, pads: Shape, value: float = 0.0) -> ir.Value:
    """Put the numbers around an image that windows see beyond its border."""
    if not any(pads):
        return image
    rank = len(pads) // 2
    after = (0,) * (tensor_of(image.type).rank - 2 - rank)
    whole = (0, 0, *pads[:rank], *after, 0, 0, *pads[rank:], *after)
    return tri.Pad.build(image, pads=whole, value=value).y


def unseen(op: tri.Conv | cpu.DotKernelConv) -> Shape:
    """Return the border that code passes over: that of taps far apart, or of planes, if any."""
    pays = max(op.dilations) > 1 or len(op.strides) > 2
    return op.pads if any(op.pads) and pays and tensor_of(op.y.type).is_static else ()


def border_cost(op: tri.Conv | cpu.DotKernelConv, blocks: Blocks) -> float:
    """Return the cost of the border of an image; 0 if the convolution is the image's only user."""
    if not any(op.pads) or uses(op.x) == 1:
        return 0.0
    return relayout_cost(tensor_of(op.x.type), blocks.machine)


def _window(op: tri.Conv) -> dict[str, Any]:
    kernel = tensor_of(op.w.type).shape[2:]
    return {"kernel": kernel, "strides": op.strides, "dilations": op.dilations}
