"""The cross-channel data processor: local response normalisation of int8 by look-up tables."""

import numpy as np

from ..operations import CdpOperation, Lut
from .arithmetic import Integers, convert, saturate, shift_right
from .lookup import Table, choose, find, outside, tables

_VALUE_BITS = 38
_FRACTION_BITS = 16
_INPUT_BITS, _RESULT_BITS = 9, 16
WINDOWS = (3, 5, 7, 9)


def unsupported(operation: CdpOperation) -> str | None:
    """Explain what of an operation is not computed here, None if all is."""
    if operation.input_precision or operation.output_precision:
        return "other precisions than int8"
    if operation.local_size not in WINDOWS:
        return f"windows of {operation.local_size} channels"
    if operation.input_converter.offset:
        return "an offset of the input"
    return None


def normalize(image: Integers, operation: CdpOperation, lut: Lut) -> Integers:
    """Return the results [C, H, W], in the range of int8, of an image [C, H, W].

    A value is multiplied by the table's result for the sum of the squares of the channels around
    it; channels that do not exist are 0. The converters are always used, as the firmware does.
    """
    values = saturate(convert(image, operation.input_converter), _INPUT_BITS)
    sums = values if operation.bypass_square_sum else _sums(values * values, operation.local_size)
    factors = _factors(sums, lut)
    results = factors if operation.bypass_output_multiplier else factors * values
    return saturate(convert(results, operation.output_converter), 8)


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
