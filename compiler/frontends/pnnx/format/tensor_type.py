"""Types of tensors as PNNX spells them: `(1,?,%n)f32`. No MLIR."""

from functools import lru_cache

from .....dialects.core.errors import Invalid

Dimension = int | str | None
"""One size of a tensor: known, a symbol, or (None) unknown."""

Dimensions = tuple[Dimension, ...]

SIZES = {
    "f32": 4,
    "f64": 8,
    "f16": 2,
    "bf16": 2,
    "i8": 1,
    "i16": 2,
    "i32": 4,
    "i64": 8,
    "u8": 1,
    "bool": 1,
    "c64": 8,
    "c128": 16,
    "c32": 4,
}
"""The bytes of an element of each type, by PNNX's words."""

_LONGEST_NUMBER = 18


@lru_cache(1 << 10)
def parse_type(text: str) -> tuple[Dimensions, str | None]:
    """Read a shape and a type, None for `null`; raise Invalid when the text is not both."""
    inner, closed, word = text.rpartition(")")
    if not closed or not inner.startswith("("):
        raise Invalid(f"is '{text}', must be a shape and a type, such as (1,3)f32")
    if word not in SIZES and word != "null":
        raise Invalid(f"is of type '{word}', must be one of {', '.join(SIZES)}, null")
    sizes = inner[1:].split(",") if inner != "(" else []
    return tuple(map(_dimension, sizes)), None if word == "null" else word


def spell_type(shape: Dimensions, dtype: str | None) -> str:
    """Spell a shape and a type as `parse_type` reads them."""
    sizes = ("?" if d is None else f"%{d}" if isinstance(d, str) else str(d) for d in shape)
    return f"({','.join(sizes)}){dtype or 'null'}"


def _dimension(text: str) -> Dimension:
    if text == "?":
        return None
    if text.startswith("%") and len(text) > 1:
        return text[1:]
    if not (text.isascii() and text.isdigit()) or len(text) > _LONGEST_NUMBER:
        raise Invalid(f"has a size '{text[:24]}', must be a number, '?' or '%' and a name")
    return int(text)
