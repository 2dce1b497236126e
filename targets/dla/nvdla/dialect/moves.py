"""Ops that move values, and ops that only say where values are."""

from collections.abc import Sequence

import numpy as np

from .....dialects.core.errors import Invalid
from .....dialects.core.fields import Operand, Result
from .....dialects.core.tensor import Array, Tensor
from ..format.operations import RubikOperation
from ..reference import rubik
from .dialect import NVDLA, EngineOp, PlaceOp, as_stored, each, need_images

CHANNELS, ROWS, COLUMNS = 1, 2, 3


class Contract(EngineOp, dialect=NVDLA):
    """Make pixels of channels (RUBIK): what a deconvolution ends in.

    The channels of `x` are, for each row and then column of a stride, the `channels` of the result
    in whole atoms of `atom`.
    """

    x: Operand
    channels: int
    atom: int
    strides: tuple[int, ...]
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        images, channels, rows, columns = need_images("x", x)
        down, across = self.strides
        group = -(-self.channels // self.atom) * self.atom
        if -(-channels // self.atom) * self.atom != group * down * across:
            raise Invalid(f"x has {channels} channels, must have {group * down * across}")
        return Tensor((images, self.channels, rows * down, columns * across), x.dtype)

    def reference(self, x: Array) -> Array:
        def contract(image: Array) -> Array:
            return rubik.contract(image, self.descriptor, self.channels, self.atom)

        return as_stored(each(contract, x))

    @property
    def descriptor(self) -> RubikOperation:
        """Return the descriptor."""
        return RubikOperation(rubik.CONTRACT, 0, self.strides[1], self.strides[0])


class Copy(EngineOp, dialect=NVDLA):
    """Copy images from memory to memory (BDMA)."""

    x: Operand
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        need_images("x", x)
        return x

    def reference(self, x: Array) -> Array:
        return x


class Window(PlaceOp, dialect=NVDLA):
    """Name a part of images: `start` and `sizes` are of channels, rows and columns.

    The part is where it is; it starts at a whole atom of channels.
    """

    x: Operand
    start: tuple[int, ...]
    sizes: tuple[int, ...]
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        images, *whole = need_images("x", x)
        if len(self.start) != 3 or len(self.sizes) != 3:
            raise Invalid("start and sizes must have 3 numbers: of channels, rows and columns")
        for start, size, limit in zip(self.start, self.sizes, whole, strict=True):
            if start < 0 or size < 1 or start + size > limit:
                raise Invalid(f"has elements {start} to {start + size}, must be in 0 to {limit}")
        return Tensor((images, *self.sizes), x.dtype)

    def reference(self, x: Array) -> Array:
        parts = zip(self.start, self.sizes, strict=True)
        return x[:, *(slice(start, start + size) for start, size in parts)]


class Join(PlaceOp, dialect=NVDLA):
    """Store images side by side: along channels (axis 1), in whole atoms, rows (2) or columns (3).

    What makes an operand stores it in the place of the result.
    """

    xs: Sequence[Operand]
    axis: int
    y: Result

    def infer(self, xs: Sequence[Tensor]) -> Tensor:
        if self.axis not in (CHANNELS, ROWS, COLUMNS):
            raise Invalid(f"axis is {self.axis}, must be {CHANNELS}, {ROWS} or {COLUMNS}")
        shapes = [need_images("an operand", x) for x in xs]
        if not shapes:
            raise Invalid("has no operands, must have some")
        if len({x.dtype for x in xs}) > 1:
            raise Invalid(f"joins {xs[0].dtype} and others, must be of one type")
        for shape in shapes:
            if any(n != shapes[0][i] for i, n in enumerate(shape) if i != self.axis):
                raise Invalid(f"joins {shapes[0]} and {shape} along axis {self.axis}")
        sizes = list(shapes[0])
        sizes[self.axis] = sum(shape[self.axis] for shape in shapes)
        return Tensor(tuple(sizes), xs[0].dtype)

    def reference(self, xs: Sequence[Array]) -> Array:
        return np.concatenate(list(xs), self.axis)
