"""Select what SDP computes value by value: sums, products, other scales, tables."""

from dataclasses import replace
from typing import Any

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.tensor import Array
from .....passes.rewriting import NoMatch
from ...select.elementwise import is_lookup
from ...select.requantized import Term
from ...select.selection import BYTE
from ..dialect.dialect import spell
from ..dialect.single import EXPONENTIAL_ENTRIES, Sdp, spelled
from ..format.operations import Converter, Lut, SdpStage
from ..reference import sdp
from .convolutions import Ending, ending_of
from .places import is_channel_of, spread
from .selection import NvdlaSelection, image_of, image_shape

_SCALE_BITS = 15
_U64 = (1 << 64) - 1


def select_sum(op: tri.Requantize, selection: NvdlaSelection) -> None:
    """Select the sum of two images with factors of their own.

    The operand of stage X2 has a factor that is a power of two: the other factor is relative to it,
    and the converter has what is left. y = (a * ratio + b * 2^k - offset) * scale / 2^truncate.
    """
    made = selection.sole(op.x, tri.Add)
    a, b = (Term.scaled(value, selection) for value in (made.a, made.b))
    shape = tensor_of(op.y.type).shape
    if any(each.shape != shape and not is_channel_of(each.shape, shape) for each in (a, b)):
        raise NoMatch(f"{selection.description.name} adds images of one shape, or of one channel")
    if a.multiplier < b.multiplier:
        a, b = b, a
    if not b.multiplier:
        raise NoMatch("a term has the factor 0")
    bits = _SCALE_BITS - 1 - (a.multiplier // b.multiplier).bit_length() + 1
    ratio = round(a.multiplier * 2**bits / b.multiplier)
    if bits < 0 or ratio >= 1 << _SCALE_BITS:
        raise NoMatch(f"{selection.description.name} adds terms whose factors are closer")
    ending = ending_of(op, selection)
    factor = selection.factor(op, "sum")
    scale = b.multiplier * factor["multiplier"] * 2.0 ** -(factor["shift"] + bits)
    number, truncate = scale_of(scale)
    zeros = a.bytes.zero * ratio + (b.bytes.zero << bits)
    covered = (*a.ops, *b.ops, made)
    with selection.place(*covered):
        y = selection.build(
            Sdp,
            spread(a.bytes.value, shape, selection),
            None,
            spread(b.bytes.value, shape, selection),
            x1=spelled(SdpStage(enable=1, kind=sdp.MULTIPLY, mul_operand=ratio)),
            x2=spelled(SdpStage(enable=1, kind=sdp.ALU, mode=sdp.PER_ELEMENT, shift=bits)),
            offset=zeros - round(ending.zero / scale),
            scale=number,
            truncate=truncate,
        ).result
        y = selection.clamped(y, ending.low, ending.high)
    selection.replaced(y, covered)


def select_product(op: tri.Requantize, selection: NvdlaSelection) -> None:
    """Select the product of two images, one of which may be a pixel, or with constants of channels.

    Stages X multiply by bytes as they are; stage Y takes the zero point of its operand away.
    """
    made = selection.sole(op.x, tri.Mul)
    a, b = (selection.quantized_operand(value) for value in (made.a, made.b))
    shape = tensor_of(op.y.type).shape
    if tensor_of(a.value.type).shape != shape or selection.find_constant(a.value) is not None:
        a, b = b, a
    constant = selection.find_constant(b.value)
    name = selection.description.name
    if tensor_of(a.value.type).shape != shape:
        raise NoMatch(f"{name} multiplies images of the shape of the result")
    if constant is None and b.zero and not a.zero:
        a, b = b, a
    other = tensor_of(b.value.type).shape
    is_channel = is_channel_of(other, shape)
    if constant is None and not is_channel and other not in (shape, (*shape[:2], 1, 1)):
        raise NoMatch(f"{name} multiplies by images of one shape, of one pixel, or of one channel")
    ending = ending_of(op, selection)
    factor = selection.factor(op, "product")
    covered = (*a.ops, *b.ops, made)
    with selection.place(*covered):
        mode = sdp.PER_ELEMENT if other == shape or is_channel else sdp.PER_CHANNEL
        stage = SdpStage(enable=1, kind=sdp.MULTIPLY, mode=mode)
        second = third = None
        if constant is not None:
            stage = SdpStage(enable=1, kind=sdp.MULTIPLY, mode=sdp.PER_CHANNEL, precision=1)
            numbers = _per_channel(constant.astype(np.int64) - b.zero, op, selection)
            second = selection.vector(numbers, "factors")
        elif b.zero:
            stage = replace(stage, mul_converter=Converter(1, 0, 1, b.zero))
            third = spread(b.value, shape, selection)
        else:
            second = spread(b.value, shape, selection)
        y = selection.build(
            Sdp,
            image_of(a.value),
            None,
            second,
            third,
            x1=spelled(SdpStage(enable=1, kind=sdp.ALU, alu_operand=-a.zero)),
            **{"x2" if third is None else "y": spelled(stage)},
            **converter(factor["multiplier"] * 2.0 ** -factor["shift"], ending),
        ).result
        y = selection.clamped(y, ending.low, ending.high)
    selection.replaced(y, covered)


def select_scale(op: tri.Requantize, selection: NvdlaSelection) -> None:
    """Select another scale and zero point of an image."""
    source = selection.quantized_operand(op.x)
    ending = ending_of(op, selection)
    factor = selection.factor(op, "copy")
    stage = SdpStage(
        enable=1,
        kind=sdp.BOTH,
        alu_operand=-source.zero,
        mul_operand=factor["multiplier"],
        truncate=factor["shift"],
    )
    with selection.place(*source.ops):
        image = image_of(source.value)
        y = selection.build(Sdp, image, x1=spelled(stage), offset=-ending.zero).result
        y = selection.clamped(y, ending.low, ending.high)
    selection.replaced(y, source.ops)


def select_lookup(op: tri.Gather, selection: NvdlaSelection) -> None:
    """Select a look-up in a table of 256 bytes, which the linear table of SDP has exactly.

    The other table starts above all values, so that none is in it.
    """
    if not is_lookup(op):
        raise NoMatch("looks up no bytes in a table of all")
    for value in (op.x, op.indices):
        if (dtype := tensor_of(value.type).dtype) != BYTE:
            raise NoMatch(f"{selection.description.name} looks up {BYTE} for {BYTE}, not {dtype}")
    entries = selection.constant(op.x, "entries of the table")
    # A negative index counts from the end of the op's table; that of SDP starts at -128.
    listed = np.roll(entries, 128)
    tables = np.concatenate([np.zeros(EXPONENTIAL_ENTRIES), listed, listed[-1:]]).astype(np.int16)
    form = Lut(
        exponential_start=1 << 20,
        exponential_end=1 << 21,
        linear_start=-128 & _U64,
        linear_end=128,
        hybrid_priority=1,
        underflow_priority=1,
        overflow_priority=1,
        method=1,
    )
    with selection.place():
        y = selection.build(
            Sdp,
            image_of(op.indices),
            None,
            None,
            None,
            selection.build_constant(tables, "table"),
            y=spelled(SdpStage(enable=1, activation=sdp.TABLE)),
            table=spell(form),
        ).result
    selection.replaced(y, ())


def scale_of(factor: float) -> tuple[int, int]:
    """Return the 15 bits and the shift of a factor, as a converter has them."""
    truncate = 0
    while truncate < 62 and round(factor * 2.0 ** (truncate + 1)) < 1 << _SCALE_BITS:
        truncate += 1
    number = round(factor * 2.0**truncate)
    if number >= 1 << _SCALE_BITS:
        raise NoMatch(f"scales by {factor:g}, must be less than {1 << _SCALE_BITS}")
    return number, truncate


def converter(factor: float, ending: Ending) -> dict[str, Any]:
    """Return the fields of a converter that rescales, and adds a zero point."""
    number, truncate = scale_of(factor)
    return {"offset": -round(ending.zero / factor), "scale": number, "truncate": truncate}


def _per_channel(numbers: Array, op: tri.Requantize, selection: NvdlaSelection) -> Array:
    """Return one number for each channel of an image; raise NoMatch if they differ inside."""
    whole = tensor_of(op.y.type).shape
    shape = image_shape(whole)
    aligned = np.broadcast_to(numbers, whole).reshape(shape)
    found = aligned[0, :, 0, 0]
    if not (aligned == found[:, None, None]).all():
        raise NoMatch(f"{selection.description.name} has one factor for each channel")
    return found
