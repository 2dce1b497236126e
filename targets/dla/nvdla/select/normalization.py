"""Select local response normalisation, whose factors CDP interpolates in a table."""

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.quantized import QuantizedType
from .....passes.rewriting import NoMatch
from ...select.selection import BYTE
from ..dialect.dialect import spell
from ..dialect.pools import Cdp
from ..dialect.single import EXPONENTIAL_ENTRIES, LINEAR_ENTRIES
from ..format.operations import Converter, Lut
from .elementwise import scale_of
from .selection import NvdlaSelection

_FACTOR_BITS = 14
_ABOVE_ALL = 1 << 24
"""The sum of 9 squares of 9 bits is less."""


def normalizes(op: tri.StorageCast, selection: NvdlaSelection) -> bool:
    """Report whether bytes are the rounded results of a local response normalisation."""
    rounded = selection.rewriter.find_producer(op.x)
    if op.to != BYTE or not isinstance(rounded, tri.Quantize):
        return False
    return isinstance(selection.rewriter.find_producer(rounded.x), tri.Lrn)


def select_lrn(op: tri.StorageCast, selection: NvdlaSelection) -> None:
    """Select the normalisation of bytes without their zero point, which the input converter takes.

    Of n, the sum of squares, the linear table has (bias + alpha / size * scale^2 * n)^-beta; the
    output converter has the ratio of the scales.
    """
    rounded = selection.rewriter.producer(op.x, tri.Quantize)
    norm = selection.sole(rounded.x, tri.Lrn)
    numbers = selection.rewriter.producer(norm.x, tri.Dequantize)
    stored = selection.rewriter.producer(numbers.x, tri.StorageCast)
    given, made = (_type(tensor_of(each.x.type).dtype) for each in (numbers, op))
    (before,), (after,) = given.scales, made.scales
    bits = max(int(norm.size * 255**2) // (LINEAR_ENTRIES - 1), 1).bit_length()
    sums = np.arange(LINEAR_ENTRIES) * 2.0**bits
    factors = (norm.bias + norm.alpha / norm.size * before**2 * sums) ** -norm.beta
    entries = np.round(factors * 2**_FACTOR_BITS)
    if not entries.max() < 1 << 15:
        raise NoMatch(f"{selection.description.name} normalises by factors of less than 2")
    scale = before / after * 2.0**-_FACTOR_BITS
    number, truncate = scale_of(scale)
    form = Lut(
        linear_offset=bits,
        linear_end=(LINEAR_ENTRIES - 1) << bits,
        exponential_start=_ABOVE_ALL,
        exponential_end=2 * _ABOVE_ALL,
        hybrid_priority=1,
        underflow_priority=1,
        overflow_priority=1,
        method=1,
    )
    tables = np.concatenate([np.zeros(EXPONENTIAL_ENTRIES), entries]).astype(np.int16)
    output = Converter(number, truncate, 1, -round(made.zero_points[0] / scale))
    covered = (rounded, norm, numbers, stored)
    with selection.place(*covered):
        y = selection.build(
            Cdp,
            stored.x,
            selection.build_constant(tables, "factors"),
            local_size=norm.size,
            table=spell(form),
            input=spell(Converter(1, 0, 1, given.zero_points[0])),
            output=spell(output),
        ).y
    selection.replaced(y, covered)


def _type(dtype: str) -> QuantizedType:
    """Return a type with one scale; raise NoMatch for another one, and for other storage."""
    found = QuantizedType.parse(dtype)
    if found.axis is not None or found.storage != BYTE:
        raise NoMatch(f"normalises {BYTE} of one scale, not {dtype}")
    return found
