"""The single data processor with fp16: stages in 32 bits, then a conversion to 16.

Operands are the bits of fp16 numbers, or, of one for a whole layer in stage Y, of 32 bits.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..format.network import Precision
from ..format.operations import Lut, SdpOperation, SdpStage
from .floats import (
    FP16,
    FP32,
    Bits,
    add,
    bits_of,
    float16_of,
    maximum,
    minimum,
    multiply,
    narrow,
    relu,
    to_integers,
    widen,
)
from .lookup_fp16 import look_up
from .stages import MAX, MIN, NO_OPERANDS, PER_LAYER, PRELU, RELU, TABLE, Operands

Array = npt.NDArray[np.generic]
_ALUS = {MAX: maximum, MIN: minimum}


def process_fp16(
    values: Array,
    operation: SdpOperation,
    x1: Operands = NO_OPERANDS,
    x2: Operands = NO_OPERANDS,
    y: Operands = NO_OPERANDS,
    lut: Lut | None = None,
) -> Array:
    """Return the results [C, H, W], float16 or int16, of float32 accumulators or float16 values.

    Shifts and the converters of integers have no effect. Operands are broadcast to [C, H, W].
    """
    bits = bits_of(values)
    if values.dtype == np.float16:
        bits = widen(bits, FP16, FP32)
    for stage, operands in ((operation.x1, x1), (operation.x2, x2)):
        if stage.enable:
            bits = _stage_x(bits, stage, _widened(operands, True))
    if operation.y.enable:
        from_memory = operation.y.mode != PER_LAYER
        bits = _stage_y(bits, operation.y, _widened(y, from_memory))
        if operation.y.activation == TABLE:
            assert lut is not None, "the simulator passes the table of a stage that needs it"
            bits = look_up(bits, lut)
    result = narrow(bits, FP32, FP16)
    if operation.destination_precision == Precision.INT16:
        return to_integers(result).astype(np.int16)
    return float16_of(result)


def _widened(operands: Operands, is_fp16: bool) -> Operands:
    def wide(bits: Bits | None) -> Bits | None:
        if bits is None:
            return None
        return widen(bits & 0xFFFF, FP16, FP32) if is_fp16 else bits & 0xFFFFFFFF

    return replace(operands, alu=wide(operands.alu), multiplier=wide(operands.multiplier))


def _stage_x(bits: Bits, stage: SdpStage, operands: Operands) -> Bits:
    bits = _scale(_alu(bits, stage, operands.alu), stage, operands.multiplier)
    return relu(bits, FP32) if stage.activation == RELU else bits


def _stage_y(bits: Bits, stage: SdpStage, operands: Operands) -> Bits:
    return _alu(_scale(bits, stage, operands.multiplier), stage, operands.alu)


def _alu(bits: Bits, stage: SdpStage, operand: Bits | None) -> Bits:
    if operand is None:
        return bits
    return _ALUS.get(stage.alu, add)(bits, operand, FP32)


def _scale(bits: Bits, stage: SdpStage, operand: Bits | None) -> Bits:
    if operand is None:
        return bits
    scaled = multiply(bits, operand, FP32)
    return np.where(bits >> 31 == 0, bits, scaled) if stage.activation == PRELU else scaled
