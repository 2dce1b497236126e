"""Print intrinsics of LLVM: what all machines have, and instructions of some."""

from collections.abc import Mapping

from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir
from .attributes import attribute
from .printer import Printer

INSTRUCTIONS: Mapping[str, tuple[str, str]] = {
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
    "llvm.x86.avx512.permvar.sf.512": ("swapped _mm512_permutexvar_ps", "__m512 __m512i"),
    "llvm.aarch64.neon.sdot.v4i32.v16i8": ("vdotq_s32", "int32x4_t int8x16_t int8x16_t"),
}
"""The function of each instruction in <immintrin.h> or <arm_neon.h>, and its operands' types."""


def print_intrinsic(printer: Printer, op: ir.Operation) -> None:
    name = str(attribute(op, "intrin").value)
    if name.startswith("llvm.arithmetic.fence."):
        printer.define(op.results[0], *printer.pieces(op.operands[0]))
    elif name.startswith("llvm.ldexp."):
        _ldexp(printer, op)
    elif name in INSTRUCTIONS:
        _instruction(printer, op, name)
    else:
        raise Unsupported(f"is computed by '{name}', which is not printed as C")


def _ldexp(printer: Printer, op: ir.Operation) -> None:
    vectors = printer.vectors(op.results[0])
    sides = zip(vectors, printer.operands(op), strict=True)
    printer.define(op.results[0], *(f"ldexp_{v.name}({x}, {n})" for v, (x, n) in sides))


def _instruction(printer: Printer, op: ir.Operation, name: str) -> None:
    function, types = INSTRUCTIONS[name]
    operands = [printer.name(each) for each in op.operands]
    spelled = types.split() if " " in types else [types] * len(operands)
    given = [f"({type_}){x}" for type_, x in zip(spelled, operands, strict=True)]
    if function.startswith("swapped "):
        function, given = function.removeprefix("swapped "), given[::-1]
    (vector,) = printer.vectors(op.results[0])
    printer.define(op.results[0], f"({vector.name}){function}({', '.join(given)})")


def print_assembly(printer: Printer, op: ir.Operation) -> None:
    """Print assembly without an instruction, which hides a number from LLVM: the number itself."""
    if attribute(op, "asm_string").value:
        raise Unsupported("is computed by an instruction of its own, which is not printed as C")
    printer.define(op.results[0], *printer.pieces(op.operands[0]))
