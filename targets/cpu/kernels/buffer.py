"""`Buffer`: a tensor in memory as a kernel sees it; converts between memory and registers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from ....dialects.core.mlir import ir, upstream
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.tensor import DTYPES, Shape, Tensor, is_narrow
from ...kernels.arithmetic import compute_dtype
from ...kernels.strided import StridedBuffer
from ...memory.strides import row_major
from .halves import round_to_bf16
from .index import IndexExpr, as_index, place_dtype
from .value import Value, arith, constant_of, element_type, shaped_like

LINE = 64
"""Bytes of a cache line."""

vector: Any = upstream("vector")
memref: Any = upstream("memref")


@dataclass(frozen=True)
class Lanes:
    """Ask for `width` neighbouring elements at once; `mask` (a vector of i1) leaves some out."""

    width: int
    mask: Any = None


HALVES = ("f16", "bf16")

STORAGE = {"i1": "ui8", **dict.fromkeys(HALVES, "ui16")}
"""The type in which kernels load and store an element type, where the two differ.

A bool is stored in a byte. f16 and bf16 are loaded as integers: without native instructions, LLVM
would convert the lanes of masked vectors by library calls.
"""


def storage_dtype(dtype: str) -> str:
    return "ui8" if is_narrow(dtype) else STORAGE.get(dtype, dtype)


def storage_type(dtype: str) -> ir.Type:
    """Return the type an element has in memory."""
    return element_type(storage_dtype(dtype))


class Buffer(StridedBuffer):
    """View a flat memref as a tensor with strides; a stride of 0 repeats along a dimension."""

    def __init__(
        self,
        memory: Any,
        tensor: Tensor,
        strides: Sequence[Size] | None = None,
        offset: IndexExpr | None = None,
    ) -> None:
        self.memory = memory
        self.tensor = tensor
        self.strides = tuple(strides) if strides is not None else row_major(tensor.shape)
        self.offset = offset or IndexExpr(0)

    def reshape(self, shape: Shape) -> Self:
        """View the same contiguous elements under another shape."""
        return type(self)(self.memory, Tensor(shape, self.dtype), offset=self.offset)

    def with_strides(self, shape: Shape, strides: Shape) -> Self:
        """View the same elements with other strides."""
        return type(self)(self.memory, Tensor(shape, self.dtype), strides, self.offset)

    def stored(self) -> "Buffer":
        """View halves as the integers that are stored, with a sign."""
        return Buffer(self.memory, Tensor(self.shape, "i16"), self.strides, self.offset)

    def part(self, indices: Sequence[IndexExpr]) -> Self:
        """View the sub-tensor at some leading indices."""
        count = len(indices)
        at = self.offset
        for index, stride in zip(indices, self.strides[:count], strict=True):
            at = at + index * stride
        tensor = Tensor(self.shape[count:], self.dtype)
        return type(self)(self.memory, tensor, self.strides[count:], at)

    def slice(self, starts: Sequence[Size], sizes: Shape, steps: Sequence[int]) -> Self:
        """View `sizes` elements of each dimension, from `starts` on, `steps` apart."""
        offset = self.position([IndexExpr(start) for start in starts])
        strides = [stride * step for stride, step in zip(self.strides, steps, strict=True)]
        return type(self)(self.memory, Tensor(sizes, self.dtype), strides, offset)

    def position(self, indices: Sequence[IndexExpr]) -> IndexExpr:
        """Return the flat position of an element."""
        at = self.offset
        for index, stride in zip(indices, self.strides, strict=True):
            at = at + index * stride
        return at

    def load(self, indices: Sequence[IndexExpr], lanes: Lanes | None = None) -> Value:
        """Load one element, or a vector of neighbours along the last dimension."""
        at = self.position(indices)
        if lanes is None:
            return unpack(memref.load(self.memory, [at.ssa]), self.dtype)
        stride = self.strides[-1] if self.strides else 0
        if stride == 0:
            one = self.load(indices)
            type_ = ir.VectorType.get([lanes.width], one.ssa.type)
            return one.with_ssa(vector.broadcast(type_, one.ssa))
        if stride == 1:
            return unpack(self._load_contiguous(at, lanes), self.dtype)
        return self.gather(at, lane_steps(stride, lanes.width), lanes)

    def load_bytes(self, at: IndexExpr, dtype: str, width: int) -> Value:
        """Load a vector of numbers of a type from bytes that start at a flat position."""
        size = DTYPES[dtype].itemsize
        bytes_ = vector.load(
            ir.VectorType.get([width * size], storage_type("ui8")), self.memory, [at.ssa]
        )
        if size == 1:
            return unpack(bytes_, dtype)
        type_ = ir.VectorType.get([width], storage_type(dtype))
        return unpack(vector.bitcast(type_, bytes_), dtype)

    def prefetch(self, position: IndexExpr, writes: bool = False, level: int = 2) -> None:
        """Prefetch the cache line at a flat position, which may be outside of the memory.

        `level` is that of the nearest cache that is to hold it.
        """
        locality = 4 - level
        memref.PrefetchOp(self.memory, [position.ssa], writes, locality, True)

    def prefetch_run(self, position: IndexExpr, count: int, writes: bool = False) -> None:
        """Prefetch neighbouring elements from a flat position on, into the first-level cache."""
        for offset in range(0, count, LINE // DTYPES[self.dtype].itemsize):
            self.prefetch(position + offset, writes, level=1)

    def _load_contiguous(self, at: IndexExpr, lanes: Lanes) -> Any:
        type_ = ir.VectorType.get([lanes.width], storage_type(self.dtype))
        if lanes.mask is None:
            return vector.load(type_, self.memory, [at.ssa])
        return vector.maskedload(type_, self.memory, [at.ssa], lanes.mask, self._fill(type_))

    def gather(self, at: IndexExpr, steps: Any, lanes: Lanes) -> Value:
        """Load elements at `at` plus a vector of integer steps, in elements."""
        type_ = ir.VectorType.get([lanes.width], storage_type(self.dtype))
        mask = lanes.mask if lanes.mask is not None else all_lanes(lanes.width)
        loaded = vector.gather(type_, self.memory, [at.ssa], steps, mask, self._fill(type_))
        return unpack(loaded, self.dtype)

    def _fill(self, type_: ir.Type) -> Any:
        """Return the value of masked-off lanes, on which no arithmetic traps."""
        return constant_of(0, storage_dtype(self.dtype), type_)

    def store(self, value: Value, indices: Sequence[IndexExpr], lanes: Lanes | None = None) -> None:
        """Store one element, or neighbours along the (contiguous) last dimension."""
        at = self.position(indices)
        packed = pack(value, self.dtype)
        if lanes is None:
            memref.store(packed, self.memory, [at.ssa])
        elif lanes.mask is None:
            vector.store(packed, self.memory, [at.ssa])
        else:
            vector.maskedstore(self.memory, [at.ssa], lanes.mask, packed)


def unpack(stored: Any, dtype: str) -> Value:
    """Convert a loaded element from its storage type to a `Value` to compute with."""
    if dtype == "i1":
        zero = constant_of(0, "ui8", stored.type)
        return Value(arith.cmpi(arith.CmpIPredicate.ne, stored, zero), "i1")
    wide = compute_dtype(dtype)
    if wide == dtype or is_narrow(dtype):
        return Value(stored, wide)
    if dtype == "bf16":
        bits = arith.extui(shaped_like(stored.type, element_type("ui32")), stored)
        widened = Value(bits, "ui32").shift_left(16).bits(wide).ssa
    else:
        half = arith.bitcast(shaped_like(stored.type, element_type(dtype)), stored)
        widened = arith.extf(shaped_like(stored.type, element_type(wide)), half)
    return Value(widened, wide, (stored, dtype))


def pack(value: Value, dtype: str) -> Any:
    """Convert a computed `Value` to the storage type of an element type.

    What was loaded from that type and only moved keeps its bits.
    """
    if value.stored is not None and value.stored[1] == dtype:
        return value.stored[0]
    if dtype == "i1":
        return arith.extui(shaped_like(value.ssa.type, storage_type("i1")), value.ssa)
    if dtype == "f16":
        half = arith.truncf(value.shaped("f16"), value.ssa)
        return arith.bitcast(value.shaped("ui16"), half)
    if dtype == "bf16":
        return round_to_bf16(value)
    return value.ssa


def constant_vector(values: Sequence[int], dtype: str = "i32") -> Any:
    """Emit a vector of integer constants."""
    element = element_type(dtype)
    type_ = ir.VectorType.get([len(values)], element)
    elements = [ir.IntegerAttr.get(element, v) for v in values]
    attribute: Any = ir.DenseElementsAttr.get(elements, type=type_)
    return arith.constant(type_, attribute)


def lane_steps(stride: Size, width: int) -> Any:
    """Emit the vector 0, stride, 2 * stride, …"""
    dtype = place_dtype(stride * width)
    if not is_symbolic(stride):
        return constant_vector([stride * lane for lane in range(width)], dtype)
    repeated = vector.broadcast(
        ir.VectorType.get([width], element_type(dtype)), IndexExpr(stride).to_value(dtype).ssa
    )
    return arith.muli(repeated, constant_vector(list(range(width)), dtype))


def all_lanes(width: int) -> Any:
    """Emit a mask that leaves no lane out."""
    return constant_of(1, "i1", ir.VectorType.get([width], ir.IntegerType.get_signless(1)))


def tail_mask(width: int, count: IndexExpr | Size) -> Any:
    """Emit a mask of the first `count` lanes."""
    type_ = ir.VectorType.get([width], ir.IntegerType.get_signless(1))
    # `create_mask` needs a count of 32 bits.
    known = not isinstance(count, IndexExpr) and not is_symbolic(count)
    return vector.create_mask(
        type_, [(as_index(count) if known else as_index(count).minimum(width)).ssa]
    )


def memory_type(tensor: Tensor) -> ir.Type:
    """Return the type of the memory of a tensor; it is boundless where the size is symbolic.

    A pointer without a descriptor stands only for memory whose size is a number.
    """
    size = BOUNDLESS if is_symbolic(tensor.size) else max(tensor.size, 1)
    return ir.MemRefType.get([size], storage_type(tensor.dtype))


BOUNDLESS = 1 << 40
"""The size of memory that is as large as a run needs it."""


def zero(dtype: str, lanes: Lanes | None = None) -> Value:
    """Emit zero, as a scalar or in all lanes."""
    type_ = None if lanes is None else ir.VectorType.get([lanes.width], element_type(dtype))
    return Value(constant_of(0, dtype, type_), dtype)
