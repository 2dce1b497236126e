"""Print intrinsics of LLVM: what all machines have, and instructions of x86-64 and ARM."""

from collections.abc import Mapping

from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir
from .attributes import attribute, defining_op
from .printer import Printer

X86: Mapping[str, tuple[str, str]] = {
    "llvm.x86.avx512.vpdpbusd.512": ("_mm512_dpbusd_epi32", "__m512i"),
    "llvm.x86.avx512.vpdpbusd.256": ("_mm256_dpbusd_epi32", "__m256i"),
    "llvm.x86.avx512.vpdpbusd.128": ("_mm_dpbusd_epi32", "__m128i"),
    "llvm.x86.avx512.pmaddw.d.512": ("_mm512_madd_epi16", "__m512i"),
    "llvm.x86.avx2.pmadd.wd": ("_mm256_madd_epi16", "__m256i"),
    "llvm.x86.sse2.pmadd.wd": ("_mm_madd_epi16", "__m128i"),
    "llvm.x86.avx512.pmaddubs.w.512": ("_mm512_maddubs_epi16", "__m512i"),
    "llvm.x86.avx2.pmadd.ub.sw": ("_mm256_maddubs_epi16", "__m256i"),
    "llvm.x86.ssse3.pmadd.ub.sw.128": ("_mm_maddubs_epi16", "__m128i"),
    "llvm.x86.avx512bf16.dpbf16ps.512": ("_mm512_dpbf16_ps", "__m512 __m512bh __m512bh"),
    "llvm.x86.avx512bf16.dpbf16ps.256": ("_mm256_dpbf16_ps", "__m256 __m256bh __m256bh"),
    "llvm.x86.avx512bf16.dpbf16ps.128": ("_mm_dpbf16_ps", "__m128 __m128bh __m128bh"),
    "llvm.x86.avx512bf16.cvtneps2bf16.512": ("_mm512_cvtneps_pbh", "__m512"),
    "llvm.x86.avx512bf16.cvtneps2bf16.256": ("_mm256_cvtneps_pbh", "__m256"),
    "llvm.x86.avx512.vpermi2var.qi.512": ("_mm512_permutex2var_epi8", "__m512i"),
    "llvm.x86.avx512.permvar.sf.512": ("swapped _mm512_permutexvar_ps", "__m512 __m512i"),
}
"""The function of each instruction in <immintrin.h>, and the types of its operands if several."""

MASKED: Mapping[str, str] = {
    "llvm.x86.avx512.mask.scalef.ps.512": "_mm512_scalef_ps((__m512){0}, (__m512){1})",
    "llvm.x86.avx512.mask.reduce.ps.512": "_mm512_reduce_ps((__m512){0}, {1})",
    "llvm.x86.avx512.mask.cvtps2dq.512": "_mm512_cvtps_epi32((__m512){0})",
    "llvm.x86.avx512.rcp14.ps.512": "_mm512_rcp14_ps((__m512){0})",
}
"""The calls of instructions with a mask, which here has all lanes; the second operand of the
reduction is an immediate number."""

DOTS = ("llvm.aarch64.neon.sdot.v4i32.v16i8", "llvm.aarch64.sve.sdot.nxv4i32")
"""Dot products of signed bytes."""


def print_intrinsic(printer: Printer, op: ir.Operation) -> None:
    name = str(attribute(op, "intrin").value)
    if name.startswith("llvm.arithmetic.fence."):
        printer.define(op.results[0], *printer.pieces(op.operands[0]))
    elif name.startswith("llvm.ldexp."):
        _helper(printer, op, "ldexp")
    elif name in X86:
        _instruction(printer, op, name)
    elif name in MASKED:
        _masked(printer, op, MASKED[name])
    elif name in DOTS:
        _dot(printer, op)
    else:
        raise Unsupported(f"is computed by '{name}', which is not printed as C")


def _helper(printer: Printer, op: ir.Operation, function: str) -> None:
    sides = zip(printer.vectors(op.results[0]), printer.operands(op), strict=True)
    printer.define(op.results[0], *(f"{function}_{v.name}({', '.join(each)})" for v, each in sides))


def _dot(printer: Printer, op: ir.Operation) -> None:
    """Print a dot product; a word that is in all lanes is an operand by itself, as of products.

    Compilers do not find that: they spread each word over a register of its own.
    """
    total, *factors = op.operands
    found = (
        (n, word) for n, each in enumerate(factors) if (word := _spread_word(each)) is not None
    )
    number, word = next(found, (0, None))
    if word is None:
        _helper(printer, op, "sdot")
        return
    other = factors[1 - number]
    sides = zip(printer.vectors(total), printer.pieces(total), printer.pieces(other), strict=True)
    made = (f"sdotword_{v.name}({a}, {x}, {printer.name(word)})" for v, a, x in sides)
    printer.define(op.results[0], *made)


def _spread_word(value: ir.Value) -> ir.Value | None:
    """Return the word that all lanes of a vector of bytes repeat, or None."""
    cast = defining_op(value)
    spread = defining_op(cast.operands[0]) if cast and cast.name == "vector.bitcast" else None
    if spread is None or spread.name != "vector.broadcast":
        return None
    word = spread.operands[0]
    return None if isinstance(word.type, ir.VectorType) else word


def _instruction(printer: Printer, op: ir.Operation, name: str) -> None:
    function, types = X86[name]
    operands = [printer.name(each) for each in op.operands]
    spelled = types.split() if " " in types else [types] * len(operands)
    given = [f"({type_}){x}" for type_, x in zip(spelled, operands, strict=True)]
    if function.startswith("swapped "):
        function, given = function.removeprefix("swapped "), given[::-1]
    (vector,) = printer.vectors(op.results[0])
    printer.define(op.results[0], f"({vector.name}){function}({', '.join(given)})")


def _masked(printer: Printer, op: ir.Operation, call: str) -> None:
    x, other = op.operands[0], op.operands[1]
    constant = defining_op(other) if not isinstance(other.type, ir.VectorType) else None
    second = str(attribute(constant, "value").value) if constant else printer.name(other)
    (vector,) = printer.vectors(op.results[0])
    made = call.format(printer.name(x), second)
    printer.define(op.results[0], f"({vector.name}){made}")


def print_assembly(printer: Printer, op: ir.Operation) -> None:
    """Print assembly without an instruction, which hides a number from LLVM: the number itself."""
    if attribute(op, "asm_string").value:
        raise Unsupported("is computed by an instruction of its own, which is not printed as C")
    printer.define(op.results[0], *printer.pieces(op.operands[0]))
