"""Windows as factors of a product: pixels of a tensor by the channels and taps of kernels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ....dialects.core.tensor import Shape
from .buffer import Buffer
from .builder import KernelBuilder
from .coordinates import Axis, Coordinates
from .factor import Read
from .value import Value


class InputIndex(Protocol):
    """Say along one axis which input an output sees by a tap; what is out of bounds is none."""

    @property
    def is_plain(self) -> bool:
        """Say whether the first tap of an output is the input at the same place."""
        ...

    def __call__(self, output: Value, tap: Value) -> Value: ...


@dataclass(frozen=True)
class ConvolutionIndex:
    """See `stride` inputs further for each output, with `pad` zeros before the first one."""

    stride: int
    pad: int
    dilation: int

    @property
    def is_plain(self) -> bool:
        return self.stride == 1 and self.pad == 0

    def __call__(self, output: Value, tap: Value) -> Value:
        return output * self.stride + (tap * self.dilation - self.pad)


@dataclass(frozen=True)
class TransposedIndex:
    """See the input that spreads to an output: steps of `stride` lead there, or there is none."""

    stride: int
    pad: int
    dilation: int

    @property
    def is_plain(self) -> bool:
        return self.stride == 1 and self.pad == 0

    def __call__(self, output: Value, tap: Value) -> Value:
        ahead = output + self.pad - tap * self.dilation
        if self.stride == 1:
            return ahead
        place = ahead / self.stride
        return (place * self.stride).equal(ahead).select(place, -1)


@dataclass(frozen=True)
class Windows:
    """See images [N, groups, channels, spatial…] as a factor.

    The outer side walks `outputs`, the batch and the places of windows, its dims in an `order`; the
    depth is a channel and a tap for each spatial dim.
    """

    images: Buffer
    outputs: Shape
    order: tuple[int, ...]
    input_indices: Sequence[InputIndex]

    @property
    def dtype(self) -> str:
        return self.images.dtype

    @property
    def along_depth(self) -> bool:
        return self.images.strides[2] == 1

    @property
    def is_plain(self) -> bool:
        """Say whether the first tap of each window is the pixel at the same place."""
        same = self.outputs[1:] == self.images.shape[3:]
        return same and all(reach.is_plain for reach in self.input_indices)

    def at(self, batch: Value, outer: Value) -> Read:
        image, *places = self.places(outer)

        def read(depth: Sequence[Value]) -> Value:
            channel, *taps = depth
            seen = zip(self.input_indices, places, taps, strict=True)
            inputs = [
                reach(place, tap).named(f"input_{i}") for i, (reach, place, tap) in enumerate(seen)
            ]
            return self.images.load_raw([image, batch, channel, *inputs], whole=True)

        return read

    def places(self, outer: Value) -> list[Value]:
        """Return the number of the image and the place of the window along each spatial dim."""
        dims = tuple(dim for dim in self.order if self.outputs[dim] > 1)
        image, *places = Coordinates(self.outputs, (Axis(dims, outer),)).indices()
        named = [place.named(f"output_{i}") for i, place in enumerate(places)]
        return [image.named("image"), *named]

    def imported(self, kernel: KernelBuilder) -> "Windows":
        return replace(self, images=kernel.import_buffer(self.images))


@dataclass(frozen=True)
class Kernels:
    """See weights [groups, outputs, channels, taps…] as a factor with the outputs outside."""

    weights: Buffer

    @property
    def dtype(self) -> str:
        return self.weights.dtype

    @property
    def along_depth(self) -> bool:
        return self.weights.strides[1] != 1

    def at(self, batch: Value, outer: Value) -> Read:
        return lambda depth: self.weights.load_raw([batch, outer, *depth], whole=True)

    def imported(self, kernel: KernelBuilder) -> "Kernels":
        return replace(self, weights=kernel.import_buffer(self.weights))
