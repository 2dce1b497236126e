"""The dialect `acme`: an op on tensors, and the one on tiles that it becomes."""

from collections.abc import Mapping

from trivium.dialects.core.fields import Operand, Result
from trivium.dialects.core.op import Dialect
from trivium.dialects.core.tensor import Array, Tensor
from trivium.dialects.dla.dialect import TensorOp, need_image, need_scaling
from trivium.dialects.dla.tiles import ImageOp

from .arithmetic import Slopes

ACME = Dialect("acme", target="acme")


class LeakyRelu(TensorOp, dialect=ACME):
    """Rescale values by one multiplier from the zero point on, and by another one below it.

    y = clamp(round((x - source_zero) * m / 2^shift) + destination_zero), where m is `multiplier`
    or, for x < source_zero, `negative_multiplier`.
    """

    x: Operand
    source_zero: int = 0
    multiplier: int
    negative_multiplier: int
    shift: int
    rounding: str = "half_away"
    destination_zero: int = 0
    y: Result

    packet = "leaky_relu"

    def infer(self, x: Tensor) -> Tensor:
        need_image("x", x)
        multipliers = (self.multiplier, self.negative_multiplier)
        zeros = (self.source_zero, self.destination_zero)
        need_scaling(multipliers, (self.shift,), self.rounding, *zeros)
        return x

    def reference(self, x: Array) -> Array:
        factors = (self.multiplier, self.negative_multiplier, self.shift, self.rounding)
        return Slopes(self.source_zero, *factors, self.destination_zero).of(x)


class LeakyReluTile(ImageOp, dialect=ACME):
    """Rescale a window, as `acme.leaky_relu` does.

    Attributes are called as the packet's fields, of which they become the values.
    """

    source_zero: int = 0
    multiplier: int
    negative_multiplier: int
    shift: int
    rounding: str = "half_away"

    packet = "leaky_relu"

    def check(self) -> None:
        multipliers = (self.multiplier, self.negative_multiplier)
        zeros = (self.source_zero, self.destination_zero)
        need_scaling(multipliers, (self.shift,), self.rounding, *zeros)

    def execute(self, windows: Mapping[str, Array]) -> None:
        factors = (self.multiplier, self.negative_multiplier, self.shift, self.rounding)
        slopes = Slopes(self.source_zero, *factors, self.destination_zero)
        self.write(windows, slopes.of(windows["source"]))
