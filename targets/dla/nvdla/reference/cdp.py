"""The cross-channel data processor: local response normalisation by look-up tables."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..format.network import Precision
from ..format.operations import CdpOperation, Lut
from .arithmetic import Integers, convert, saturate, shift_right
from .cdp_fp16 import normalize_fp16
from .lookup import Table, choose, find, outside, signed, tables

_VALUE_BITS = 38
_INPUT_SHIFT_BITS = 5
_OUTPUT_OFFSET_BITS = 25
_FRACTION_BITS = 16
_BITS = {Precision.INT8: 8, Precision.INT16: 16}
_RESULT_BITS = 16
WINDOWS = (3, 5, 7, 9)


def unsupported(operation: CdpOperation) -> str | None:
    """Explain what of an operation is not computed here, None if all is."""
    if operation.input_precision != operation.output_precision:
        return "conversion of precision"
    if operation.local_size not in WINDOWS:
        return f"windows of {operation.local_size} channels"
    return None


def normalize(
    image: npt.NDArray[np.generic], operation: CdpOperation, lut: Lut
) -> npt.NDArray[np.generic]:
    """Return the results [C, H, W] of an image [C, H, W]: int64, or float16 for fp16.

    A value is multiplied by the table's result for the sum of the squares of the channels around
    it; channels that do not exist are 0. The converters of integers are always used, as the
    firmware does.
    """
    if operation.input_precision == Precision.FP16:
        return normalize_fp16(image, operation, lut)
    bits = _BITS[Precision(operation.input_precision)]
    converter = operation.input_converter
    converter = replace(converter, offset=signed(converter.offset, bits))
    values = saturate(convert(image.astype(np.int64), converter, _INPUT_SHIFT_BITS), bits + 1)
    sums = values if operation.bypass_square_sum else _sums(values * values, operation.local_size)
    factors = _factors(sums, lut)
    results = factors if operation.bypass_output_multiplier else factors * values
    converter = operation.output_converter
    if bits == 8:
        converter = replace(converter, offset=signed(converter.offset, _OUTPUT_OFFSET_BITS))
    return saturate(convert(results, converter), bits)


def _sums(squares: Integers, size: int) -> Integers:
    half = size // 2
    padded = np.pad(squares, ((half, half), (0, 0), (0, 0)))
    return np.lib.stride_tricks.sliding_window_view(padded, size, 0).sum(-1)


def _factors(sums: Integers, lut: Lut) -> Integers:
    first, second = tables(lut, _VALUE_BITS)
    places = find(sums, first, _FRACTION_BITS), find(sums, second, _FRACTION_BITS)
    results: list[Integers] = []
    for table, place in zip((first, second), places, strict=True):
        bias = 1 << table.bits if table.exponential and table.bits >= 0 else 0
        inside = _interpolate(table, place.index, place.fraction)
        result = np.where(place.hit, inside, outside(sums, table, place, bias))
        results.append(saturate(result, _RESULT_BITS))
    return np.where(choose(lut, places), results[1], results[0])


def _interpolate(table: Table, index: Integers, fraction: Integers) -> Integers:
    entries = np.asarray((*table.entries, 0), np.int64)
    rise = (entries[index + 1] - entries[index]) * fraction
    return entries[index] + shift_right(rise, _FRACTION_BITS)
