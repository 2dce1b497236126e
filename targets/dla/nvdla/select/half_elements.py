"""Select arithmetic on images of f16, or on an image and constants: an operand of SDP."""

from collections.abc import Callable

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Array
from .....passes.rewriting import NoMatch
from ..reference import sdp
from .places import is_channel_of, spread
from .selection import NvdlaSelection, image_of, image_shape
from .stages import Stage, channel_vector, select_stages

Pair = tri.Add | tri.Sub | tri.Mul | tri.Div
NEGATED = Stage.of(sdp.MULTIPLY, -1.0)
_LEAST_NORMAL = 2.0**-14


def select_elements(kind: int) -> Callable[[Pair, NvdlaSelection], None]:
    """Return the rule for sums or products of images, or of an image and constants."""

    def rule(op: Pair, selection: NvdlaSelection) -> None:
        shape = tensor_of(op.y.type).shape
        a, b = op.a, op.b
        if selection.find_constant(a) is not None or tensor_of(a.type).shape != shape:
            a, b = b, a
        _select(op, selection, a, lambda: [Stage.of(kind, _operand(b, op, selection))])

    return rule


def select_difference(op: tri.Sub, selection: NvdlaSelection) -> None:
    """Select the sum of an image and negative constants, or of a negative image and an operand."""
    constant = selection.find_constant(op.b)
    if constant is not None:
        _select(op, selection, op.a, lambda: [_constant_stage(sdp.ALU, -constant, op, selection)])
        return
    _select(
        op, selection, op.b, lambda: [NEGATED, Stage.of(sdp.ALU, _operand(op.a, op, selection))]
    )


def select_quotient(op: tri.Div, selection: NvdlaSelection) -> None:
    """Select the product with the reciprocals of constants, which are rounded to f16."""
    name = selection.description.name
    constant = selection.find_constant(op.b)
    if constant is None:
        raise NoMatch(f"{name} divides by constants")
    with np.errstate(all="ignore"):
        shares = (1 / constant.astype(np.float64)).astype(np.float16)
    if not (np.isfinite(shares) & (np.abs(shares) >= _LEAST_NORMAL)).all():
        raise NoMatch(f"{name} divides by constants whose reciprocals f16 has with all bits")
    _select(op, selection, op.a, lambda: [_constant_stage(sdp.MULTIPLY, shares, op, selection)])


def _select(
    op: Pair, selection: NvdlaSelection, image: ir.Value, stages: Callable[[], list[Stage]]
) -> None:
    """Replace an op by stages on an image of the shape of its result."""
    if tensor_of(image.type).shape != tensor_of(op.y.type).shape:
        name = selection.description.name
        raise NoMatch(f"{name} computes on images of the shape of the result")
    with selection.place():
        built = stages()
    select_stages(op, selection, image, built)


def _operand(value: ir.Value, op: Pair, selection: NvdlaSelection) -> ir.Value:
    """Build the operand of a stage: constants of channels, or an image, which may be of one pixel
    or have one value for each pixel."""
    constant = selection.find_constant(value)
    if constant is not None:
        return _vector(constant, op, selection)
    whole, given = tensor_of(op.y.type).shape, tensor_of(value.type).shape
    if given == whole or is_channel_of(given, whole):
        return spread(value, whole, selection)
    if len(given) == len(whole) and image_shape(given) == (*whole[:2], 1, 1):
        return image_of(value)
    name = selection.description.name
    raise NoMatch(f"{name} computes on images of one shape, of one pixel, or of one channel")


def _constant_stage(kind: int, numbers: Array, op: Pair, selection: NvdlaSelection) -> Stage:
    return Stage.of(kind, _vector(numbers, op, selection))


def _vector(numbers: Array, op: Pair, selection: NvdlaSelection) -> ir.Value:
    found = channel_vector(numbers, op)
    if found is None:
        raise NoMatch(f"{selection.description.name} has one constant for each channel")
    return selection.build_constant(found, "operands")
