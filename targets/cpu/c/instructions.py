"""Bodies of helpers that are one instruction, under the macro of the extension that has it."""

from collections.abc import Iterator

from .halves import half_instructions
from .spelling import Vector

_REGISTERS = {64: ("_mm512", "__m512", "__AVX512F__"), 32: ("_mm256", "__m256", "__AVX__")}
_REGISTERS[16] = ("_mm", "__m128", "__SSE2__")
_SUFFIXES = {"f32": ("ps", ""), "f64": ("pd", "d")}
_ROUNDED = {"roundeven": 8, "floor": 9, "ceil": 10, "trunc": 11}
"""The modes of rounding, without exceptions."""
_DOTS = "defined(__ARM_FEATURE_DOTPROD)"


def instructions_of(function: str, v: Vector) -> Iterator[tuple[str, str]]:
    """Yield the condition and the body of each form of a helper other than that of plain C."""
    if function in ("extend_half", "truncate_half"):
        yield from half_instructions(function, v)
    elif v.lanes == 1:
        yield from _scalars(function, v)
    elif v.bytes in _REGISTERS and v.element in _SUFFIXES:
        yield from _floats(function, v)
    if v.lanes > 1 and function in ("load_first", "store_first"):
        yield from _masked(function, v)
    if v.name in ("v4f32", "v2f64"):
        yield from _neon(function, v)
    if function == "sdot":
        yield from _dot_signed(v)
    if function == "sdotword" and v.bytes == 16:
        given = "(int32x4_t)a, (int8x16_t)x, vcreate_s8((uint64_t)(u32)w), 0"
        yield _DOTS, f"return ({v.name})vdotq_lane_s32({given});"


def _scalars(function: str, v: Vector) -> Iterator[tuple[str, str]]:
    suffix = "f" if v.element == "f32" else ""
    if function == "fma" and v.is_float:
        fast = "defined(__FMA__) || defined(__aarch64__) || defined(__riscv_flen)"
        yield f"({fast})", f"return __builtin_fma{suffix}(a, b, c);"
    if function == "sqrt" and v.is_float:
        yield "defined(__NO_MATH_ERRNO__)", f"return __builtin_sqrt{suffix}(a);"


def _floats(function: str, v: Vector) -> Iterator[tuple[str, str]]:
    prefix, register, macro = _REGISTERS[v.bytes]
    suffix, letter = _SUFFIXES[v.element]
    type_ = f"{register}{letter}"
    a, b, c = (f"({type_}){each}" for each in "abc")

    def call(name: str, *operands: str) -> str:
        return f"({v.name}){prefix}_{name}_{suffix}({', '.join(operands)})"

    present = f"defined({macro})"
    if function == "fma":
        fused = present if v.bytes == 64 else "defined(__FMA__)"
        yield fused, f"return {call('fmadd', a, b, c)};"
    # The second operand where either is NaN, or both are zeros: a < b ? b : a, and a < b ? a : b.
    elif function == "above":
        yield present, f"return {call('max', b, a)};"
    elif function == "below":
        yield present, f"return {call('min', a, b)};"
    elif function == "sqrt":
        yield present, f"return {call('sqrt', a)};"
    elif function in _ROUNDED:
        mode = str(_ROUNDED[function])
        if v.bytes == 64:
            yield present, f"return {call('roundscale', a, mode)};"
        else:
            yield "defined(__SSE4_1__)", f"return {call('round', a, mode)};"
    elif v.bytes == 64 and function == "ldexp":
        convert = "cvtepi32_ps" if v.element == "f32" else ""
        if convert:
            x, n = f"({type_})x", f"_mm512_{convert}((__m512i)n)"
            yield present, f"return ({v.name})_mm512_scalef_{suffix}({x}, {n});"
    elif function in ("maximumf", "minimumf"):
        name = "max" if function == "maximumf" else "min"
        yield from _nan_extreme(v, name, present, prefix, suffix, type_)


def _nan_extreme(
    v: Vector, name: str, present: str, prefix: str, suffix: str, type_: str
) -> Iterator[tuple[str, str]]:
    """Yield an extreme that is NaN where either number is: one instruction, and one blend."""
    first = f"const {type_} x = ({type_})a, y = ({type_})b, r = {prefix}_{name}_{suffix}(x, y);"
    if v.bytes == 64:
        unordered = f"_mm512_cmp_{suffix}_mask(x, x, 3)"
        yield present, f"{first} return ({v.name})_mm512_mask_mov_{suffix}(r, {unordered}, x);"
    elif v.bytes == 32:
        unordered = f"_mm256_cmp_{suffix}(x, x, 3)"
        yield present, f"{first} return ({v.name})_mm256_blendv_{suffix}(r, x, {unordered});"


def _masked(function: str, v: Vector) -> Iterator[tuple[str, str]]:
    """Yield loads and stores of the first lanes by a mask of AVX-512."""
    width, bits = v.bytes * 8, v.bits
    if v.bytes not in _REGISTERS or bits not in (32, 64):
        return
    prefix = _REGISTERS[v.bytes][0]
    register = f"__m{width}i"
    macro = "__AVX512F__" if width == 512 else "__AVX512VL__"
    kind = f"__mmask{max(8, v.lanes)}"
    count = f"const unsigned k = n < 0 ? 0 : n > {v.lanes} ? {v.lanes} : (unsigned)n;"
    mask = f"({kind})((1u << k) - 1u)"
    if function == "load_first":
        body = f"return ({v.name}){prefix}_maskz_loadu_epi{bits}({mask}, p);"
    else:
        body = f"{prefix}_mask_storeu_epi{bits}(p, {mask}, ({register})x);"
    yield f"defined({macro})", f"{count} {body}"


def _neon(function: str, v: Vector) -> Iterator[tuple[str, str]]:
    suffix = {"v4f32": "f32", "v2f64": "f64"}[v.name]
    type_ = {"v4f32": "float32x4_t", "v2f64": "float64x2_t"}[v.name]
    present = "defined(__aarch64__)"
    fuses = "defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)" if v.element == "f32" else present
    a, b, c = (f"({type_}){each}" for each in "abc")
    if function == "fma":
        yield fuses, f"return ({v.name})vfmaq_{suffix}({c}, {a}, {b});"
    elif function == "sqrt":
        yield present, f"return ({v.name})vsqrtq_{suffix}({a});"
    elif function in ("maximumf", "minimumf"):
        name = "vmaxq" if function == "maximumf" else "vminq"
        yield present, f"return ({v.name}){name}_{suffix}({a}, {b});"
    elif function in ("roundeven", "floor", "ceil", "trunc"):
        name = {"roundeven": "vrndnq", "floor": "vrndmq", "ceil": "vrndpq", "trunc": "vrndq"}
        yield present, f"return ({v.name}){name[function]}_{suffix}({a});"


def _dot_signed(v: Vector) -> Iterator[tuple[str, str]]:
    if v.bytes == 16:
        given = "(int32x4_t)a, (int8x16_t)x, (int8x16_t)y"
        yield _DOTS, f"return ({v.name})vdotq_s32({given});"
        return
    bits = 8 * v.bytes
    fixed = f"__attribute__((arm_sve_vector_bits({bits})))"
    types = f"typedef svint32_t words {fixed}; typedef svint8_t bytes {fixed};"
    made = "const words r = svdot_s32((words)a, (bytes)x, (bytes)y);"
    present = f"__ARM_FEATURE_SVE_BITS == {bits}"
    yield present, f"{types} {made} return ({v.name})r;"
