"""The target npu: as vanilla, and it takes sizes of values without their sign."""

import numpy as np
from trivium.dialects import tri
from trivium.dialects.core.attributes import tensor_of
from trivium.dialects.core.fields import Operand, Result
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Array, Tensor
from trivium.dialects.dla.dialect import TensorOp, need_image
from trivium.passes.building import transpose
from trivium.passes.core import Pass
from trivium.passes.rewriting import NoMatch, Pattern, Rewriter, rewrite
from trivium.targets.dla.accelerator import Accelerator
from trivium.targets.dla.phases import TENSOR_SEL, Phases
from trivium.targets.dla.schedule.tile_vector import tile_by_value
from trivium.targets.dla.schedule.tiler import Tiler, tiles

from .packets import NPU, AbsoluteTile


class Absolute(TensorOp, dialect=NPU):
    """Take values without their sign; -128 stays."""

    x: Operand
    y: Result

    packet = "absolute"

    def infer(self, x: Tensor) -> Tensor:
        need_image("x", x)
        return x

    def reference(self, x: Array) -> Array:
        return np.abs(x)


@tiles(Absolute)
def tile_absolute(op: Absolute, tiler: Tiler) -> None:
    tile_by_value(op, AbsoluteTile, tiler, {})


class SelectAbsolute(Pass):
    """Select sizes of bytes: tri.abs => npu.absolute."""

    def run(self, module: Module) -> None:
        rewrite(module, _Select())


class _Select(Pattern):
    root = tri.Abs

    def rewrite(self, op: tri.Abs, rewriter: Rewriter) -> None:
        x = tensor_of(op.x.type)
        if x.dtype != "i8" or x.rank != 4:
            raise NoMatch(f"is of {x}")
        with rewriter.before(op):
            image = Absolute.build(transpose(op.x, 0, 2, 3, 1)).y
            made = tri.Transpose.build(image, permutation=(0, 3, 1, 2))
        rewriter.replace(op, made)


class Npu(Accelerator):
    """Vanilla with an op of its own."""

    def pipeline(self) -> Phases:
        return super().pipeline().add(TENSOR_SEL, SelectAbsolute())


TARGET = Npu("npu")
