"""The dialect `acme`: an op on tensors, and the one on tiles that it becomes."""

from collections.abc import Mapping

from trivium.dialects.core.fields import Operand, Result
from trivium.dialects.core.op import Dialect
from trivium.dialects.core.tensor import Array, Tensor
from trivium.dialects.dla.dialect import TensorOp, need_image, need_scaling
from trivium.dialects.dla.tiles import ImageOp

from .arithmetic import Slopes

ACME = Dialect("acme", target="acme")


class TwoSlopes:
    """The attributes of both ops.

    y = clamp(round((x - source_zero) * m / 2^shift) + destination_zero), where m is `multiplier`
    or, for x < source_zero, `negative_multiplier`.
    """

    source_zero: int = 0
    multiplier: int
    negative_multiplier: int
    shift: int
    rounding: str = "half_away"
    destination_zero: int = 0

    def check_slopes(self) -> None:
        """Raise Invalid for attributes out of range."""
        multipliers = (self.multiplier, self.negative_multiplier)
        zeros = (self.source_zero, self.destination_zero)
        need_scaling(multipliers, (self.shift,), self.rounding, *zeros)

    @property
    def slopes(self) -> Slopes:
        """Return what the ops compute."""
        factors = (self.multiplier, self.negative_multiplier, self.shift, self.rounding)
        return Slopes(self.source_zero, *factors, self.destination_zero)


class LeakyRelu(TensorOp, TwoSlopes, dialect=ACME):
    """Rescale values by one multiplier from the zero point on, and by another one below it."""

    x: Operand
    y: Result

    packet = "leaky_relu"

    def infer(self, x: Tensor) -> Tensor:
        need_image("x", x)
        self.check_slopes()
        return x

    def reference(self, x: Array) -> Array:
        return self.slopes.of(x)


class LeakyReluTile(ImageOp, TwoSlopes, dialect=ACME):
    """Rescale a window by one multiplier from the zero point on, and by another one below it.

    Its attributes are the fields of its packet, which computes the same.
    """

    packet = "leaky_relu"
    in_place = True

    def check(self) -> None:
        self.check_slopes()

    def execute(self, windows: Mapping[str, Array]) -> None:
        self.write(windows, self.slopes.of(windows["source"]))
