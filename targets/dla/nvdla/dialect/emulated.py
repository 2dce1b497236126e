"""Ops that the emulator of the runtime computes on the CPU, in a task of the same loadable."""

import numpy as np

from .....dialects.core.errors import Invalid
from .....dialects.core.fields import Operand, Result
from .....dialects.core.tensor import Array, Tensor
from ..cpu import emulator
from ..cpu.descriptors import Power as PowerDescriptor
from ..cpu.descriptors import Softmax as SoftmaxDescriptor
from .dialect import NVDLA, EngineOp, each, need_images

HALF = "f16"
ATOM = 32
"""The bytes of an atom of f16 that the emulator reads and writes."""


class EmulatedOp(EngineOp, dialect=NVDLA, abstract=True):
    """Base of ops on images f16 that run between tasks of the engines."""

    @property
    def descriptor(self) -> SoftmaxDescriptor | PowerDescriptor:
        """Return the descriptor."""
        raise NotImplementedError


class Softmax(EmulatedOp, dialect=NVDLA):
    """Compute exp(x - max) over its sum along the channels of images f16 [N, C, 1, 1].

    Exponentials are of float32, and are summed one after the other.
    """

    x: Operand
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        if need_images("x", x, HALF)[2:] != (1, 1):
            raise Invalid(f"x is {x}, must have images of one pixel")
        return x

    def reference(self, x: Array) -> Array:
        return each(emulator.softmax, x).astype(x.dtype)

    @property
    def descriptor(self) -> SoftmaxDescriptor:
        return SoftmaxDescriptor()


class Power(EmulatedOp, dialect=NVDLA):
    """Compute (`shift` + `scale` * x) ** `power` of images f16, in float32."""

    x: Operand
    power: float
    scale: float = 1.0
    shift: float = 0.0
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        need_images("x", x, HALF)
        return x

    def reference(self, x: Array) -> Array:
        with np.errstate(over="ignore"):  # what f16 does not hold is infinite
            return emulator.power(x.astype(np.float32), self.descriptor).astype(x.dtype)

    @property
    def descriptor(self) -> PowerDescriptor:
        return PowerDescriptor(power=self.power, scale=self.scale, shift=self.shift)
