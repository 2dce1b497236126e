"""Compute the operations of the runtime's emulator: power and softmax, in float32.

Of int8, numbers are float32 for power, and rounded to fp16 around a softmax; results are cut to
integers. The last bit of an exponential or a power depends on the library that computes it.
"""

import numpy as np
import numpy.typing as npt

from ..format.network import Precision
from ..surfaces import pack, unpack
from .descriptors import FORMATS, EmulatorOperation, Power

Bytes = npt.NDArray[np.uint8]
Values = npt.NDArray[np.float32]


def emulate(operation: EmulatorOperation, source: Bytes, destination: Bytes) -> None:
    """Run an operation on memory; both start at a buffer, and have no faults."""
    precision, _ = FORMATS[operation.source.format]
    stored = unpack(operation.source.layout(), source, precision).astype(np.float32)
    descriptor = operation.descriptor
    is_integer = precision == Precision.INT8
    values = stored * np.float32(descriptor.input_scale) if is_integer else stored
    if isinstance(descriptor, Power):
        result = power(values, descriptor)
    else:
        result = softmax(values.astype(np.float16)) if is_integer else softmax(values)
        result = result.astype(np.float16).astype(np.float32)
    if is_integer:
        scaled = np.clip(result / np.float32(descriptor.output_scale), -128, 127)
        image: npt.NDArray[np.generic] = np.trunc(np.nan_to_num(scaled)).astype(np.int8)
    else:
        with np.errstate(over="ignore"):  # what fp16 does not hold is infinite
            image = result.astype(np.float16)
    pack(image, operation.destination.layout(), destination)


def softmax(values: npt.NDArray[np.generic]) -> Values:
    """Return the softmax over the channels of [C, 1, 1], summed one after the other."""
    wide = values.astype(np.float32)
    exponentials = np.exp(wide - wide.max(0))
    # `sum` adds in pairs, `cumsum` one by one.
    return exponentials / exponentials.cumsum(0, np.float32)[-1]


def power(values: Values, descriptor: Power) -> Values:
    """Return (shift + scale * values) ** power."""
    with np.errstate(all="ignore"):
        base = np.float32(descriptor.shift) + np.float32(descriptor.scale) * values
        return np.power(base, np.float32(descriptor.power))
