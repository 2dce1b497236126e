"""The memories of a simulated NVDLA: allocated and filled as the runtime does."""

import numpy as np
import numpy.typing as npt

from ....dialects.core.errors import CompileError
from .configuration import Configuration
from .format.dla_task import Addressed, Tables
from .format.loadable import MemoryFlags, Tensor
from .format.network import Cube, Precision
from .format.operations import ConvSurface
from .pixels import ImageLayout, PixelFormat, pixel_format
from .planes import PlanarLayout
from .surfaces import DTYPES, Array, SurfaceLayout, layout_of, pack, unpack

Bytes = npt.NDArray[np.uint8]
MOST_BYTES = 1 << 30
_PRECISIONS = {2: Precision.FP16, 3: Precision.INT16, 4: Precision.INT8}
"""The types of tensors."""

_PIXELS = {32: 36, 8: 37}


class Memories:
    """The bytes of a loadable's memories; the tables must have no faults.

    Raises CompileError if they have more than 1 GiB.
    """

    def __init__(self, tables: Tables, configuration: Configuration) -> None:
        self.configuration = configuration
        size = sum(memory.size for memory in tables.memories.values())
        if size > MOST_BYTES:
            raise CompileError(f"the memories have {size} bytes, must have {MOST_BYTES} or less")
        self._bytes = {
            id: np.zeros(memory.size, np.uint8) for id, memory in tables.memories.items()
        }
        for memory in tables.memories.values():
            for offset, blob in tables.placed(memory):
                data = np.frombuffer(blob.data, np.uint8)
                self._bytes[memory.id][offset : offset + data.size] = data

    def bytes_of(self, task: Addressed, cube: Cube) -> Bytes:
        """Return the memory from the start of a cube to the end of its address."""
        return self.bytes_at(task, cube.address)[cube.offset :]

    def bytes_at(self, task: Addressed, index: int) -> Bytes:
        """Return the memory of an address of a task."""
        address = task.addresses[index]
        return self._bytes[address.mem_id][address.offset : address.offset + address.size]

    def read(self, task: Addressed, cube: Cube, precision: Precision) -> Array:
        """Return the image [C, H, W] of a cube."""
        layout = layout_of(cube, self.configuration, precision)
        return unpack(layout, self.bytes_of(task, cube), precision)

    def pixels(self, task: Addressed, surface: ConvSurface, number: int) -> Array:
        """Return the channels [C, H, W] of an image of pixels, as unsigned integers."""
        return ImageLayout.of(surface, number).read(self.bytes_of(task, surface.source))

    def planes(self, task: Addressed, cube: Cube, precision: Precision) -> Array:
        """Return the memory of a cube that is stored in planes, as [C, H, W]."""
        return PlanarLayout.of(cube, precision).view(self.bytes_of(task, cube))

    def write(self, task: Addressed, cube: Cube, image: Array, precision: Precision) -> None:
        """Store an image [C, H, W], whose values the precision has."""
        layout = layout_of(cube, self.configuration, precision)
        pack(image.astype(DTYPES[precision]), layout, self.bytes_of(task, cube))

    def bind(self, tensor: Tensor, image: Array) -> None:
        """Store an input; raise CompileError for another shape or type than the tensor's.

        Images of a batch, [N, C, H, W], follow one another in as many bytes each. The channels of
        pixels are red, green, blue and alpha, or Y, U and V, in any order in memory; those of 10 or
        2 bits are the upper ones of 16. Channels behind them are 0.
        """
        form = pixel_format(tensor.pixel_format)
        layout = self._layout(tensor)[0] if form is None else self._pixels(tensor, form)
        shape, dtype = tensor_shape(tensor), tensor_dtype(tensor)
        if image.shape != shape or image.dtype != dtype:
            has = f"{image.dtype} {list(image.shape)}"
            raise CompileError(f"input '{tensor.name}' is {has}, must be {dtype} {list(shape)}")
        for each, memory in zip(image.reshape(-1, *shape[-3:]), self._images(tensor), strict=True):
            if isinstance(layout, ImageLayout):
                more = layout.form.channels - len(each)
                layout.write(np.pad(each, ((0, more), (0, 0), (0, 0))), memory)
            else:
                pack(each, layout, memory)

    def output(self, tensor: Tensor) -> Array:
        """Return an output [C, H, W], or [N, C, H, W] of a batch, of the tensor's type."""
        layout, precision = self._layout(tensor)
        images = [unpack(layout, memory, precision) for memory in self._images(tensor)]
        return np.stack(images).reshape(tensor_shape(tensor))

    def _images(self, tensor: Tensor) -> list[Bytes]:
        """Return the memory of each image of a tensor: one alone has all that follows."""
        memory, size = self._bytes[tensor.mem_id][tensor.offset :], self._room(tensor)
        return [memory[number * size :][:size] for number in range(tensor.n)]

    def _room(self, tensor: Tensor) -> int:
        """Return how many bytes an image of a tensor may have."""
        whole = self._bytes[tensor.mem_id].size - tensor.offset
        return whole if tensor.n == 1 else tensor.size // tensor.n

    def _pixels(self, tensor: Tensor, form: PixelFormat) -> ImageLayout:
        layout = ImageLayout(form, tensor.h, tensor.w, (0,), (tensor.stride_1,))
        fault = None
        if len(form.planes) > 1:
            fault = f"has pixels {form}, must be of one plane"
        elif not 1 <= tensor.c <= form.channels:
            fault = f"has {tensor.c} channels, must be up to {form.channels} for pixels {form}"
        elif tensor_dtype(tensor).itemsize != form.precision.bytes:
            fault = f"has type {tensor.data_type}, which pixels {form} have not"
        fault = fault or layout.fault(self.configuration.atom)
        if fault is None and layout.end > self._room(tensor):
            fault = "ends behind its memory, by its strides"
        if fault is not None:
            raise CompileError(f"tensor '{tensor.name}' {fault}")
        return layout

    def _layout(self, tensor: Tensor) -> tuple[SurfaceLayout, Precision]:
        atom = self.configuration.atom
        fault = None
        precision = _PRECISIONS.get(tensor.data_type, Precision.INT8)
        if tensor.data_type not in _PRECISIONS:
            kinds = ", ".join(map(str, _PRECISIONS))
            fault = f"has type {tensor.data_type}, must be one of {kinds}"
        elif tensor.pixel_format != _PIXELS.get(atom, tensor.pixel_format):
            must = f"must be {_PIXELS[atom]} for atoms of {atom} bytes"
            fault = f"has pixel format {tensor.pixel_format}, {must}"
        layout = SurfaceLayout(
            tensor.c,
            tensor.h,
            tensor.w,
            atom,
            atom // precision.bytes,
            tensor.stride_1,
            tensor.stride_2,
        )
        fault = fault or layout.fault()
        if fault is None and layout.bytes > self._room(tensor):
            fault = "ends behind its memory, by its strides"
        if fault is not None:
            raise CompileError(f"tensor '{tensor.name}' {fault}")
        return layout, precision


def tensor_shape(tensor: Tensor) -> tuple[int, ...]:
    """Return the shape of a tensor's array: that of an image, or of a batch of several."""
    image = tensor.c, tensor.h, tensor.w
    return image if tensor.n == 1 else (tensor.n, *image)


def tensor_dtype(tensor: Tensor) -> np.dtype[np.generic]:
    """Return the type of a tensor's elements; raise CompileError for a type that is not run."""
    if tensor.data_type not in _PRECISIONS:
        kinds = ", ".join(map(str, _PRECISIONS))
        raise CompileError(
            f"tensor '{tensor.name}' has type {tensor.data_type}, must be one of {kinds}"
        )
    return np.dtype(DTYPES[_PRECISIONS[tensor.data_type]])


def bound_tensors(tables: Tables, flag: MemoryFlags) -> list[Tensor]:
    """Return the tensors of inputs or outputs, in the order of binding."""
    tensors = {each.id: each for each in tables.loadable.tensor_desc_list}
    memories = [each for each in tables.loadable.memory_list if each.flags & flag]
    memories.sort(key=lambda each: each.bind_id)
    return [tensors[each.tensor_desc_id] for each in memories]
