"""The formats of pixels that convolutions read, and images of them: rows of pixels in planes."""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .format.network import Precision
from .format.operations import ConvSurface
from .surfaces import Array

FEATURE = 36
"""The format of feature data, the number behind those of pixels."""

_TEXT = """
R8 R10 R12 R16 R16_I R16_F
A16B16G16R16 X16B16G16R16 A16B16G16R16_F A16Y16U16V16 V16U16Y16A16 A16Y16U16V16_F
A8B8G8R8 A8R8G8B8 B8G8R8A8 R8G8B8A8 X8B8G8R8 X8R8G8B8 B8G8R8X8 R8G8B8X8
A2B10G10R10 A2R10G10B10 B10G10R10A2 R10G10B10A2 A2Y10U10V10 V10U10Y10A2 A8Y8U8V8 V8U8Y8A8
Y8___U8V8_N444 Y8___V8U8_N444 Y10___U10V10_N444 Y10___V10U10_N444
Y12___U12V12_N444 Y12___V12U12_N444 Y16___U16V16_N444 Y16___V16U16_N444
"""
_CHANNELS = {"R": 0, "Y": 0, "G": 1, "U": 1, "B": 2, "V": 2, "A": 3, "X": 3}


@dataclass(frozen=True)
class Component:
    """A component of a pixel: its channel, of red or Y, green or U, blue or V, alpha; and bits."""

    channel: int
    start: int
    bits: int


@dataclass(frozen=True)
class PixelFormat:
    """A format: its name lists the components of each plane from the most significant bits."""

    number: int
    name: str

    @cached_property
    def planes(self) -> tuple[tuple[Component, ...], ...]:
        """Return the components of each plane from the least significant bits.

        Components that are not packed into words of 32 bits fill up 8 or 16 bits.
        """
        found: list[tuple[Component, ...]] = []
        for text in self.name.removesuffix("_N444").split("___"):
            pairs = [(letter, int(bits)) for letter, bits in re.findall(r"([A-Z])(\d+)", text)]
            start, plane = 0, list[Component]()
            for letter, stated in reversed(pairs):
                bits = stated if len(pairs) == 4 or stated in (8, 16) else 16
                plane.append(Component(_CHANNELS[letter], start, bits))
                start += bits
            found.append(tuple(plane))
        return tuple(found)

    @property
    def channels(self) -> int:
        """Return how many channels a pixel has."""
        return sum(map(len, self.planes))

    @property
    def precision(self) -> Precision:
        """Return the type of the channels."""
        if self.name.endswith("_F"):
            return Precision.FP16
        return Precision.INT8 if self.planes[0][0].bits == 8 else Precision.INT16

    @property
    def pixel_bytes(self) -> tuple[int, ...]:
        """Return the bytes of a pixel in each plane."""
        return tuple(sum(each.bits for each in plane) // 8 for plane in self.planes)

    def __str__(self) -> str:
        return f"T_{self.name}"


FORMATS = tuple(PixelFormat(number, name) for number, name in enumerate(_TEXT.split()))


@dataclass(frozen=True)
class ImageLayout:
    """An image of pixels: for each plane where it starts, and the bytes from row to row."""

    form: PixelFormat
    height: int
    width: int
    starts: tuple[int, ...]
    strides: tuple[int, ...]

    @staticmethod
    def of(surface: ConvSurface, number: int) -> "ImageLayout":
        """Return the layout of the source of a convolution, in the format of some number."""
        cube, form = surface.source, FORMATS[number]
        starts, strides = (0, surface.offset_u), (cube.line_stride, surface.line_stride_uv)
        planes = len(form.planes)
        return ImageLayout(form, cube.height, cube.width, starts[:planes], strides[:planes])

    @property
    def end(self) -> int:
        """Return where the last byte ends."""
        rows = zip(self.starts, self.strides, self.form.pixel_bytes, strict=True)
        last = self.height - 1
        return max(start + last * stride + self.width * size for start, stride, size in rows)

    def fault(self, atom: int) -> str | None:
        """Explain what is impossible for atoms of some bytes, None if all is possible."""
        if not (self.height and self.width):
            return f"has {self.height}x{self.width} pixels, must have some"
        for start, stride, size in zip(
            self.starts, self.strides, self.form.pixel_bytes, strict=True
        ):
            if start < 0 or start % atom:
                return f"has a plane at {start:#x}, must be a multiple of {atom}"
            if self.height > 1 and (stride < self.width * size or stride % atom):
                least = -(-self.width * size // atom) * atom
                return f"has line stride {stride}, must be {least} or a larger multiple of {atom}"
        return None

    def rows(self) -> list[tuple[int, int]]:
        """Return where each row starts, and its bytes."""
        return [
            (start + row * stride, self.width * size)
            for start, stride, size in zip(
                self.starts, self.strides, self.form.pixel_bytes, strict=True
            )
            for row in range(self.height)
        ]

    def read(self, memory: npt.NDArray[np.uint8]) -> npt.NDArray[np.unsignedinteger]:
        """Return the channels [C, H, W] as unsigned integers of their size.

        Packed components fill 16 bits from the most significant one.
        """
        dtype = np.uint8 if self.form.precision == Precision.INT8 else np.uint16
        found = np.zeros((self.form.channels, self.height, self.width), dtype)
        for number, plane in enumerate(self.form.planes):
            words = self._words(memory, number)
            for each in plane:
                if each.bits in (8, 16):
                    found[each.channel] = words[..., each.start // each.bits]
                else:
                    field = words[..., 0] >> each.start & (1 << each.bits) - 1
                    found[each.channel] = field << (16 - each.bits)
        return found

    def write(self, image: Array, memory: npt.NDArray[np.uint8]) -> None:
        """Store channels [C, H, W], integers of their size; packed ones lose their low bits."""
        values = image.view(f"u{image.dtype.itemsize}").astype(np.uint32)
        for number, plane in enumerate(self.form.planes):
            words = self._words(memory, number)
            words[...] = 0
            for each in plane:
                if each.bits in (8, 16):
                    words[..., each.start // each.bits] = values[each.channel]
                else:
                    words[..., 0] |= values[each.channel] >> (16 - each.bits) << each.start

    def _words(self, memory: npt.NDArray[np.uint8], number: int) -> npt.NDArray[np.unsignedinteger]:
        """Return the memory of a plane as [H, W, words of a pixel]."""
        bits, size = self.form.planes[number][0].bits, self.form.pixel_bytes[number]
        word = bits // 8 if bits in (8, 16) else 4
        part = memory[self.starts[number] :]
        whole = part[: part.size // word * word].view(f"<u{word}")
        shape = self.height, self.width, size // word
        return np.lib.stride_tricks.as_strided(whole, shape, (self.strides[number], size, word))


def pixel_format(number: int) -> PixelFormat | None:
    """Return the format of a number, None for that of feature data and for unknown ones."""
    return FORMATS[number] if 0 <= number < FEATURE else None
