"""Arrays in the memory of a GPU, which other libraries take without a copy."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..dtypes import resolve
from ..errors import RunError
from . import dlpack
from .handles import DeviceMemory, Stream

_LEGACY_STREAM, _NO_SYNCHRONIZATION = 1, -1

SPACE = "gpu"
"""The name of the memory space."""


class DeviceArray:
    """Hold an array in the memory of a GPU, in C order; freed when nobody refers to it any more.

    What was done to it may still be under way; whoever takes it by DLPack or by
    `__cuda_array_interface__` waits for that, and so does `numpy()`.
    """

    space = SPACE

    def __init__(self, stream: Stream, shape: tuple[int, ...], dtype: str, what: str) -> None:
        """Allocate an array; `what` names it in the error where memory is too small."""
        self.shape = shape
        self.dtype: np.dtype[Any] = resolve(dtype)
        self.nbytes = math.prod(shape) * self.dtype.itemsize
        self.stream = stream
        self._memory = DeviceMemory(stream.device, self.nbytes, what)

    @property
    def address(self) -> int:
        """Return where it is."""
        return self._memory.address

    def numpy(self) -> NDArray[Any]:
        """Return a copy on the host."""
        result = np.empty(self.shape, self.dtype)
        if self.nbytes:
            with self.stream.device:
                self.stream.download(result.ctypes.data, self.address, self.nbytes)
                self.stream.synchronize()
        return result

    def write(self, values: ArrayLike) -> None:
        """Copy an array of the host here; it must have the same shape and type."""
        source = np.asarray(values)
        if (source.shape, source.dtype) != (self.shape, self.dtype):
            raise RunError(
                f"got {source.dtype}{list(source.shape)}, must get {self.dtype}{list(self.shape)}"
            )
        source = np.ascontiguousarray(source)
        if self.nbytes:
            with self.stream.device:
                self.stream.upload(self.address, source.ctypes.data, self.nbytes)
                self.stream.synchronize()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Describe the array as numba, CuPy and PyTorch read it."""
        if self.dtype.isbuiltin != 1:
            raise AttributeError(f"this protocol has no {self.dtype}: use DLPack")
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "strides": None,
            "stream": self.stream.value.value,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return that this is memory of CUDA, and which GPU's."""
        return dlpack.CUDA, self.stream.device.ordinal

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Give the array; what the consumer does in `stream` comes after what is done here."""
        if dl_device not in (None, self.__dlpack_device__()) or copy:
            raise BufferError("the array is given as it is, where it is: use numpy() for a copy")
        if stream == 0:
            raise BufferError("stream is 0, which is ambiguous: give 1 or 2")
        if stream != _NO_SYNCHRONIZATION:
            with self.stream.device:
                self.stream.hold_up(_LEGACY_STREAM if stream is None else stream)
        place = self.__dlpack_device__()
        return dlpack.give(self, self.address, self.shape, self.dtype.name, place)

    def __repr__(self) -> str:
        return f"DeviceArray({self.dtype}{list(self.shape)} on GPU {self.stream.device.ordinal})"
