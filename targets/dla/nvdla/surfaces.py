"""Layouts of data and weights in memory, and the space that they need in CBUF.

Feature data is stored in surfaces, of as many channels as an atom has; a surface is rows of atoms.
Weights are stored by groups of kernels, then by blocks of channels.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .configuration import Configuration
from .format.network import Cube, Precision

Array = npt.NDArray[np.generic]
DTYPES = {Precision.INT8: np.int8, Precision.INT16: np.int16, Precision.FP16: np.float16}
WEIGHT_UNIT = 128
"""Weights are loaded in units of this many bytes."""


@dataclass(frozen=True)
class SurfaceLayout:
    """The strides of feature data, in bytes; `elements` channels are an atom."""

    channels: int
    height: int
    width: int
    atom: int
    elements: int
    line_stride: int
    surface_stride: int

    @property
    def surfaces(self) -> int:
        """Return how many surfaces the channels need."""
        return -(-self.channels // self.elements)

    @property
    def bytes(self) -> int:
        """Return the bytes from the first to the last element, the last atom being whole."""
        last = (self.surfaces - 1) * self.surface_stride + (self.height - 1) * self.line_stride
        return last + self.width * self.atom if self.surfaces and self.height else 0

    def fault(self) -> str | None:
        """Explain which stride is impossible, None if all are possible."""
        if min(self.channels, self.height, self.width) < 1:
            return f"has {self.channels}x{self.height}x{self.width} elements, must have some"
        line, surface = self.width * self.atom, self.height * self.line_stride
        if self.height > 1 and (self.line_stride < line or self.line_stride % self.atom):
            return f"has line stride {self.line_stride}, must be {line} or a larger multiple"
        if self.surfaces > 1 and (self.surface_stride < surface or surface % self.atom):
            return f"has surface stride {self.surface_stride}, must be {surface} or larger"
        return None


def dense(channels: int, height: int, width: int, atom: int, size: int = 1) -> SurfaceLayout:
    """Return the layout without gaps, for elements of `size` bytes."""
    line = width * atom
    return SurfaceLayout(channels, height, width, atom, atom // size, line, line * height)


def layout_of(cube: Cube, configuration: Configuration, precision: Precision) -> SurfaceLayout:
    """Return the layout that a cube's descriptor states."""
    return SurfaceLayout(
        cube.channels,
        cube.height,
        cube.width,
        configuration.atom,
        configuration.atom_elements(precision),
        cube.line_stride,
        cube.surface_stride,
    )


def pack(image: Array, layout: SurfaceLayout, memory: npt.NDArray[np.uint8]) -> None:
    """Write an image [C, H, W] into memory; channels that fill the last atom become 0.

    The memory is u8 [bytes] or more. Bytes between rows and surfaces are not written.
    """
    shape = layout.surfaces * layout.elements, layout.height, layout.width
    padded = np.zeros(shape, image.dtype)
    padded[: layout.channels] = image
    view = _view(layout, memory)
    atoms = padded.reshape(layout.surfaces, layout.elements, layout.height, layout.width)
    source = np.ascontiguousarray(atoms.transpose(0, 2, 3, 1)).view(np.uint8)
    view[...] = source.reshape(view.shape)


def unpack(layout: SurfaceLayout, memory: npt.NDArray[np.uint8], precision: Precision) -> Array:
    """Return the image [C, H, W] that memory, u8 [bytes] or more, contains."""
    atoms = view_atoms(layout, memory, np.dtype(DTYPES[precision]))
    planes = atoms.transpose(0, 3, 1, 2).reshape(-1, layout.height, layout.width)
    return np.ascontiguousarray(planes[: layout.channels])


def view_atoms(
    layout: SurfaceLayout, memory: npt.NDArray[np.uint8], dtype: np.dtype[np.generic]
) -> Array:
    """Return a copy of the atoms that memory contains, [surfaces, H, W, elements of an atom]."""
    return np.ascontiguousarray(_view(layout, memory)).view(dtype)


