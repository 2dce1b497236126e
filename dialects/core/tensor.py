"""Tensor types as plain Python: shape and element type, and the arithmetic on them. No MLIR.

The sizes of a shape are ints, or expressions of symbols (`sizes/dim.py`).
"""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import Invalid, Unsupported
from .extras import missing
from .quantized import QuantizedType, is_quantized
from .sizes.atoms import Size, is_symbolic
from .sizes.checks import need_same
from .sizes.dim import symbols_of
from .sizes.limits import bounds
from .sizes.substitution import likely
from .sizes.symbols import Range

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[Size, ...]

Bindings = Mapping[str, int | Range | Sequence[int | str | None] | None]
"""Sizes by the name of a dimension, by an axis (`x.0`), or, whole shapes, by the input's name.

A range is of the sizes that runs may have, and a name in a shape names its size. None leaves a size
as the model declares it.
"""


@dataclass(frozen=True)
class DType:
    """Describe an element type: its MLIR spelling, its numpy name, its kind and width."""

    name: str
    numpy: str
    # "float", "int", "uint", "bool", "quantized", "string", or "narrow": to be cast, not computed
    kind: str
    bits: int

    @property
    def itemsize(self) -> int:
        """Count the bytes of an element in memory: at least one."""
        return max(self.bits // 8, 1)


class _Table(dict[str, DType]):
    """Also look up quantised types, which are too many to be listed, by their storage."""

    def __missing__(self, name: str) -> DType:
        if not is_quantized(name):
            raise KeyError(name)
        storage = self[QuantizedType.parse(name).storage]
        return DType(name, storage.numpy, "quantized", storage.bits)


UNCOMPUTED = ("narrow", "string")
"""The kinds of types whose elements are moved and compared: others are computed with."""

STRING = "!tri.string"
"""The element type of text: arrays hold Python strings, memory holds a handle for each."""

DTYPES: dict[str, DType] = _Table(
    (d.name, d)
    for d in (
        DType("f64", "float64", "float", 64),
        DType("f32", "float32", "float", 32),
        DType("f16", "float16", "float", 16),
        DType("bf16", "bfloat16", "float", 16),
        DType("i64", "int64", "int", 64),
        DType("i32", "int32", "int", 32),
        DType("i16", "int16", "int", 16),
        DType("i8", "int8", "int", 8),
        DType("ui64", "uint64", "uint", 64),
        DType("ui32", "uint32", "uint", 32),
        DType("ui16", "uint16", "uint", 16),
        DType("ui8", "uint8", "uint", 8),
        DType("i1", "bool", "bool", 8),
        DType("f8E4M3FN", "float8_e4m3fn", "narrow", 8),
        DType("f8E4M3FNUZ", "float8_e4m3fnuz", "narrow", 8),
        DType("f8E5M2", "float8_e5m2", "narrow", 8),
        DType("f8E5M2FNUZ", "float8_e5m2fnuz", "narrow", 8),
        DType("f8E8M0FNU", "float8_e8m0fnu", "narrow", 8),
        DType("f4E2M1FN", "float4_e2m1fn", "narrow", 4),
        DType("i4", "int4", "narrow", 4),
        DType("ui4", "uint4", "narrow", 4),
        DType("i2", "int2", "narrow", 2),
        DType("ui2", "uint2", "narrow", 2),
        DType(STRING, "object", "string", 64),
    )
)
COMPUTED = tuple(name for name, d in DTYPES.items() if d.kind not in UNCOMPUTED)
_BY_NUMPY = {d.numpy: d.name for d in DTYPES.values()}


@dataclass(frozen=True)
class Tensor:
    """The type of a tensor value: its shape and the MLIR spelling of its element type."""

    shape: Shape
    dtype: str

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Size:
        """Count the elements."""
        return math.prod(self.shape)

    @property
    def size_bytes(self) -> Size:
        return self.size * DTYPES[self.dtype].itemsize

    @property
    def likely_bytes(self) -> int:
        """Return `size_bytes` at the likely sizes of symbols: for estimates of costs only."""
        return likely(self.size_bytes)

    @property
    def symbols(self) -> frozenset[str]:
        """Return the names of the symbols that the shape depends on: none for a static one."""
        return frozenset(name for size in self.shape for name in symbols_of(size))

    @property
    def is_static(self) -> bool:
        """Return whether the sizes are known at compile time."""
        return not any(map(is_symbolic, self.shape))

    @property
    def likely(self) -> "Tensor":
        """Return the type with the likely sizes of its symbols: for costs only."""
        if self.is_static:
            return self
        return Tensor(tuple(map(likely, self.shape)), self.dtype)

    def __str__(self) -> str:
        sizes = "".join("?x" if is_symbolic(size) else f"{size}x" for size in self.shape)
        if self.is_static:
            return f"tensor<{sizes}{self.dtype}>"
        names = ", ".join(f'"{size}"' if is_symbolic(size) else '""' for size in self.shape)
        return f"tensor<{sizes}{self.dtype}, [{names}]>"

    @staticmethod
    def of(array: Array) -> "Tensor":
        """Return the type of a numpy array."""
        return Tensor(tuple(array.shape), dtype_of(array.dtype))


MOST_BYTES = 1 << 47
"""The user address space of x86-64; packages with larger tensors do not load."""

MOST_AXES = 64
"""The most axes that numpy has, and with it packages and reference kernels."""


def size_fault(tensor: Tensor) -> str | None:
    """Return why no address space, or no array of numpy, can hold a tensor of a type, or None."""
    if tensor.rank > MOST_AXES:
        return f"a tensor of rank {tensor.rank}, must be at most {MOST_AXES}"
    # Axes of 0 do not hide the others: strides are computed of all.
    least = (bounds(size)[0] or 1 for size in tensor.shape)
    extent = math.prod(max(size, 1) for size in least) * DTYPES[tensor.dtype].itemsize
    if extent > MOST_BYTES:
        return f"{tensor}, must have at most 2^47 bytes"
    return None


@functools.cache
def dtype_of(dtype: "np.dtype[Any]") -> str:
    """Return the MLIR spelling of a numpy dtype; raise Unsupported when Trivium has none."""
    if dtype.name not in _BY_NUMPY:
        known = ", ".join(_BY_NUMPY)
        raise Unsupported(f"element type {dtype.name} is not one of {known}")
    return _BY_NUMPY[dtype.name]


def bytes_of(array: Array) -> Array:
    """Return the bytes of an array in row-major order, as u8; a copy only where it must be."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def dense(array: Array) -> Array:
    """Return an array whose elements fill its memory, axes in any order; a copy of any other."""
    order = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    is_dense = array.transpose(order).flags.c_contiguous
    return array if is_dense else np.ascontiguousarray(array)


def same_bits(a: Array, b: Array) -> bool:
    """Return whether two arrays have equal bytes: NaNs may be equal, 0.0 and -0.0 are not."""
    return a is b or bool(np.array_equal(bytes_of(a), bytes_of(b)))


@functools.cache
def numpy_dtype(dtype: str) -> "np.dtype[Any]":
    """Return the numpy dtype of an MLIR spelling; those that numpy lacks are of ml_dtypes.

    Raises CompileError where ml_dtypes is not installed.
    """
    name = DTYPES[dtype].numpy
    if name != "bfloat16" and not is_narrow(dtype):
        return np.dtype(name)
    try:
        import ml_dtypes
    except ModuleNotFoundError:
        raise missing("ml_dtypes", f"element type {dtype}") from None
    return np.dtype(getattr(ml_dtypes, name))


def is_narrow(dtype: str) -> bool:
    """Return whether numbers of a type are stored, and cast to be computed with."""
    return DTYPES[dtype].kind == "narrow"


def is_float(dtype: str) -> bool:
    return DTYPES[dtype].kind == "float"


def is_computed(dtype: str) -> bool:
    """Return whether ops compute with elements of a type as they are."""
    return DTYPES[dtype].kind not in UNCOMPUTED


def is_string(dtype: str) -> bool:
    return dtype == STRING


def is_narrow_integer(dtype: str) -> bool:
    """Return whether a type has integers of fewer than 8 bits."""
    return is_narrow(dtype) and "int" in DTYPES[dtype].numpy


def integer_range(dtype: str) -> tuple[int, int]:
    """Return the least and the greatest number of an integer type, of any width."""
    bits, signed = DTYPES[dtype].bits, not DTYPES[dtype].numpy.startswith("u")
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def greatest_finite(dtype: str) -> float:
    """Return the greatest finite number of a float type; its negative is the lowest."""
    kind = numpy_dtype(dtype).type
    return float(np.nextafter(kind(np.inf), kind(0)))


def is_integer(dtype: str) -> bool:
    return DTYPES[dtype].kind in ("int", "uint")


def normalize_axis(axis: int, rank: int) -> int:
    """Map an axis in [-rank, rank) to [0, rank); raise Invalid outside of it."""
    if not -rank <= axis < rank:
        raise Invalid(f"axis {axis} is outside [{-rank}, {rank}) of a rank-{rank} tensor")
    return axis % rank


def normalize_axes(axes: Iterable[int], rank: int) -> tuple[int, ...]:
    """Normalise several axes and sort them; raise Invalid on a repeated one."""
    normal = tuple(sorted(normalize_axis(a, rank) for a in axes))
    if len(set(normal)) != len(normal):
        raise Invalid(f"axes {tuple(axes)} name an axis twice")
    return normal


def broadcast(*shapes: Shape) -> Shape:
    """Broadcast shapes together by numpy's rule; raise Invalid when they do not fit.

    A size that depends on a run is not 1: beside another size it must be equal to that.
    """
    if any(is_symbolic(size) for shape in shapes for size in shape):
        return _broadcast_symbolic(shapes)
    return _broadcast_static(*shapes)


@functools.lru_cache
def _broadcast_static(*shapes: Shape) -> Shape:
    try:
        return tuple(np.broadcast_shapes(*shapes))
    except (ValueError, RuntimeError):  # sizes that differ, or more axes than numpy has
        listed = " and ".join("x".join(map(str, s)) or "scalar" for s in shapes)
        raise Invalid(f"shapes {listed} do not broadcast") from None


def _broadcast_symbolic(shapes: Sequence[Shape]) -> Shape:
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    sizes: list[Size] = []
    for axis, column in enumerate(zip(*padded, strict=True)):
        size, *others = sorted(dict.fromkeys(s for s in column if s != 1), key=_order) or [1]
        for other in others:
            need_same(other, size, f"has sizes {other} and {size} along axis {axis - rank}")
        sizes.append(size)
    return tuple(sizes)


def _order(size: Size) -> tuple[bool, bool]:
    """Return the key by which sizes that must be equal are chosen: numbers, then names."""
    return is_symbolic(size), not str(size).isidentifier()


def need_broadcast(shape: Shape, to: Shape, message: str) -> None:
    """Require a shape to broadcast to another one; `message` says what is wrong if it does not.

    A size that depends on a run must be that of the other shape, even if it may be 1.
    """
    if not any(map(is_symbolic, (*shape, *to))):
        if broadcast(shape, to) != to:
            raise Invalid(message)
        return
    if len(shape) > len(to):
        raise Invalid(message)
    for size, wanted in zip(shape[::-1], to[::-1], strict=False):
        if size != 1:
            need_same(size, wanted, message)


def same_dtype(*tensors: "Tensor | None") -> str:
    """Return the one element type of all tensors given; raise Invalid when they differ."""
    dtypes = [t.dtype for t in tensors if t is not None]
    if len(set(dtypes)) != 1:
        raise Invalid(f"operands have element types {', '.join(dtypes)}, must be the same")
    return dtypes[0]
