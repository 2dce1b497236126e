"""Exchange arrays by DLPack, as dlpack.h lays it out."""

import ctypes
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import RunError

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13

_KINDS = {0: "int", 1: "uint", 2: "float", 5: "complex"}
_SMALL_FLOATS = (
    *("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
)
_TYPES = (
    {(code, bits): f"{kind}{bits}" for code, kind in _KINDS.items() for bits in (8, 16, 32, 64)}
    | {(5, 128): "complex128", (4, 16): "bfloat16", (6, 8): "bool"}
    | {(7 + i, 8): name for i, name in enumerate(_SMALL_FLOATS)}
)
_CODES = {name: key for key, name in _TYPES.items()}
_READ_ONLY = 1

_PLAIN, _USED_PLAIN = b"dltensor", b"used_dltensor"
_VERSIONED, _USED_VERSIONED = b"dltensor_versioned", b"used_dltensor_versioned"


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _ManagedVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)

_python: Any = ctypes.pythonapi


def _function(name: str, result: Any, *parameters: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *parameters)((name, _python))


_is_valid = _function("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_pointer = _function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
_set_name = _function("PyCapsule_SetName", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_new = _function(
    "PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)


@dataclass(eq=False)
class Imported:
    """Describe a tensor of another library, which keeps it until this object is gone.

    Strides are in elements; None means that the tensor is contiguous. `dtype` is empty where it has
    no name here.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: str
    device: tuple[int, int]
    writable: bool


def take(capsule: object) -> Imported:
    """Take over what a `__dlpack__` returned."""
    at = id(capsule)
    for name, used, kind in (
        (_VERSIONED, _USED_VERSIONED, _ManagedVersioned),
        (_PLAIN, _USED_PLAIN, _Managed),
    ):
        if _is_valid(at, name):
            address = _pointer(at, name)
            _set_name(at, used)
            return _imported(address, kind.from_address(address))
    raise RunError("what __dlpack__ returned is not a capsule of DLPack")


def _imported(address: int, managed: Any) -> Imported:
    tensor = managed.tensor
    rank = tensor.ndim
    made = Imported(
        (tensor.data or 0) + tensor.byte_offset,
        tuple(tensor.shape[:rank]),
        tuple(tensor.strides[:rank]) if tensor.strides else None,
        _TYPES.get((tensor.code, tensor.bits), "") if tensor.lanes == 1 else "",
        (tensor.device_type, tensor.device_id),
        not getattr(managed, "flags", 0) & _READ_ONLY,
    )
    if managed.deleter:
        weakref.finalize(made, _Deleter(managed.deleter), address).atexit = False
    return made


def give(
    owner: object, address: int, shape: Sequence[int], dtype: str, device: tuple[int, int]
) -> object:
    """Return a capsule for an array without gaps; `owner` is kept until it is not needed."""
    if dtype not in _CODES:
        raise BufferError(f"DLPack has no element type '{dtype}'")
    sizes = (ctypes.c_int64 * max(1, len(shape)))(*shape)
    strides = (ctypes.c_int64 * max(1, len(shape)))(*contiguous_strides(shape))
    code, bits = _CODES[dtype]
    tensor = _Tensor(address, *device, len(shape), code, bits, 1, sizes, strides, 0)
    managed = _Managed(tensor, None, ctypes.cast(_forget, ctypes.c_void_p))
    at = ctypes.addressof(managed)
    _given[at] = (owner, managed, sizes, strides)
    return _new(at, _PLAIN, ctypes.cast(_destroy, ctypes.c_void_p))


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides, in elements, of a tensor without gaps."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return tuple(strides)


# What others hold, by the address that they have.
_given: dict[int, tuple[object, ...]] = {}


@_Deleter
def _forget(address: int) -> None:
    _given.pop(address, None)


@_Destructor
def _destroy(capsule: int) -> None:
    # A capsule that was taken has another name, and the taker deletes what is in it.
    if _is_valid(capsule, _PLAIN):
        _given.pop(_pointer(capsule, _PLAIN), None)
