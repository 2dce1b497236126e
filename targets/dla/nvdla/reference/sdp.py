"""The single data processor: up to three stages, value by value, then a converter."""

import numpy as np
import numpy.typing as npt

from ..format.network import Precision
from ..format.operations import Converter, Lut, SdpOperation, SdpStage
from .arithmetic import ACCUMULATOR_BITS, Integers, convert, low_bits, saturate, shift_right
from .floats import float16_of, from_integers
from .lookup import Table, choose, find, outside, tables
from .sdp_fp16 import process_fp16
from .stages import (
    ALU,
    BOTH,
    EQUAL,
    MAX,
    MIN,
    NO_OPERANDS,
    PER_ELEMENT,
    PER_LAYER,
    PRELU,
    RELU,
    TABLE,
    Operands,
)
from .stages import MULTIPLY as MULTIPLY
from .stages import PER_CHANNEL as PER_CHANNEL
from .stages import SUM as SUM

_SHIFTS = 63
_OPERAND_BITS = 16
_FRACTION_BITS = 35
_RESULT_BITS = {Precision.INT8: 8, Precision.INT16: 16, Precision.FP16: 17}


def unsupported(operation: SdpOperation) -> str | None:
    """Explain what of an operation is not computed here, None if all is."""
    ends = operation.source_precision, operation.destination_precision
    if ends == (Precision.FP16, Precision.INT8):
        return "conversion of fp16 to int8"
    if operation.conv_mode > 1:
        return f"mode {operation.conv_mode} of convolutions"
    stages = (operation.x1, operation.x2, operation.y)
    if any(map(_compares, stages if ends[0] == Precision.FP16 else stages[2:])):
        return "comparison"
    return next((reason for each in stages if (reason := _unsupported(each))), None)


def _compares(stage: SdpStage) -> bool:
    return bool(stage.enable and stage.kind & ALU and stage.alu == EQUAL)


def _unsupported(stage: SdpStage) -> str | None:
    if not stage.enable:
        return None
    if stage.kind & ALU and stage.alu > EQUAL:
        return f"ALU {stage.alu} of a stage"
    if stage.kind > BOTH or stage.mode > PER_ELEMENT or stage.activation > PRELU:
        return f"kind {stage.kind}, mode {stage.mode}, activation {stage.activation} of a stage"
    return None


def process(
    values: npt.NDArray[np.generic],
    operation: SdpOperation,
    x1: Operands = NO_OPERANDS,
    x2: Operands = NO_OPERANDS,
    y: Operands = NO_OPERANDS,
    lut: Lut | None = None,
) -> npt.NDArray[np.generic]:
    """Return the results [C, H, W] of accumulators, or of values of the source.

    They are int64 in the range of the destination, float16, or int16 of fp16. The converter of
    integers is always used, as the firmware does. The table is for a stage Y that has one as its
    activation; a table has no effect in a stage X, ReLU none in stage Y.
    """
    if operation.source_precision == Precision.FP16:
        return process_fp16(values, operation, x1, x2, y, lut)
    values = values.astype(np.int64)
    if operation.x1.enable:
        values = _stage_x(values, operation.x1, x1)
    if operation.x2.enable:
        values = _stage_x(values, operation.x2, x2)
    if operation.y.enable:
        values = _stage_y(values, operation.y, y)
        if operation.y.activation == TABLE:
            assert lut is not None, "the simulator passes the table of a stage that needs it"
            values = look_up(values, lut)
    destination = Precision(operation.destination_precision)
    result = saturate(convert(values, operation.converter), _RESULT_BITS[destination])
    return float16_of(from_integers(result)) if destination == Precision.FP16 else result


def _stage_x(values: Integers, stage: SdpStage, operands: Operands) -> Integers:
    """ALU, multiplier, right shift, activation; PReLU multiplies and shifts negatives alone.

    Operands have 16 bits, shifts 6. Sums have 33 bits; PReLU hands on the low 32 of positive ones.
    """
    if operands.alu is not None:
        left = min(stage.shift & _SHIFTS, ACCUMULATOR_BITS)
        shifted = low_bits(operands.alu, _OPERAND_BITS) << left
        values = _alu(values, saturate(shifted, ACCUMULATOR_BITS), stage.alu)
    factor = 1
    if operands.multiplier is not None:
        factor = low_bits(operands.multiplier, _OPERAND_BITS)
    results = saturate(shift_right(values * factor, stage.truncate & _SHIFTS), ACCUMULATOR_BITS)
    if stage.activation == PRELU and operands.multiplier is not None:
        results = np.where(values < 0, results, low_bits(values, ACCUMULATOR_BITS))
    return np.maximum(results, 0) if stage.activation == RELU else results


def _stage_y(values: Integers, stage: SdpStage, operands: Operands) -> Integers:
    """Multiplier with a right shift, then ALU; operands from memory are converted first."""
    if operands.multiplier is not None:
        factor = _converted(operands.multiplier, stage, stage.mul_converter)
        results = saturate(shift_right(values * factor, stage.truncate), ACCUMULATOR_BITS)
        values = np.where(values < 0, results, values) if stage.activation == PRELU else results
    if operands.alu is not None:
        operand = _converted(operands.alu, stage, stage.alu_converter)
        values = saturate(_alu(values, operand, stage.alu), ACCUMULATOR_BITS)
    return values


def _converted(operand: Integers, stage: SdpStage, converter: Converter) -> Integers:
    if stage.mode == PER_LAYER or not converter.enable:
        return operand
    return saturate(convert(operand, converter), ACCUMULATOR_BITS)


def _alu(values: Integers, operand: Integers, kind: int) -> Integers:
    """Add if the operation is neither maximum nor minimum, as a stage X does to compare."""
    return {MAX: np.maximum, MIN: np.minimum}.get(kind, np.add)(values, operand)


def look_up(values: Integers, lut: Lut) -> Integers:
    """Return the results of the tables for values of 32 bits, in 32 bits."""
    first, second = tables(lut, ACCUMULATOR_BITS)
    places = find(values, first, _FRACTION_BITS), find(values, second, _FRACTION_BITS)
    results: list[Integers] = []
    for table, place in zip((first, second), places, strict=True):
        bias = 1 << table.bits if table.exponential and table.bits > 0 else 0
        inside = _interpolate(table, place.index, place.fraction)
        result = np.where(place.hit, inside, outside(values, table, place, bias))
        results.append(saturate(result, ACCUMULATOR_BITS))
    return np.where(choose(lut, places), results[1], results[0])


def _interpolate(table: Table, index: Integers, fraction: Integers) -> Integers:
    entries = np.asarray((*table.entries, 0), np.int64)
    rest = (1 << _FRACTION_BITS) - fraction
    return shift_right(entries[index] * rest + entries[index + 1] * fraction, _FRACTION_BITS)
