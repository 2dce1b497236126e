"""The blocked forms of ops, convolutions excepted: one function for each op with such a form."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import Machine
from ....dialects.core.mlir import ir
from ....dialects.core.op import OPS, Op
from ....dialects.core.tensor import DTYPES
from ....dialects.tri.reduction.reduce import Reduction
from ....passes.rewriting import NoMatch, Rewriter
from ..schedule.costs import loading
from ..schedule.layout_costs import BLOCKED_POOL, BLOCKED_RESIZE, PLAIN_POOL, PLAIN_RESIZE

IMAGES = ("f32", "bf16", "f16", "i32", "ui8", "i8")
"""The element types of blocked images: floats, and bytes with the sums of their products."""

Build = Callable[[Sequence[ir.Value], Rewriter], Op]


@dataclass(frozen=True)
class Form:
    """Describe how to build an op on blocked images.

    `images` are the numbers of the operands that must be blocked; `build` gets these operands, at
    the insertion point of the new op. `plain` and `blocked` are the costs of the op per layout.
    """

    images: tuple[int, ...]
    build: Build
    plain: float = 0.0
    blocked: float = 0.0


@dataclass(frozen=True)
class Blocks:
    """Hold the machine for which images are blocked, and the error allowed to Winograd's method."""

    machine: Machine
    error: float

    @property
    def lanes(self) -> int:
        """The number of channels of a block."""
        return self.machine.lanes(DTYPES["f32"].bits)


Rule = Callable[[Any, Blocks, Rewriter], Form]
RULES: dict[type[Op], Rule] = {}


def has_blocked_form(*classes: type[Op]) -> Callable[[Rule], Rule]:
    """Register the decorated function as the rule for some ops; it raises NoMatch for others."""

    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(classes, rule))
        return rule

    return register


def blocked_form(op: Op, blocks: Blocks, rewriter: Rewriter) -> Form:
    """Return the blocked form of an op; raise NoMatch for an op without one."""
    rule = RULES.get(type(op))
    if rule is None:
        raise NoMatch("has no form for blocked images")
    if len(op.results) != 1 or not is_image(op.results[0], blocks.lanes):
        raise NoMatch(f"does not make an image of {', '.join(IMAGES)} and of whole blocks")
    return rule(op, blocks, rewriter)


def is_image(value: ir.Value, lanes: int) -> bool:
    """Return whether a value is an image of one to three axes that can be cut into blocks."""
    tensor = tensor_of(value.type)
    fits = tensor.rank in (3, 4, 5) and tensor.dtype in IMAGES
    return fits and tensor.shape[1] % lanes == 0 and tensor.likely.size > 0


@has_blocked_form(*[cls for cls in OPS.values() if cls.elementwise])
def _elementwise(op: Op, blocks: Blocks, rewriter: Rewriter) -> Form:
    operands = list(op.operation.operands)
    rank = tensor_of(op.results[0].type).rank
    images = [i for i, v in enumerate(operands) if _has_channels(v, rewriter)]
    if not images or not all(is_image(operands[i], blocks.lanes) for i in images):
        raise NoMatch("has an operand that is not an image of whole blocks")

    def build(blocked: Sequence[ir.Value], rewriter: Rewriter) -> Op:
        known = dict(zip(images, blocked, strict=True))
        values = [
            known[i] if i in known else _spread(v, rank, blocks.lanes, rewriter)
            for i, v in enumerate(op.operation.operands)
        ]
        return type(op).build(*values, **op.attributes)

    return Form(tuple(images), build)


def _has_channels(value: ir.Value, rewriter: Rewriter) -> bool:
    """Return whether an operand must be blocked: it is no constant and no scalar."""
    if tensor_of(value.type).size == 1:
        return False
    return rewriter.find_constant(value) is None


def _spread(value: ir.Value, rank: int, lanes: int, rewriter: Rewriter) -> ir.Value:
    """Give a constant that is broadcast to an image the shape to be broadcast to a blocked one."""
    tensor = tensor_of(value.type)
    if tensor.size == 1:
        return value
    shape = (1,) * (rank - tensor.rank) + tensor.shape
    array = rewriter.constant(value).reshape(shape)
    block = lanes if shape[1] > 1 else 1
    made = cpu.Block(lanes=block).reference(array)
    return tri.build_constant(rewriter.module, made, "blocked").results[0]


