"""The single data processor: up to three stages, value by value, then a converter to int8."""

from dataclasses import dataclass

import numpy as np

from ..operations import SdpOperation, SdpStage
from .arithmetic import ACCUMULATOR_BITS, Integers, convert, saturate, shift_right

MAX, MIN, SUM, EQUAL = range(4)
MULTIPLY, ALU, BOTH = 1, 2, 3
PER_LAYER, PER_CHANNEL, PER_ELEMENT = range(3)
RELU, TABLE, PRELU = 1, 2, 3
_FACTOR_BITS = 16


@dataclass(frozen=True)
class Operands:
    """The operands of a stage, which broadcast to [C, H, W]; None where a stage has none."""

    alu: Integers | None = None
    multiplier: Integers | None = None


def unsupported(operation: SdpOperation) -> str | None:
    """Explain what of an operation is not computed here, None if all is."""
    if operation.source_precision or operation.destination_precision:
        return "other precisions than int8"
    if operation.batch > 1:
        return f"batches of {operation.batch}"
    if operation.conv_mode:
        return "Winograd"
    for stage in (operation.x1, operation.x2, operation.y):
        if stage.enable and stage.activation == TABLE:
            return "look-up tables"
        if stage.enable and stage.kind & ALU and stage.alu >= EQUAL:
            return "comparison"
        if stage.enable and (stage.kind > BOTH or stage.mode > PER_ELEMENT):
            return f"stages of kind {stage.kind} and mode {stage.mode}"
        if stage.enable and stage.kind == BOTH and stage.mode == PER_ELEMENT:
            return "two operands for each element"
    return None


def process(
    values: Integers,
    operation: SdpOperation,
    x1: Operands = Operands(),
    x2: Operands = Operands(),
    y: Operands = Operands(),
) -> Integers:
    """Return the results [C, H, W], in the range of int8, of accumulators or of int8 values."""
    stages = ((operation.x1, x1), (operation.x2, x2), (operation.y, y))
    for stage, operands in stages:
        if stage.enable:
            values = _stage(values, stage, operands)
    return saturate(convert(values, operation.converter), 8)


def _stage(values: Integers, stage: SdpStage, operands: Operands) -> Integers:
    """ALU, multiplier, right shift, activation; PReLU multiplies and shifts negatives alone."""
    if operands.alu is not None:
        operand = convert(operands.alu, stage.alu_converter) << min(stage.shift, ACCUMULATOR_BITS)
        values = _alu(values, saturate(operand, ACCUMULATOR_BITS), stage.alu)
    results = values
    if operands.multiplier is not None:
        factor = convert(operands.multiplier, stage.mul_converter)
        results = values * saturate(factor, _FACTOR_BITS)
    results = shift_right(results, stage.truncate)
    if stage.activation == PRELU:
        results = np.where(values < 0, results, values)
    results = saturate(results, ACCUMULATOR_BITS)
    return np.maximum(results, 0) if stage.activation == RELU else results


def _alu(values: Integers, operand: Integers, kind: int) -> Integers:
    if kind == SUM:
        return values + operand
    return np.maximum(values, operand) if kind == MAX else np.minimum(values, operand)
