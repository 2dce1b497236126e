"""Windows as factors of a product: pixels of a tensor by the channels and taps of kernels."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects.core.tensor import Shape
from .coordinates import Axis, Coordinates
from .factor import Factor, Read
from .value import Value


@dataclass(frozen=True)
class InputIndex(ABC):
    """Map an output and a tap to an input along one axis; out of bounds, there is no input."""

    stride: int
    pad: int
    dilation: int

    @property
    def is_plain(self) -> bool:
        """Return whether the first tap of an output is the input at the same index."""
        return self.stride == 1 and self.pad == 0

    @abstractmethod
    def __call__(self, output: Value, tap: Value) -> Value: ...


class ConvolutionIndex(InputIndex):
    """Advance by `stride` inputs per output, with `pad` zeros before the first input."""

    def __call__(self, output: Value, tap: Value) -> Value:
        return output * self.stride + (tap * self.dilation - self.pad)


class TransposedIndex(InputIndex):
    """Invert `ConvolutionIndex`: an output between two strides has no input."""

    def __call__(self, output: Value, tap: Value) -> Value:
        ahead = output + self.pad - tap * self.dilation
        if self.stride == 1:
            return ahead
        place = ahead / self.stride
        return (place * self.stride).equal(ahead).select(place, -1)


@dataclass(frozen=True)
class Windows(Factor):
    """See images [N, groups, channels, spatial…] as a factor.

    The outer side walks `outputs`, the batch and the places of windows, its dims in an `order`; the
    depth is a channel and a tap for each spatial dim.
    """

    outputs: Shape
    order: tuple[int, ...]
    input_indices: Sequence[InputIndex]

    @property
    def along_depth(self) -> bool:
        return self.buffer.strides[2] == 1

    @property
    def is_plain(self) -> bool:
        """Return whether the first tap of each window is the pixel at the same place."""
        same = self.outputs[1:] == self.buffer.shape[3:]
        return same and all(reach.is_plain for reach in self.input_indices)

    def at(self, batch: Value, outer: Value) -> Read:
        image, *places = self.places(outer)

        def read(depth: Sequence[Value]) -> Value:
            channel, *taps = depth
            seen = zip(self.input_indices, places, taps, strict=True)
            inputs = [
                reach(place, tap).named(f"input_{i}") for i, (reach, place, tap) in enumerate(seen)
            ]
            return self.buffer.load_raw([image, batch, channel, *inputs], whole=True)

        return read

    def places(self, outer: Value) -> list[Value]:
        """Return the number of the image and the place of the window along each spatial dim."""
        dims = tuple(dim for dim in self.order if self.outputs[dim] != 1)
        image, *places = Coordinates(self.outputs, (Axis(dims, outer),)).indices()
        named = [place.named(f"output_{i}") for i, place in enumerate(places)]
        return [image.named("image"), *named]


@dataclass(frozen=True)
class Kernels(Factor):
    """See weights [groups, outputs, channels, taps…] as a factor with the outputs outside."""

    @property
    def along_depth(self) -> bool:
        return self.buffer.strides[1] != 1

    def at(self, batch: Value, outer: Value) -> Read:
        return lambda depth: self.buffer.load_raw([batch, outer, *depth], whole=True)
