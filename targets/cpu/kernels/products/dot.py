"""Dot products of VNNI words, by the instructions that a machine has for them."""

from collections.abc import Callable
from dataclasses import dataclass

from .....dialects.core.machine import Machine
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import DTYPES
from .....dialects.cpu.vnni import PRODUCTS
from ..buffer import vector
from ..value import Value, element_type, llvm

Dot = Callable[[Value, Value, Value], Value]
"""Emit the dot products of two vectors of words, lane by lane, added to a vector of sums."""


@dataclass(frozen=True)
class Instruction:
    """Name an intrinsic for vectors of some bytes; `kind` is what its operands hold."""

    kind: str
    vector_bytes: int
    features: tuple[str, ...]
    name: str

    def suits(self, machine: Machine) -> bool:
        """Return whether a machine has the instruction, for its whole vectors."""
        x86 = self.name.startswith("llvm.x86.")
        has = x86 == (machine.architecture == "x86_64") and {*self.features} <= {*machine.features}
        return has and self.vector_bytes == machine.vector_bytes


SIGNED = "signed i8"

INSTRUCTIONS = (
    # Unsigned times signed bytes, four to a sum: without saturation, unlike vpdpbusds.
    Instruction("i8", 64, ("avx512_vnni",), "llvm.x86.avx512.vpdpbusd.512"),
    Instruction("i8", 32, ("avx512_vnni", "avx512vl"), "llvm.x86.avx512.vpdpbusd.256"),
    Instruction("i8", 32, ("avx_vnni",), "llvm.x86.avx512.vpdpbusd.256"),
    Instruction("i8", 16, ("avx512_vnni", "avx512vl"), "llvm.x86.avx512.vpdpbusd.128"),
    Instruction("i8", 16, ("avx_vnni",), "llvm.x86.avx512.vpdpbusd.128"),
    Instruction("bf16", 64, ("avx512_bf16",), "llvm.x86.avx512bf16.dpbf16ps.512"),
    Instruction("bf16", 32, ("avx512_bf16", "avx512vl"), "llvm.x86.avx512bf16.dpbf16ps.256"),
    Instruction("bf16", 16, ("avx512_bf16", "avx512vl"), "llvm.x86.avx512bf16.dpbf16ps.128"),
    # Two signed halves of a word to a result, without a sum to add to.
    Instruction("i16", 64, ("avx512bw",), "llvm.x86.avx512.pmaddw.d.512"),
    Instruction("i16", 32, ("avx2",), "llvm.x86.avx2.pmadd.wd"),
    Instruction("i16", 16, (), "llvm.x86.sse2.pmadd.wd"),
    # Unsigned times signed bytes, two to a half of a word, which saturates.
    Instruction("i8 pairs", 64, ("avx512bw",), "llvm.x86.avx512.pmaddubs.w.512"),
    Instruction("i8 pairs", 32, ("avx2",), "llvm.x86.avx2.pmadd.ub.sw"),
    Instruction("i8 pairs", 16, ("ssse3",), "llvm.x86.ssse3.pmadd.ub.sw.128"),
    # Signed bytes times signed ones, four to a sum.
    Instruction(SIGNED, 16, ("asimddp",), "llvm.aarch64.neon.sdot.v4i32.v16i8"),
    Instruction(SIGNED, 32, ("sve",), "llvm.aarch64.sve.sdot.nxv4i32"),
)


def find_instruction(machine: Machine, kind: str) -> Instruction | None:
    """Return the instruction for whole vectors of operands of a kind, if the machine has one."""
    found = (each for each in INSTRUCTIONS if each.kind == kind and each.suits(machine))
    return next(found, None)


def multiplies_signed(machine: Machine) -> bool:
    """Return whether a machine multiplies signed bytes by signed ones best."""
    return find_instruction(machine, SIGNED) is not None


def multiplies_words(machine: Machine) -> bool:
    """Return whether a machine adds the products of four bytes by one instruction."""
    return any(find_instruction(machine, kind) is not None for kind in ("i8", SIGNED))


PAIRED_BITS = 7
"""The most bits of unsigned bytes that are signed ones, too.

Two of these, times signed ones, fit in the half of a word.
"""