@has_blocked_form(tri.MaxPool, tri.AveragePool)
def _pool(op: tri.MaxPool | tri.AveragePool, blocks: Blocks, rewriter: Rewriter) -> Form:
    more: dict[str, Any] = op.attributes
    rank = len(op.kernel)
    for name, size in (("kernel", 1), ("strides", 1), ("dilations", 1)):
        more[name] = (*more[name], size)
    more["pads"] = (*op.pads[:rank], 0, *op.pads[rank:], 0)
    vectors = loading(blocks.machine.core) * tensor_of(op.y.type).likely.size / blocks.lanes
    return Form(
        (0,),
        lambda blocked, _: type(op).build(*blocked, **more),
        PLAIN_POOL * vectors,
        BLOCKED_POOL * vectors,
    )


@has_blocked_form(tri.ReduceMean, tri.ReduceMax, tri.ReduceSum)
def _reduction(op: Reduction, blocks: Blocks, rewriter: Rewriter) -> Form:
    pixels = tuple(range(2, tensor_of(op.x.type).rank))
    if op.axes != pixels or not op.keepdims:
        raise NoMatch("reduces other axes than those of the pixels")
    return Form((0,), lambda blocked, _: type(op).build(*blocked, **op.attributes))


@has_blocked_form(tri.Concat)
def _concat(op: tri.Concat, blocks: Blocks, rewriter: Rewriter) -> Form:
    if op.axis != 1 or not all(is_image(x, blocks.lanes) for x in op.xs):
        raise NoMatch("joins other things than whole blocks of channels")
    return Form(tuple(range(len(op.xs))), lambda blocked, _: tri.Concat.build(blocked, axis=1))


@has_blocked_form(tri.DepthToSpace)
def _depth_to_space(op: tri.DepthToSpace, blocks: Blocks, rewriter: Rewriter) -> Form:
    if op.mode != "DCR":
        raise NoMatch("moves neighbouring channels apart")
    batch, channels, height, width = tensor_of(op.y.type).shape
    size, lanes = op.blocksize, blocks.lanes

    def build(blocked: Sequence[ir.Value], _: Rewriter) -> Op:
        places = (channels // lanes, height // size, width // size, lanes)
        split = tri.Reshape.build(blocked[0], shape=(batch, size, size, *places)).y
        moved = tri.Transpose.build(split, permutation=(0, 3, 4, 1, 5, 2, 6)).y
        return tri.Reshape.build(moved, shape=(batch, channels // lanes, height, width, lanes))

    return Form((0,), build)


@has_blocked_form(tri.Resize)
def _resize(op: tri.Resize, blocks: Blocks, rewriter: Rewriter) -> Form:
    x, y = tensor_of(op.x.type), tensor_of(op.y.type)
    if x.shape[:2] != y.shape[:2] or op.scales[:2] != (1, 1) or op.roi:
        raise NoMatch("resamples other axes than those of the pixels, or crops")
    lanes = blocks.lanes
    more: dict[str, Any] = op.attributes
    more["sizes"] = (y.shape[0], y.shape[1] // lanes, *y.shape[2:], lanes)
    more["scales"] = (*op.scales, 1.0)
    vectors = loading(blocks.machine.core) * y.likely.size / lanes
    return Form(
        (0,),
        lambda blocked, _: tri.Resize.build(*blocked, **more),
        PLAIN_RESIZE * vectors,
        BLOCKED_RESIZE * vectors,
    )


@has_blocked_form(tri.Pad)
def _pad(op: tri.Pad, blocks: Blocks, rewriter: Rewriter) -> Form:
    rank = tensor_of(op.x.type).rank
    if op.pads[1] or op.pads[rank + 1]:
        raise NoMatch("pads channels")
    pads = (*op.pads[:rank], 0, *op.pads[rank:], 0)
    more: dict[str, Any] = op.attributes | {"pads": pads}
    return Form((0,), lambda blocked, _: tri.Pad.build(*blocked, **more))