def _view(layout: SurfaceLayout, memory: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return memory as u8 [surfaces, H, W, atom]."""
    if memory.size < layout.bytes:
        raise ValueError(f"{layout.bytes} bytes do not fit in {memory.size}")
    return np.lib.stride_tricks.as_strided(
        memory,
        (layout.surfaces, layout.height, layout.width, layout.atom),
        (layout.surface_stride, layout.line_stride, layout.atom, 1),
    )


def pack_weights(
    weights: Array, configuration: Configuration, precision: Precision = Precision.INT8
) -> bytes:
    """Return the bytes of weights [K, C, R, S] for a direct convolution.

    Of each group of kernels and block of channels the order is R, S, kernel, channel; the last
    group and block are as large as they are, and zeros fill up a multiple of 128 bytes.
    """
    blocks = [
        weights[k, c].transpose(2, 3, 0, 1).tobytes()
        for k, c in _blocks(weights.shape[0], weights.shape[1], configuration, precision)
    ]
    data = b"".join(blocks)
    return data + bytes(-len(data) % WEIGHT_UNIT)


def unpack_weights(
    data: bytes,
    shape: tuple[int, int, int, int],
    configuration: Configuration,
    precision: Precision = Precision.INT8,
) -> Array:
    """Return weights [K, C, R, S] from the bytes that `pack_weights` makes of them."""
    kernels, channels, height, width = shape
    stored = np.frombuffer(data, DTYPES[precision], kernels * channels * height * width)
    weights = np.empty(shape, stored.dtype)
    at = 0
    for k, c in _blocks(kernels, channels, configuration, precision):
        part = weights[k, c]
        block = stored[at : at + part.size].reshape(height, width, part.shape[0], part.shape[1])
        part[...] = block.transpose(2, 3, 0, 1)
        at += part.size
    return weights


def _blocks(
    kernels: int, channels: int, configuration: Configuration, precision: Precision
) -> list[tuple[slice, slice]]:
    group, block = configuration.kernel_group(precision), configuration.macs_channels
    return [
        (slice(k, min(k + group, kernels)), slice(c, min(c + block, channels)))
        for k in range(0, kernels, group)
        for c in range(0, channels, block)
    ]


def entries_per_slice(
    width: int, channels: int, configuration: Configuration, precision: Precision = Precision.INT8
) -> int:
    """Return the entries of CBUF that a row of feature data occupies.

    Atoms of one pixel share an entry; those that are left over share entries with other pixels,
    except three of four, which have an entry for each pixel.
    """
    atoms = -(-channels // configuration.atom_elements(precision))
    in_entry = configuration.entry // configuration.atom
    whole, rest = divmod(atoms, in_entry)
    left = width if rest == 3 else -(-rest * width // in_entry)
    return whole * width + left


def pixel_entries(
    width: int, channels: int, configuration: Configuration, precision: Precision
) -> int:
    """Return the entries of CBUF that a row of pixels occupies; the width is with pads."""
    return -(-width * channels * precision.bytes // configuration.entry)


def winograd_entries(
    width: int, channels: int, configuration: Configuration, precision: Precision
) -> int:
    """Return the entries of CBUF that a row of a Winograd convolution occupies, with its pads.

    Channels fill atoms; four pixels are whole entries of the published configurations.
    """
    return -(-width * channels * precision.bytes // configuration.entry)


@dataclass(frozen=True)
class BankUse:
    """The banks of CBUF that an operation needs, for data and for all of its weights."""

    data: int
    weights: int


def bank_use(configuration: Configuration, entries: int, height: int, weight_bytes: int) -> BankUse:
    """Return the banks that all rows, of `entries` each, and all weights occupy."""
    data = -(-entries * height // configuration.bank_entries)
    return BankUse(data, -(-weight_bytes // configuration.bank_bytes))
