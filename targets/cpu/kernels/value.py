"""`Value`: a scalar or vector in a kernel under construction, with Python's operators.

Lowerings compute with numbers as if they were floats or ints; every operation emits MLIR at the
current insertion point. The same lowering serves scalars and vectors, since MLIR's arithmetic
does. Elements that the vector units do not compute in (f16, bf16) are f32 here.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ....dialects.core.mlir import ir, upstream
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.tensor import DTYPES
from ...kernels.arithmetic import Arithmetic
from .record import emitted

arith: Any = upstream("arith")
llvm: Any = upstream("llvm")
math: Any = upstream("math")
vector: Any = upstream("vector")

# Allow a multiply and an add to become one fused instruction; nothing else is relaxed.
CONTRACT = "#arith.fastmath<contract>"
# Allow the lanes of a vector to be summed up in any order.
REASSOCIATE = "#arith.fastmath<reassoc>"
UNSIGNED_ZEROS = "#arith.fastmath<nsz>"
EXACT = "#arith.fastmath<none>"

_STRICT: ContextVar[bool] = ContextVar("strict", default=False)

HELD: ContextVar["Callable[[float, Value], Value | None] | None"] = ContextVar("held", default=None)
"""Makes constants like a value elsewhere; those for which it returns None are made in place."""


@contextmanager
def strict_numbers(strict: bool = True) -> Generator[None]:
    """Emit exact arithmetic inside the context: nothing is contracted, reordered or approximated.

    Like an insertion point of MLIR, the context applies to all code emitted inside.
    """
    token = _STRICT.set(strict)
    try:
        yield
    finally:
        _STRICT.reset(token)


def is_strict() -> bool:
    return _STRICT.get()


def fast_flags(flags: str) -> ir.Attribute:
    """Return fast-math flags as an attribute of `arith`: none in strict kernels."""
    return ir.Attribute.parse(EXACT if is_strict() else flags)


def element_type(dtype: str) -> ir.Type:
    """Return the signless MLIR type that code generation uses for an element type."""
    kind = DTYPES[dtype]
    if kind.kind in ("int", "uint"):
        return ir.IntegerType.get_signless(kind.bits)
    return ir.Type.parse(dtype)


_ORDERS = ("eq", "ne", "lt", "le", "gt", "ge")
_FLAGS: Mapping[str, str] = {
    **dict.fromkeys(("add", "sub", "mul"), CONTRACT),
    # x86 has no instruction for the order of the two zeros, which no op asks for.
    **dict.fromkeys(("max", "min"), UNSIGNED_ZEROS),
}
_FLOAT_OPS: Mapping[str, Any] = {
    "add": arith.addf,
    "sub": arith.subf,
    "mul": arith.mulf,
    "max": arith.maximumf,
    "min": arith.minimumf,
}
_INTEGER_OPS: Mapping[str, Any] = {
    "add": arith.addi,
    "sub": arith.subi,
    "mul": arith.muli,
    "max": arith.maxsi,
    "min": arith.minsi,
    "and": arith.andi,
    "or": arith.ori,
    "xor": arith.xori,
    "shift_left": arith.shli,
}


class Value(Arithmetic["Value"]):
    """Wrap an SSA value, scalar or vector, together with its element type's signedness.

    `stored` are the bits and the element type of what was loaded, if the value was widened from it.
    """

    def __init__(self, ssa: Any, dtype: str, stored: tuple[Any, str] | None = None) -> None:
        self.ssa = ssa
        self.dtype = dtype
        self.stored = stored

    # -- types --------------------------------------------------------------------------------

    def like(self, constant: float) -> "Value":
        """Make a constant of the same type and width; of a size of a run, its value."""
        size: Any = constant
        if is_symbolic(size):
            return self._size(size)
        make = HELD.get()
        held = make(constant, self) if make is not None else None
        return held or Value(constant_of(constant, self.dtype, self.ssa.type), self.dtype)

    def _size(self, size: Size) -> "Value":
        number = Value(arith.index_cast(element_type("i64"), emitted(size)), "i64")
        number = number.cast(self.dtype)
        if not isinstance(self.ssa.type, ir.VectorType):
            return number
        return number.with_ssa(vector.broadcast(self.ssa.type, number.ssa))

    def with_ssa(self, ssa: Any, dtype: str | None = None) -> "Value":
        return Value(ssa, dtype or self.dtype)

    def shaped(self, dtype: str) -> ir.Type:
        """Return the type of this number's width with another element type."""
        return shaped_like(self.ssa.type, element_type(dtype))

    def _binary(self, other: "Value | float", function: str) -> "Value":
        right = self._other(other)
        if function in _ORDERS:
            return self._compare(right, function)
        if not self.is_float:
            return self.with_ssa(_INTEGER_OPS[function](self.ssa, right.ssa))
        flags = fast_flags(_FLAGS[function])
        return self.with_ssa(_FLOAT_OPS[function](self.ssa, right.ssa, fastmath=flags))

    def _compare(self, right: "Value", function: str) -> "Value":
        if self.is_float:
            order = ("U" if function == "ne" else "O") + function.upper()
            return Value(arith.cmpf(getattr(arith.CmpFPredicate, order), self.ssa, right.ssa), "i1")
        sign = "" if function in ("eq", "ne") else "s" if self.kind == "int" else "u"
        predicate = getattr(arith.CmpIPredicate, sign + function)
        return Value(arith.cmpi(predicate, self.ssa, right.ssa), "i1")

    def cast(self, dtype: str) -> "Value":
        """Convert to another element type; floats outside an integer type give any number."""
        if dtype == self.dtype:
            return self
        if DTYPES[dtype].kind == "float":
            return self._to_float(dtype)
        if self.is_float:
            change = arith.fptosi if DTYPES[dtype].kind == "int" else arith.fptoui
            return Value(change(self.shaped(dtype), self.ssa), dtype)
        return self._resize(dtype)

    def _to_float(self, dtype: str) -> "Value":
        if self.is_float:
            change = arith.extf if dtype == "f64" else arith.truncf
        else:
            change = arith.sitofp if self.kind == "int" else arith.uitofp
        return Value(change(self.shaped(dtype), self.ssa), dtype)

    def _resize(self, dtype: str) -> "Value":
        """Convert an integer or bool to an integer of any width."""
        have, want = (1 if self.kind == "bool" else DTYPES[self.dtype].bits), DTYPES[dtype].bits
        if have == want:
            return Value(self.ssa, dtype)
        if have > want:
            return Value(arith.trunci(self.shaped(dtype), self.ssa), dtype)
        extend = arith.extsi if self.kind == "int" else arith.extui
        return Value(extend(self.shaped(dtype), self.ssa), dtype)

    # -- arithmetic ---------------------------------------------------------------------------

    def __truediv__(self, other: "Value | float") -> "Value":
        right = self._other(other)
        if self.is_float:
            return self.with_ssa(arith.divf(self.ssa, right.ssa))
        return self._divide_int(right, arith.divui, arith.divsi)

    def _divide_int(self, right: "Value", unsigned: Any, signed: Any) -> "Value":
        """Divide integers without the traps of the CPU: x/0 is 0 and MIN/-1 wraps around."""
        zero = right.equal(0)
        if self.kind == "uint":
            safe = zero.select(right.like(1), right)
            return zero.select(self.like(0), self.with_ssa(unsigned(self.ssa, safe.ssa)))
        minus = right.equal(-1)
        safe = zero.logical_or(minus).select(right.like(1), right)
        quotient = self.with_ssa(signed(self.ssa, safe.ssa))
        return zero.select(self.like(0), minus.select(-self, quotient))

    def remainder(self, right: "Value") -> "Value":
        """Return the remainder of truncating division, with the dividend's sign; x % 0 is 0."""
        if self.is_float:
            return self.with_ssa(arith.remf(self.ssa, right.ssa))
        return right.equal(0).select(self.like(0), self - (self / right) * right)

    def __neg__(self) -> "Value":
        if self.is_float:
            return self.with_ssa(arith.negf(self.ssa))
        return self.like(0) - self

    def fma(self, factor: "Value | float", term: "Value | float") -> "Value":
        """Compute self * factor + term, for floats with one rounding where the machine has it."""
        factor, term = self._other(factor), self._other(term)
        if self.is_float:
            return self.with_ssa(llvm.intr_fmuladd(self.ssa, factor.ssa, term.ssa))
        return self * factor + term

    def exact_fma(self, factor: "Value | float", term: "Value | float") -> "Value":
        """Compute self * factor + term of f64, so that cancellation leaves no rounding error."""
        factor, term = self._other(factor), self._other(term)
        return self.with_ssa(math.fma(self.ssa, factor.ssa, term.ssa))

    def maximum(self, other: "Value | float") -> "Value":
        """Return the larger one; NaN when either is NaN."""
        right = self._other(other)
        if self.is_float and _is_ordered(other):
            # x86 has one instruction for this select; `maximumf` needs four.
            return self.less(right).select(right, self)
        if self.kind in ("uint", "bool"):
            return self.with_ssa(arith.maxui(self.ssa, right.ssa))
        return self._binary(right, "max")

    def minimum(self, other: "Value | float") -> "Value":
        """Return the smaller one; NaN when either is NaN."""
        right = self._other(other)
        if self.is_float and _is_ordered(other):
            return right.less(self).select(right, self)
        if self.kind in ("uint", "bool"):
            return self.with_ssa(arith.minui(self.ssa, right.ssa))
        return self._binary(right, "min")

    def abs(self) -> "Value":
        if self.is_float:
            return self.with_ssa(math.absf(self.ssa))
        return self if self.kind == "uint" else self.with_ssa(math.absi(self.ssa))

    def is_nan(self) -> "Value":
        return self.is_unordered(self)

    def is_unordered(self, other: "Value") -> "Value":
        """Return whether either is NaN."""
        return Value(arith.cmpf(arith.CmpFPredicate.UNO, self.ssa, other.ssa), "i1")

    # -- bits and choice ----------------------------------------------------------------------

    def invert(self) -> "Value":
        return self.logical_xor(self.like(-1))

    def shift_right(self, other: "Value | float") -> "Value":
        """Shift right: zeros enter unsigned values, copies of the sign enter signed ones."""
        shift = arith.shrui if self.kind in ("uint", "bool") else arith.shrsi
        return self.with_ssa(shift(self.ssa, self._other(other).ssa))

    def select(self, if_true: "Value", if_false: "Value | float") -> "Value":
        """Choose by this condition (i1), element by element."""
        other = if_true._other(if_false)
        return if_true.with_ssa(arith.select(self.ssa, if_true.ssa, other.ssa))

    def in_all_lanes(self) -> "Value":
        """Test that this condition (i1) holds in all lanes, or at all where it is a scalar."""
        if not isinstance(self.ssa.type, ir.VectorType):
            return self
        kind: Any = ir.Attribute.parse("#vector.kind<and>")
        bit = ir.IntegerType.get_signless(1)
        return self.with_ssa(vector.reduction(bit, kind, self.ssa))

    def bits(self, dtype: str) -> "Value":
        """Reinterpret the bits as another element type of the same width."""
        return Value(arith.bitcast(self.shaped(dtype), self.ssa), dtype)

    def apply(self, function: str) -> "Value":
        """Apply an op of the `math` dialect: one instruction, or a call of the C library."""
        return self.with_ssa(getattr(math, function)(self.ssa))


def over_size(total: Value, size: Size) -> Value:
    """Multiply a float by the reciprocal of a size, which is rounded to its type."""
    if not is_symbolic(size):
        return total * (1 / size)
    one = Value(constant_of(1, "f64"), "f64")
    factor = (one / size).cast(total.dtype)
    return total * factor


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
    """Wrap an integer to the signed range of a signless attribute of its width."""
    if dtype == "i1":
        return -(value & 1)
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _is_ordered(other: "Value | float") -> bool:
    """Return whether an operand is a constant other than NaN: a choice then loses no NaN."""
    known: Any = other
    return not isinstance(other, Value) and (is_symbolic(known) or known == known)
