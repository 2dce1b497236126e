"""Take arrays that other libraries have on a GPU, by DLPack or __cuda_array_interface__."""

import ctypes
import math
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from ..dtypes import resolve
from ..errors import RunError
from . import dlpack
from .array import SPACE, DeviceArray
from .dlpack import CUDA, CUDA_MANAGED
from .handles import Stream

_DEVICE_ORDINAL = 9  # CUpointer_attribute
_LEGACY_STREAM = 1
_FIRST_WITH_STREAM = 3
_NO_SYNCHRONIZATION = -1


class HasDlpack(Protocol):
    """Give an array by DLPack."""

    def __dlpack_device__(self) -> tuple[int, int]: ...

    def __dlpack__(self, *, stream: int | None = None) -> object: ...


class HasCudaInterface(Protocol):
    """Describe an array on a GPU as numba has it."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


DeviceArrayLike: TypeAlias = HasDlpack | HasCudaInterface


@dataclass(eq=False)
class Borrowed:
    """Hold an array of the caller on a GPU, and what keeps it there."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    contiguous: bool
    writable: bool
    owner: object
    space: str = SPACE

    @property
    def nbytes(self) -> int:
        """Return how many bytes it takes."""
        return math.prod(self.shape) * self.dtype.itemsize


def on_device(value: object) -> bool:
    """Return whether an array is in the memory of a GPU; one without memory is in none."""
    if hasattr(value, "__dlpack_device__"):
        try:
            device, _ = cast("HasDlpack", value).__dlpack_device__()
        except (BufferError, RuntimeError, ValueError):  # such as a tensor of torch on "meta"
            return False
        return int(device) in (CUDA, CUDA_MANAGED)
    return hasattr(value, "__cuda_array_interface__")


def shape_on_device(value: object) -> tuple[int, ...]:
    """Return the shape of an array on a GPU, without waiting for anything."""
    table = getattr(value, "__cuda_array_interface__", None)
    shape = table["shape"] if table else getattr(value, "shape", None)
    if shape is None:
        capsule = cast("HasDlpack", value).__dlpack__(stream=_NO_SYNCHRONIZATION)
        shape = dlpack.take(capsule).shape
    return tuple(map(int, shape))


def borrow(value: object, stream: Stream, role: str) -> Borrowed:
    """Use an array on a GPU after the pending work of its owner; `role` names it in errors."""
    if isinstance(value, DeviceArray) and value.stream is stream:
        return Borrowed(value.address, value.shape, value.dtype, True, True, value)
    try:
        if hasattr(value, "__dlpack__"):
            borrowed = _by_dlpack(cast("HasDlpack", value), stream)
        else:
            borrowed = _by_interface(cast("HasCudaInterface", value), stream)
    except (BufferError, RuntimeError, TypeError, ValueError, KeyError) as error:
        # As of a tensor that keeps a gradient.
        words = " ".join(str(error).split())
        raise RunError(f"{role} cannot be taken from the GPU: {words}") from None
    _check_device(borrowed, stream, role)
    return borrowed


def _by_dlpack(value: HasDlpack, stream: Stream) -> Borrowed:
    handle = stream.value.value
    try:
        # Only from version 1 on does it say what must not be written.
        capsule = cast("Any", value).__dlpack__(stream=handle, max_version=(1, 0))
    except TypeError:
        capsule = value.__dlpack__(stream=handle)
    made = dlpack.take(capsule)
    if not made.dtype:
        raise BufferError("it has an element type that no runtime knows")
    dtype = resolve(made.dtype)
    plain = _contiguous(made.shape, made.strides)
    return Borrowed(made.address, made.shape, dtype, plain, made.writable, made)


def _by_interface(value: HasCudaInterface, stream: Stream) -> Borrowed:
    table = value.__cuda_array_interface__
    dtype = np.dtype(table["typestr"])
    shape = tuple(int(size) for size in table["shape"])
    address, read_only = table["data"]
    given = table.get("strides")
    strides = None if given is None else tuple(int(step) // dtype.itemsize for step in given)
    producer = table.get("stream")
    if int(table["version"]) < _FIRST_WITH_STREAM:
        producer = _LEGACY_STREAM
    if producer is not None:
        stream.wait_for(producer)
    return Borrowed(address, shape, dtype, _contiguous(shape, strides), not read_only, value)


def _contiguous(shape: tuple[int, ...], strides: tuple[int, ...] | None) -> bool:
    if strides is None or 0 in shape:
        return True
    wanted = dlpack.contiguous_strides(shape)
    return all(n == 1 or a == b for n, a, b in zip(shape, strides, wanted, strict=True))


def _check_device(borrowed: Borrowed, stream: Stream, role: str) -> None:
    if not borrowed.nbytes:
        return
    ordinal = ctypes.c_int()
    device = stream.device
    code = device.driver.function("cuPointerGetAttribute")(
        ctypes.addressof(ordinal), _DEVICE_ORDINAL, borrowed.address
    )
    if code:
        raise RunError(f"{role} is not in the memory of a GPU, though it says so")
    if ordinal.value != device.ordinal:
        raise RunError(
            f"{role} is on GPU {ordinal.value}, the package runs on GPU {device.ordinal}: copy it"
        )
