"""`Number`: a scalar or vector in a kernel under construction, with Python's operators.

Lowerings compute with numbers as if they were floats or ints; every operation emits MLIR at the
current insertion point. The same lowering serves scalars and vectors, since MLIR's arithmetic
does. Elements that the vector units do not compute in (f16, bf16) are f32 here.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ....dialects.core.mlir import ir, upstream
from ....dialects.core.tensor import DTYPES
from ...number import Arithmetic

arith: Any = upstream("arith")
llvm: Any = upstream("llvm")
math: Any = upstream("math")
vector: Any = upstream("vector")

COMPUTE = {"f16": "f32", "bf16": "f32"}
"""The type that elements of a storage type are computed in, where it is another one."""

# Allow a multiply and an add to become one fused instruction; nothing else is relaxed.
CONTRACT = "#arith.fastmath<contract>"
# Allow the lanes of a vector to be summed up in any order.
REASSOCIATE = "#arith.fastmath<reassoc>"
EXACT = "#arith.fastmath<none>"

_STRICT: ContextVar[bool] = ContextVar("strict", default=False)


@contextmanager
def strict_numbers(strict: bool = True) -> Generator[None]:
    """Emit arithmetic to the letter while this lasts: nothing fuses, reorders or approximates.

    Like MLIR's own insertion points, this holds for all that is emitted inside.
    """
    token = _STRICT.set(strict)
    try:
        yield
    finally:
        _STRICT.reset(token)


def is_strict() -> bool:
    return _STRICT.get()


def fast_flags(flags: str) -> ir.Attribute:
    """Return what arithmetic may do, as `arith` has it: nothing beyond the letter when strict."""
    return ir.Attribute.parse(EXACT if is_strict() else flags)


def compute_dtype(dtype: str) -> str:
    return COMPUTE.get(dtype, dtype)


def element_type(dtype: str) -> ir.Type:
    """Return the signless MLIR type that code generation uses for an element type."""
    kind = DTYPES[dtype]
    if kind.kind in ("int", "uint"):
        return ir.IntegerType.get_signless(kind.bits)
    return ir.Type.parse(dtype)


class Number(Arithmetic["Number"]):
    """Wrap an SSA value, scalar or vector, together with its element type's signedness."""

    def __init__(self, value: Any, dtype: str) -> None:
        self.value = value
        self.dtype = dtype

    # -- types --------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        return DTYPES[self.dtype].kind

    def like(self, constant: float) -> "Number":
        """Make a constant of the same type and width."""
        return Number(constant_of(constant, self.dtype, self.value.type), self.dtype)

    def with_value(self, value: Any, dtype: str | None = None) -> "Number":
        return Number(value, dtype or self.dtype)

    def shaped(self, dtype: str) -> ir.Type:
        """Return the type of this number's width with another element type."""
        return shaped_like(self.value.type, element_type(dtype))

    def _other(self, other: "Number | float") -> "Number":
        return other if isinstance(other, Number) else self.like(other)

    def _binary(
        self, other: "Number | float", op_float: Any, op_int: Any, **flags: Any
    ) -> "Number":
        right = self._other(other)
        if self.is_float:
            return self.with_value(op_float(self.value, right.value, **flags))
        return self.with_value(op_int(self.value, right.value))

    # -- arithmetic ---------------------------------------------------------------------------

    def __add__(self, other: "Number | float") -> "Number":
        return self._binary(other, arith.addf, arith.addi, fastmath=fast_flags(CONTRACT))

    def __sub__(self, other: "Number | float") -> "Number":
        return self._binary(other, arith.subf, arith.subi, fastmath=fast_flags(CONTRACT))

    def __mul__(self, other: "Number | float") -> "Number":
        return self._binary(other, arith.mulf, arith.muli, fastmath=fast_flags(CONTRACT))

    def __truediv__(self, other: "Number | float") -> "Number":
        right = self._other(other)
        if self.is_float:
            return self.with_value(arith.divf(self.value, right.value))
        return self._divide_int(right, arith.divui, arith.divsi)

    def _divide_int(self, right: "Number", unsigned: Any, signed: Any) -> "Number":
        """Divide integers without the traps of the CPU: x/0 is 0 and MIN/-1 wraps around."""
        zero = right.equal(0)
        if self.kind == "uint":
            safe = zero.select(right.like(1), right)
            return zero.select(self.like(0), self.with_value(unsigned(self.value, safe.value)))
        minus = right.equal(-1)
        safe = zero.logical_or(minus).select(right.like(1), right)
        quotient = self.with_value(signed(self.value, safe.value))
        return zero.select(self.like(0), minus.select(-self, quotient))

    def remainder(self, right: "Number") -> "Number":
        """Return what truncating division leaves, with the sign of the dividend; x % 0 is 0."""
        if self.is_float:
            return self.with_value(arith.remf(self.value, right.value))
        return right.equal(0).select(self.like(0), self - (self / right) * right)

    def __neg__(self) -> "Number":
        if self.is_float:
            return self.with_value(arith.negf(self.value))
        return self.like(0) - self

    def fma(self, factor: "Number | float", term: "Number | float") -> "Number":
        """Compute self * factor + term, for floats with one rounding where the machine has it."""
        factor, term = self._other(factor), self._other(term)
        if self.is_float:
            return self.with_value(llvm.intr_fmuladd(self.value, factor.value, term.value))
        return self * factor + term

    def exact_fma(self, factor: "Number | float", term: "Number | float") -> "Number":
        """Compute self * factor + term of f64, so that cancellation leaves no rounding error."""
        factor, term = self._other(factor), self._other(term)
        return self.with_value(math.fma(self.value, factor.value, term.value))

    def maximum(self, other: "Number | float") -> "Number":
        """Return the larger one; NaN when either is NaN."""
        right = self._other(other)
        if self.is_float and _is_ordered(other):
            # x86 has this very choice in one instruction; `maximumf` takes four.
            return self.less(right).select(right, self)
        if self.kind in ("uint", "bool"):
            return self.with_value(arith.maxui(self.value, right.value))
        return self._binary(right, arith.maximumf, arith.maxsi)

    def minimum(self, other: "Number | float") -> "Number":
        """Return the smaller one; NaN when either is NaN."""
        right = self._other(other)
        if self.is_float and _is_ordered(other):
            return right.less(self).select(right, self)
        if self.kind in ("uint", "bool"):
            return self.with_value(arith.minui(self.value, right.value))
        return self._binary(right, arith.minimumf, arith.minsi)

    def abs(self) -> "Number":
        if self.is_float:
            return self.with_value(math.absf(self.value))
        return self if self.kind == "uint" else self.with_value(math.absi(self.value))

    # -- comparison ---------------------------------------------------------------------------

    def _compare(self, other: "Number | float", name: str) -> "Number":
        right = self._other(other)
        if self.is_float:
            predicate = getattr(arith.CmpFPredicate, ("U" if name == "NE" else "O") + name)
            return Number(arith.cmpf(predicate, self.value, right.value), "i1")
        lower = name.lower()
        signed = "s" if self.kind == "int" else "u"
        predicate = getattr(arith.CmpIPredicate, lower if lower in ("eq", "ne") else signed + lower)
        return Number(arith.cmpi(predicate, self.value, right.value), "i1")

    def equal(self, other: "Number | float") -> "Number":
        return self._compare(other, "EQ")

    def not_equal(self, other: "Number | float") -> "Number":
        return self._compare(other, "NE")

    def less(self, other: "Number | float") -> "Number":
        return self._compare(other, "LT")

    def less_equal(self, other: "Number | float") -> "Number":
        return self._compare(other, "LE")

    def greater(self, other: "Number | float") -> "Number":
        return self._compare(other, "GT")

    def greater_equal(self, other: "Number | float") -> "Number":
        return self._compare(other, "GE")

    def is_nan(self) -> "Number":
        return Number(arith.cmpf(arith.CmpFPredicate.UNO, self.value, self.value), "i1")

    # -- bits and choice ----------------------------------------------------------------------

    def logical_and(self, other: "Number") -> "Number":
        return self.with_value(arith.andi(self.value, other.value))

    def logical_or(self, other: "Number") -> "Number":
        return self.with_value(arith.ori(self.value, other.value))

    def logical_xor(self, other: "Number") -> "Number":
        return self.with_value(arith.xori(self.value, other.value))

    def invert(self) -> "Number":
        return self.logical_xor(self.like(-1))

    def shift_left(self, other: "Number | float") -> "Number":
        return self.with_value(arith.shli(self.value, self._other(other).value))

    def shift_right(self, other: "Number | float") -> "Number":
        """Shift right: zeros come in for unsigned numbers, copies of the sign for signed ones."""
        shift = arith.shrui if self.kind in ("uint", "bool") else arith.shrsi
        return self.with_value(shift(self.value, self._other(other).value))

    def select(self, if_true: "Number", if_false: "Number | float") -> "Number":
        """Choose by this condition (i1), element by element."""
        other = if_true._other(if_false)
        return if_true.with_value(arith.select(self.value, if_true.value, other.value))

    def bits(self, dtype: str) -> "Number":
        """Reinterpret the bits as another element type of the same width."""
        return Number(arith.bitcast(self.shaped(dtype), self.value), dtype)

    def apply(self, function: Callable[[Any], Any]) -> "Number":
        """Apply an op of the `math` dialect."""
        return self.with_value(function(self.value))


