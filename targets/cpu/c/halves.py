"""Helpers that convert between f32 and the bits of f16."""

from collections.abc import Iterator

from .spelling import Vector


def extend_half(v: Vector) -> str:
    """Widen: exact, denormals included; infinity and NaN get the largest exponent."""
    half = v.of("f16").name
    if v.lanes > 1:
        return f"INLINE {v.name} extend_half_{v.name}({half} x) {{ {_each(v, v, 'extend_half')} }}"
    body = (
        "const u32 m = (u32)x & 0x7FFF, s = ((u32)x & 0x8000) << 16; "
        "const f32 wide = bits_f32_of_u32(m << 13) * 0x1p112f; "
        "const u32 r = m < 0x7C00 ? bits_u32_of_f32(wide) : m << 13 | 0x7F800000; "
        "return bits_f32_of_u32(r | s);"
    )
    return f"INLINE f32 extend_half_f32(f16 x) {{ {body} }}"


def truncate_half(v: Vector) -> str:
    """Round to the nearest half, ties to even."""
    half = v.of("f16")
    if v.lanes > 1:
        body = _each(half, v, "truncate_half")
        return f"INLINE {half.name} truncate_half_{v.name}({v.name} x) {{ {body} }}"
    body = (
        "const u32 b = bits_u32_of_f32(x), m = b & 0x7FFFFFFF; u32 r; "
        "if (m > 0x7F800000) r = 0x7E00; else if (m >= 0x47800000) r = 0x7C00; "
        "else if (m < 0x38800000) "
        "r = bits_u32_of_f32(bits_f32_of_u32(m) + 0.5f) - 0x3F000000; "
        "else r = (m + (m >> 13 & 1) - (112u << 23) + 0xFFF) >> 13; "
        "return (f16)(r | (b ^ m) >> 16);"
    )
    return f"INLINE f16 truncate_half_f32(f32 x) {{ {body} }}"


def _each(result: Vector, v: Vector, function: str) -> str:
    loop = f"for (int l = 0; l < {v.lanes}; ++l) r[l] = {function}_f32(x[l]);"
    return f"{result.name} r = {{0}}; {loop} return r;"


def half_instructions(function: str, v: Vector) -> Iterator[tuple[str, str]]:
    """Yield the condition and the body of the instructions of x86-64."""
    present, half = "defined(__F16C__)", v.of("f16").name
    widens = function == "extend_half"
    if v.lanes == 1:
        yield present, f"return {'_cvtsh_ss((u16)x)' if widens else '(f16)_cvtss_sh(x, 8)'};"
    elif v.lanes == 4 and widens:
        yield (
            present,
            (
                "long long b; __builtin_memcpy(&b, &x, sizeof b); "
                "return (v4f32)_mm_cvtph_ps(_mm_cvtsi64_si128(b));"
            ),
        )
    elif v.lanes == 4:
        yield (
            present,
            (
                "const long long b = _mm_cvtsi128_si64(_mm_cvtps_ph((__m128)x, 8)); "
                f"{half} r; __builtin_memcpy(&r, &b, sizeof r); return r;"
            ),
        )
    elif v.lanes in (8, 16):
        prefix = "_mm512" if v.lanes == 16 else "_mm256"
        present = "defined(__AVX512F__)" if v.lanes == 16 else present
        narrow, wide = ("__m256i", "__m512") if v.lanes == 16 else ("__m128i", "__m256")
        widened = f"({v.name}){prefix}_cvtph_ps(({narrow})x)"
        yield (
            present,
            f"return {widened if widens else f'({half}){prefix}_cvtps_ph(({wide})x, 8)'};",
        )
