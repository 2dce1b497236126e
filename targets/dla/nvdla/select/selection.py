"""What the selection rules of NVDLA share: limits, shapes of images, and stages of SDP."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.op import Op
from .....dialects.core.tensor import Array, Shape
from .....dialects.dla.dialect import TensorOp
from .....passes.building import reshape
from .....passes.rewriting import NoMatch
from ...select.selection import HIGH, LOW, OpSelection
from ..choice import Choice
from ..configuration import Configuration
from ..dialect.dialect import precision_of
from ..dialect.single import Sdp, spelled
from ..format.operations import SdpStage
from ..reference import sdp
from .limits import op_refusal


@dataclass(frozen=True)
class NvdlaSelection(OpSelection):
    """The selection of one op for a configuration of NVDLA."""

    description: Choice

    @property
    def configuration(self) -> Configuration:
        return self.description.configuration

    @property
    def atom(self) -> int:
        """Return the channels of the selected op's images that stand side by side."""
        precision = precision_of(tensor_of(self.op.results[0].type).dtype)
        return self.configuration.atom_elements(precision)

    def refusal(self, op: TensorOp) -> str | None:
        return op_refusal(op, self.configuration)

    def clamped(self, y: ir.Value, low: int, high: int) -> ir.Value:
        """Build an SDP that clamps values, unless all values of i8 are in range."""
        if (low, high) == (LOW, HIGH):
            return y
        stages = [
            SdpStage(enable=1, kind=sdp.ALU, alu=kind, alu_operand=bound)
            for kind, bound, all_of in ((sdp.MAX, low, LOW), (sdp.MIN, high, HIGH))
            if bound != all_of
        ]
        names = dict(zip(("x1", "x2"), map(spelled, stages), strict=False))
        return self.build(Sdp, y, **names).result

    def replaced(self, image: ir.Value, covered: Sequence[Op]) -> None:
        """Replace the selected op, and those whose work it does, by an image of its result."""
        shape = tensor_of(self.op.results[0].type).shape
        with self.place(*covered):
            new = tensor_from(image, shape)
        self.rewriter.replace(self.op, [new], *covered)

    def vector(self, numbers: Array, what: str) -> ir.Value:
        """Build operands of 16 bits; raise NoMatch for numbers that have more."""
        if numbers.min() < -(1 << 15) or numbers.max() >= 1 << 15:
            extent = f"{numbers.min()} to {numbers.max()}"
            raise NoMatch(f"{self.description.name} has {what} of 16 bits, not {extent}")
        return self.build_constant(numbers.astype(np.int16), what)


def image_shape(shape: Shape) -> Shape:
    """Return the shape [N, channels, rows, columns] of an image with the elements of a tensor."""
    if len(shape) == 4:
        return shape
    if len(shape) == 3:
        return (*shape[:2], 1, shape[2])
    if len(shape) == 2:
        return (*shape, 1, 1)
    raise NoMatch(f"has {len(shape)} axes, images are made of 2 to 4")


def image_of(x: ir.Value) -> ir.Value:
    """Build the image of a tensor."""
    shape = tensor_of(x.type).shape
    return x if len(shape) == 4 else reshape(x, *image_shape(shape))


def tensor_from(image: ir.Value, shape: Shape) -> ir.Value:
    """Build the tensor of a shape from an image with its elements."""
    return image if tensor_of(image.type).shape == shape else reshape(image, *shape)
