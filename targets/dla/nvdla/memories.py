"""The memories of a simulated NVDLA: allocated and filled as the runtime does."""

import numpy as np
import numpy.typing as npt

from ....dialects.core.errors import CompileError
from .configuration import Configuration
from .dla_task import DlaTask, Tables
from .loadable import MemoryFlags, Tensor
from .network import Cube, Precision
from .planes import PlanarLayout
from .surfaces import Array, SurfaceLayout, layout_of, pack, unpack

Bytes = npt.NDArray[np.uint8]
MOST_BYTES = 1 << 30
_INT8, _PIXELS = 4, {32: 36, 8: 37}


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

    def bytes_of(self, task: DlaTask, cube: Cube) -> Bytes:
        """Return the memory from the start of a cube to the end of its address."""
        return self.bytes_at(task, cube.address)[cube.offset :]

    def bytes_at(self, task: DlaTask, index: int) -> Bytes:
        """Return the memory of an address of a task."""
        address = task.addresses[index]
        return self._bytes[address.mem_id][address.offset : address.offset + address.size]

    def read(self, task: DlaTask, cube: Cube) -> Array:
        """Return the int8 image [C, H, W] of a cube."""
        layout = layout_of(cube, self.configuration, Precision.INT8)
        return unpack(layout, self.bytes_of(task, cube), Precision.INT8)

    def planes(self, task: DlaTask, cube: Cube) -> Array:
        """Return the memory of a cube that is stored in planes, as int8 [C, H, W]."""
        return PlanarLayout.of(cube).view(self.bytes_of(task, cube))

    def write(self, task: DlaTask, cube: Cube, image: Array) -> None:
        """Store an image [C, H, W] as int8."""
        layout = layout_of(cube, self.configuration, Precision.INT8)
        pack(image.astype(np.int8), layout, self.bytes_of(task, cube))

    def bind(self, tensor: Tensor, image: Array) -> None:
        """Store an input; raise CompileError for another shape or type than the tensor's."""
        layout = self._layout(tensor)
        shape = (tensor.c, tensor.h, tensor.w)
        if image.shape != shape or image.dtype != np.int8:
            has = f"{image.dtype} {list(image.shape)}"
            raise CompileError(f"input '{tensor.name}' is {has}, must be int8 {list(shape)}")
        pack(image, layout, self._bytes[tensor.mem_id][tensor.offset :])

    def output(self, tensor: Tensor) -> Array:
        """Return an output, int8 [C, H, W]."""
        memory = self._bytes[tensor.mem_id][tensor.offset :]
        return unpack(self._layout(tensor), memory, Precision.INT8).astype(np.int8)

    def _layout(self, tensor: Tensor) -> SurfaceLayout:
        atom = self.configuration.atom
        fault = None
        if tensor.n != 1 or tensor.data_type != _INT8:
            fault = f"has {tensor.n} images of type {tensor.data_type}, must be 1 of type {_INT8}"
        elif tensor.pixel_format != _PIXELS.get(atom, tensor.pixel_format):
            must = f"must be {_PIXELS[atom]} for atoms of {atom} bytes"
            fault = f"has pixel format {tensor.pixel_format}, {must}"
        layout = SurfaceLayout(
            tensor.c, tensor.h, tensor.w, atom, atom, tensor.stride_1, tensor.stride_2
        )
        fault = fault or layout.fault()
        if fault is None and layout.bytes > self._bytes[tensor.mem_id].size - tensor.offset:
            fault = "ends behind its memory, by its strides"
        if fault is not None:
            raise CompileError(f"tensor '{tensor.name}' {fault}")
        return layout


def bound_tensors(tables: Tables, flag: MemoryFlags) -> list[Tensor]:
    """Return the tensors of inputs or outputs, in the order of binding."""
    tensors = {each.id: each for each in tables.loadable.tensor_desc_list}
    memories = [each for each in tables.loadable.memory_list if each.flags & flag]
    memories.sort(key=lambda each: each.bind_id)
    return [tensors[each.tensor_desc_id] for each in memories]