def shaped_like(type_: ir.Type, element: ir.Type) -> ir.Type:
    """Return `element`, as a vector when `type_` is one."""
    if isinstance(type_, ir.VectorType):
        return ir.VectorType.get(type_.shape, element)
    return element


def constant_of(value: float, dtype: str, type_: ir.Type | None = None) -> Any:
    """Emit a constant of an element type, splat when `type_` is a vector."""
    element = element_type(dtype)
    attribute: Any
    if DTYPES[dtype].kind == "float":
        attribute = ir.FloatAttr.get(element, float(value))
    else:
        attribute = ir.IntegerAttr.get(element, _wrap(int(value), DTYPES[dtype].bits, dtype))
    if isinstance(type_, ir.VectorType):
        shaped = ir.VectorType.get(type_.shape, element)
        return arith.constant(shaped, ir.DenseElementsAttr.get_splat(shaped, attribute))
    return arith.constant(element, attribute)


def _wrap(value: int, bits: int, dtype: str) -> int:
    """Bring an integer into the signed range that a signless attribute of its width takes."""
    if dtype == "i1":
        return -(value & 1)
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _is_ordered(other: "Number | float") -> bool:
    """Say whether an operand is a constant other than NaN: a choice then loses no NaN."""
    return not isinstance(other, Number) and other == other
