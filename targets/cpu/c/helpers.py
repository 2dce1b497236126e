"""Define the types and functions that printed kernels name: those that a text has, no others.

A helper has its function and its vector in its name, `fma_v16f32`. Each has a body of plain C with
the vector extension, and some have another of one instruction, under the macro of its extension.
TRIVIUM_PORTABLE leaves these out.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial

from .halves import extend_half, truncate_half
from .instructions import instructions_of
from .printer import words
from .spelling import BYTES, Vector

_TYPE = re.compile(r"v(\d+)([iuf]\d+)$")
_SCALAR = re.compile(r"([iuf](?:8|16|32|64))$")


def definitions(text: str) -> str:
    """Return the types and helpers that a text needs, each after those that it needs."""
    made: dict[str, str] = {}
    for word in sorted({*words(text)}):
        _define(word, made)
    return "\n".join(filter(None, made.values()))


def _define(word: str, made: dict[str, str]) -> None:
    if word in made:
        return
    text = _definition(word)
    if text is None:
        return
    made[word] = ""
    for each in words(text):
        _define(each, made)
    del made[word]
    made[word] = text


def _definition(word: str) -> str | None:
    """Return the definition of a type or a helper; None for any other word."""
    if vector := _vector(word):
        return _typedef(vector) if vector.lanes > 1 else None
    if word.endswith("_u") and (vector := _vector(word[:-2])):
        return _typedef(vector, unaligned=True) if vector.lanes > 1 else None
    function, _, name = word.rpartition("_")
    if function.startswith("bits_") and function.endswith("_of"):
        return _bits(word, function.split("_")[1], name)
    vector = _vector(name)
    if vector is None or function not in HELPERS:
        return None
    portable = HELPERS[function](vector)
    head = portable[: portable.index("{")]
    branches = [
        f"if {condition} && !defined(TRIVIUM_PORTABLE)\n{head}{{ {body} }}\n"
        for condition, body in instructions_of(function, vector)
    ]
    if not branches:
        return portable
    return f"#{'#el'.join(branches)}#else\n{portable}\n#endif"


def _vector(name: str) -> Vector | None:
    if found := _TYPE.match(name):
        return Vector(int(found[1]), found[2])
    return Vector(1, name) if _SCALAR.match(name) else None


def _typedef(vector: Vector, unaligned: bool = False) -> str:
    size = BYTES[vector.signed.element]
    name = f"{vector.name}_u" if unaligned else vector.name
    aligned = f"aligned({size}), " if unaligned else ""
    return (
        f"typedef {vector.element} {name} "
        f"__attribute__((vector_size({vector.lanes * size}), {aligned}may_alias));"
    )


def _bits(word: str, want: str, have: str) -> str:
    return (
        f"INLINE {want} {word}({have} x) {{ {want} r; __builtin_memcpy(&r, &x, sizeof r); "
        "return r; }"
    )


# -- bodies ---------------------------------------------------------------------------------------


def _function(v: Vector, name: str, parameters: str, body: str, result: str = "") -> str:
    return f"INLINE {result or v.name} {name}_{v.name}({parameters}) {{ {body} }}"


def _two(v: Vector, name: str, body: str) -> str:
    return _function(v, name, f"{v.name} a, {v.name} b", body)


def _splat(v: Vector) -> str:
    lanes = ", ".join(["x"] * v.lanes)
    return _function(v, "splat", f"{v.element} x", f"return ({v.name}){{{lanes}}};")


def _load(v: Vector) -> str:
    read = f"*(const {v.name}_u *)p" if v.lanes > 1 else "*p"
    return _function(v, "load", f"const {v.element} *p", f"return {read};")


def _store(v: Vector) -> str:
    target = f"*({v.name}_u *)p" if v.lanes > 1 else "*p"
    return _function(v, "store", f"{v.element} *p, {v.name} x", f"{target} = x;", "void")


def _count(v: Vector) -> str:
    return f"const size_t k = n < 0 ? 0 : n > {v.lanes} ? {v.lanes} : (size_t)n;"


def _load_first(v: Vector) -> str:
    zero = "{0}" if v.lanes > 1 else "0"
    body = f"{v.name} r = {zero}; {_count(v)} __builtin_memcpy(&r, p, k * sizeof *p); return r;"
    return _function(v, "load_first", f"const {v.element} *p, i64 n", body)


def _store_first(v: Vector) -> str:
    body = f"{_count(v)} __builtin_memcpy(p, &x, k * sizeof *p);"
    return _function(v, "store_first", f"{v.element} *p, i64 n, {v.name} x", body, "void")


def _mask(v: Vector) -> str:
    return "bool" if v.lanes == 1 else v.integers.name


def _load_where(v: Vector) -> str:
    if v.lanes == 1:
        return _function(v, "load_where", f"const {v.element} *p, bool m", "return m ? *p : 0;")
    lanes = f"for (int l = 0; l < {v.lanes}; ++l) if (m[l]) r[l] = p[l];"
    parameters = f"const {v.element} *p, {_mask(v)} m"
    return _function(v, "load_where", parameters, f"{v.name} r = {{0}}; {lanes} return r;")


def _store_where(v: Vector) -> str:
    parameters = f"{v.element} *p, {_mask(v)} m, {v.name} x"
    if v.lanes == 1:
        return _function(v, "store_where", parameters, "if (m) *p = x;", "void")
    lanes = f"for (int l = 0; l < {v.lanes}; ++l) if (m[l]) p[l] = x[l];"
    return _function(v, "store_where", parameters, lanes, "void")


def _pick(v: Vector, condition: str, a: str, b: str) -> str:
    """Return the expression of a choice by a condition on lanes."""
    if v.lanes == 1:
        return f"({condition}) ? {a} : {b}"
    return f"select_{v.name}(({v.integers.name})({condition}), {a}, {b})"


def _select(v: Vector) -> str:
    i = v.integers.name
    body = f"return ({v.name})((({i})a & m) | (({i})b & ~m));"
    return _function(v, "select", f"{_mask(v)} m, {v.name} a, {v.name} b", body)


def _above(v: Vector) -> str:
    return _two(v, "above", f"return {_pick(v, 'a < b', 'b', 'a')};")


def _below(v: Vector) -> str:
    return _two(v, "below", f"return {_pick(v, 'a < b', 'a', 'b')};")


def _extreme(name: str, sign: str, v: Vector) -> str:
    """Return the greater or the lesser number; NaN where either is NaN."""
    return _two(v, name, f"return {_pick(v, f'(a {sign} b) | (a != a)', 'a', 'b')};")


def _ordered_extreme(name: str, sign: str, v: Vector) -> str:
    """Return the greater or the lesser number, -0 being less than +0; NaN where either is NaN."""
    greatest = f"{name}f_{v.name}(a, b)"
    if v.lanes == 1:
        first, other = ("b", "a") if name == "maximum" else ("a", "b")
        return _two(v, name, f"return a == b ? (signbit(a) ? {first} : {other}) : {greatest};")
    i = v.integers.name
    zeros = f"({v.name})(({i})a {sign} ({i})b)"
    return _two(v, name, f"return {_pick(v, 'a == b', zeros, greatest)};")


def _integer_extreme(name: str, sign: str, v: Vector) -> str:
    unsigned = f"({v.unsigned.name})" if name.endswith("ui") else ""
    return _two(v, name, f"return {_pick(v, f'{unsigned}a {sign} {unsigned}b', 'a', 'b')};")


def _wrapping(name: str, sign: str, v: Vector) -> str:
    """Return integer arithmetic that wraps around."""
    u = v.unsigned.name
    one = "1u * " if v.lanes == 1 and v.bits < 32 else ""
    return _two(v, name, f"return ({v.name})({one}({u})a {sign} ({u})b);")


def _shift_right(v: Vector) -> str:
    return _two(v, "shrsi", f"return ({v.name})(a >> b);")


def _signed_division(name: str, sign: str, v: Vector) -> str:
    return _two(v, name, f"return ({v.name})(a {sign} b);")


def _fma(v: Vector) -> str:
    parameters = f"{v.name} a, {v.name} b, {v.name} c"
    return _function(v, "fma", parameters, "return a * b + c;")


def _suffix(v: Vector) -> str:
    return "f" if v.element == "f32" else ""


def _fused(v: Vector) -> str:
    parameters = f"{v.name} a, {v.name} b, {v.name} c"
    call = f"__builtin_fma{_suffix(v)}"
    if v.lanes == 1:
        return _function(v, "fused", parameters, f"return {call}(a, b, c);")
    lanes = f"for (int l = 0; l < {v.lanes}; ++l) r[l] = {call}(a[l], b[l], c[l]);"
    return _function(v, "fused", parameters, f"{v.name} r = a; {lanes} return r;")


def _of_library(name: str, function: str, operands: int, v: Vector) -> str:
    """Return a function of the C library, lane by lane."""
    given = "abc"[:operands]
    parameters = ", ".join(f"{v.name} {each}" for each in given)
    call = f"{function}{_suffix(v)}"
    if v.lanes == 1:
        return _function(v, name, parameters, f"return {call}({', '.join(given)});")
    lanes = ", ".join(f"{each}[l]" for each in given)
    loop = f"for (int l = 0; l < {v.lanes}; ++l) r[l] = {call}({lanes});"
    return _function(v, name, parameters, f"{v.name} r = a; {loop} return r;")


def _splat_of(v: Vector, x: str) -> str:
    return f"splat_{v.name}({x})"


def _absolute(v: Vector) -> str:
    if v.lanes == 1:
        return _function(v, "absf", f"{v.name} a", f"return __builtin_fabs{_suffix(v)}(a);")
    mask = _splat_of(v.integers, f"INT{v.bits}_MAX")
    return _function(v, "absf", f"{v.name} a", f"return ({v.name})(({v.integers.name})a & {mask});")


def _absolute_integer(v: Vector) -> str:
    u = v.unsigned.name
    negative = f"({v.name})(0 - ({u})a)"
    return _function(v, "absi", f"{v.name} a", f"return {_pick(v, 'a < 0', negative, 'a')};")


def _copysign(v: Vector) -> str:
    if v.lanes == 1:
        return _two(v, "copysign", f"return __builtin_copysign{_suffix(v)}(a, b);")
    i = v.integers.name
    mask = _splat_of(v.integers, f"INT{v.bits}_MAX")
    body = f"return ({v.name})((({i})a & {mask}) | (({i})b & ~{mask}));"
    return _two(v, "copysign", body)


def _ldexp(v: Vector) -> str:
    """Multiply twice by half the power, as kernels without an instruction do."""
    n = v.integers.name
    halves = f"const {n} l = n >> 1, h = n - l;"
    if v.lanes == 1:
        return _function(v, "ldexp", f"{v.name} x, i32 n", f"return ldexp{_suffix(v)}(x, n);")
    bias = (127, 23) if v.element == "f32" else (1023, 52)
    low, high = (f"({v.name})(({part} + {bias[0]}) << {bias[1]})" for part in "lh")
    return _function(v, "ldexp", f"{v.name} x, {n} n", f"{halves} return x * {low} * {high};")


def _dot_signed(v: Vector) -> str:
    """Add the products of four signed bytes each to sums, which wrap around."""
    four, u = Vector(4 * v.lanes, "i8"), v.unsigned.name
    loop = f"for (int l = 0; l < {four.lanes}; ++l) r[l / 4] += (u32)(x[l] * y[l]);"
    body = f"{u} r = ({u})a; {loop} return ({v.name})r;"
    return _function(v, "sdot", f"{v.name} a, {four.name} x, {four.name} y", body)


def _dot_word(v: Vector) -> str:
    four = Vector(4 * v.lanes, "i8").name
    body = f"return sdot_{v.name}(a, x, ({four})splat_{v.name}(w));"
    return _function(v, "sdotword", f"{v.name} a, {four} x, i32 w", body)


_LIBRARY = {
    **{
        name: name
        for name in ("exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "erf", "erfc")
    },
    **{name: name for name in ("sin", "cos", "tan", "asin", "acos", "atan", "cbrt", "round")},
    **{name: name for name in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sqrt")},
    **{name: name for name in ("floor", "ceil", "trunc")},
    "roundeven": "rint",
}

HELPERS: Mapping[str, Callable[[Vector], str]] = {
    "splat": _splat,
    "load": _load,
    "store": _store,
    "load_first": _load_first,
    "store_first": _store_first,
    "load_where": _load_where,
    "store_where": _store_where,
    "select": _select,
    "above": _above,
    "below": _below,
    "maximumf": partial(_extreme, "maximumf", ">"),
    "minimumf": partial(_extreme, "minimumf", "<"),
    "maximum": partial(_ordered_extreme, "maximum", "&"),
    "minimum": partial(_ordered_extreme, "minimum", "|"),
    "maxsi": partial(_integer_extreme, "maxsi", ">"),
    "minsi": partial(_integer_extreme, "minsi", "<"),
    "maxui": partial(_integer_extreme, "maxui", ">"),
    "minui": partial(_integer_extreme, "minui", "<"),
    "addi": partial(_wrapping, "addi", "+"),
    "subi": partial(_wrapping, "subi", "-"),
    "muli": partial(_wrapping, "muli", "*"),
    "shli": partial(_wrapping, "shli", "<<"),
    "shrui": partial(_wrapping, "shrui", ">>"),
    "divui": partial(_wrapping, "divui", "/"),
    "remui": partial(_wrapping, "remui", "%"),
    "shrsi": _shift_right,
    "divsi": partial(_signed_division, "divsi", "/"),
    "remsi": partial(_signed_division, "remsi", "%"),
    "fma": _fma,
    "fused": _fused,
    "absf": _absolute,
    "absi": _absolute_integer,
    "copysign": _copysign,
    "ldexp": _ldexp,
    "sdot": _dot_signed,
    "sdotword": _dot_word,
    "extend_half": extend_half,
    "truncate_half": truncate_half,
    **{name: partial(_of_library, name, function, 1) for name, function in _LIBRARY.items()},
    "atan2": partial(_of_library, "atan2", "atan2", 2),
    "powf": partial(_of_library, "powf", "pow", 2),
    "remf": partial(_of_library, "remf", "fmod", 2),
}
"""The functions that kernels call, by the begin of their names."""