def choose_dot(machine: Machine, dtype: str, signed: bool = False, bits: int = 8) -> Dot:
    """Return the best dot product of a machine for elements of a type (ui8, i8 or bf16).

    Words have `signed` bytes, or unsigned ones, with at most some `bits` that are not zero.
    """
    factor = PRODUCTS[dtype].factor
    if instruction := find_instruction(machine, SIGNED) if factor == "i8" else None:
        if signed or bits <= PAIRED_BITS:
            return lambda x, w, total: _accumulate(instruction, x, w, total)
        return lambda x, w, total: _split(instruction, x, w, total)
    if signed:
        return lambda x, w, total: _bytes(x, w, total, signed)
    if instruction := find_instruction(machine, factor):
        return lambda x, w, total: _accumulate(instruction, x, w, total)
    if factor == "bf16":
        return _halves
    if instruction := find_instruction(machine, "i16"):
        bytes_ = find_instruction(machine, "i8 pairs") if bits <= PAIRED_BITS else None
        if bytes_ is not None:
            return lambda x, w, total: _paired_bytes(bytes_, instruction, x, w, total)
        return lambda x, w, total: _pairs(instruction, x, w, total)
    return _bytes


def _accumulate(instruction: Instruction, x: Value, w: Value, total: Value) -> Value:
    dtype = "i8" if instruction.kind == SIGNED else instruction.kind
    operands = [total.ssa, *(_parts(n, dtype).ssa for n in (x, w))]
    name, type_ = instruction.name, total.ssa.type
    return total.with_ssa(llvm.call_intrinsic(type_, name, operands, [], []))


def _paired_bytes(
    pairs: Instruction, halves: Instruction, x: Value, w: Value, total: Value
) -> Value:
    """Add pairs of products in halves of words, then those of a word."""
    like = _parts(total, "i16")
    operands = [_parts(n, "i8").ssa for n in (x, w)]
    made = llvm.call_intrinsic(like.ssa.type, pairs.name, operands, [], [])
    both = [made, like.like(1).ssa]
    return total + total.with_ssa(llvm.call_intrinsic(total.ssa.type, halves.name, both, [], []))


def _pairs(instruction: Instruction, x: Value, w: Value, total: Value) -> Value:
    """Widen the even and the odd bytes to halves of words: their products fit."""
    elements, factors = _parts(x, "ui16"), _parts(w, "i16")
    even = elements.logical_and(elements.like(0xFF)), factors.shift_left(8).shift_right(8)
    odd = elements.shift_right(8), factors.shift_right(8)
    for pair in (even, odd):
        made = llvm.call_intrinsic(total.ssa.type, instruction.name, [n.ssa for n in pair], [], [])
        total = total + total.with_ssa(made)
    return total


def _split(instruction: Instruction, x: Value, w: Value, total: Value) -> Value:
    """Multiply the lower bits of unsigned bytes, and the highest, which is -128 in signed ones."""
    low, high = (x.logical_and(_same(x, each)) for each in (0x7F7F7F7F, 0x80808080))
    negative = _accumulate(instruction, high, w, total.like(0))
    return _accumulate(instruction, low, w, total) - negative


def _bytes(x: Value, w: Value, total: Value, signed: bool = False) -> Value:
    """Multiply byte by byte, in 32 bits."""
    for shift in (0, 8, 16, 24):
        if signed:
            element = _signed_byte(x, shift)
        else:
            element = Value(x.ssa, "ui32").shift_right(shift).logical_and(_same(x, 0xFF))
        total = total + Value(element.ssa, "i32") * _signed_byte(w, shift)
    return total


def _signed_byte(words: Value, shift: int) -> Value:
    return Value(words.ssa, "i32").shift_left(24 - shift).shift_right(24)


def _halves(x: Value, w: Value, total: Value) -> Value:
    """Widen each bf16 to f32: its bits are the upper half."""
    for upper in (False, True):
        element, factor = (_half(n, upper) for n in (x, w))
        total = element.fma(factor, total)
    return total


def _half(words: Value, upper: bool) -> Value:
    bits = words.logical_and(words.like(-0x10000)) if upper else words.shift_left(16)
    return bits.bits("f32")


def _same(like: Value, constant: int) -> Value:
    return Value(like.ssa, "ui32").like(constant)


def _parts(words: Value, dtype: str) -> Value:
    """Bitcast a vector of words to a vector of their elements."""
    (lanes,) = words.ssa.type.shape
    type_ = ir.VectorType.get([lanes * 32 // DTYPES[dtype].bits], element_type(dtype))
    return Value(vector.bitcast(type_, words.ssa), dtype)
