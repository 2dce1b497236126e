"""How C spells element types, vectors and numbers.

Vectors have the names of their lanes: `v16f32`, of the vector extension that GCC and Clang share. A
vector of one lane is the scalar itself, `f32`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir

BYTES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "f16": 2, "f32": 4, "f64": 8}
"""The bytes of each element type; f16 is only stored and converted, as its bits."""

_STORED = {"index": "i64", "bf16": "i16"}
"""Types that C has as others; of bf16, kernels move only the bits."""


@dataclass(frozen=True)
class Vector:
    """Name a vector of elements of a type, or the element type itself if there is one lane."""

    lanes: int
    element: str

    @property
    def name(self) -> str:
        return self.element if self.lanes == 1 else f"v{self.lanes}{self.element}"

    @property
    def bytes(self) -> int:
        return self.lanes * BYTES[self.signed.element]

    def of(self, element: str) -> "Vector":
        """Return a vector of as many elements of another type."""
        return Vector(self.lanes, element)

    @property
    def bits(self) -> int:
        """Return how many bits an element has."""
        return int(self.element[1:])

    @property
    def signed(self) -> "Vector":
        """Return the type itself, or the signed integers of its width for unsigned ones."""
        return self.of(f"i{self.bits}") if self.element[0] == "u" else self

    @property
    def integers(self) -> "Vector":
        """Return the signed integers of the same width, which masks of it are."""
        return self.of(f"i{self.bits}")

    @property
    def unsigned(self) -> "Vector":
        return self.of(f"u{self.bits}")

    @property
    def is_float(self) -> bool:
        return self.element in ("f32", "f64")


def element_of(type_: ir.Type) -> str:
    """Return the name of the element type of a scalar, a vector or memory; "i1" for conditions."""
    if isinstance(type_, (ir.VectorType, ir.MemRefType)):
        type_ = type_.element_type
    spelled = str(type_)
    if spelled in _STORED:
        return _STORED[spelled]
    if spelled not in BYTES and spelled != "i1":
        raise Unsupported(f"has numbers of type {spelled}, which are not printed as C")
    return spelled


def lanes_of(type_: ir.Type) -> int:
    """Return how many lanes a vector has, 1 for a scalar."""
    return math.prod(type_.shape) if isinstance(type_, ir.VectorType) else 1


def cut(lanes: int, most: int) -> tuple[int, ...]:
    """Cut lanes into pieces whose numbers of lanes are powers of two, at most `most`."""
    pieces: list[int] = []
    while lanes:
        piece = min(most, 1 << (lanes.bit_length() - 1))
        pieces.append(piece)
        lanes -= piece
    return tuple(pieces)


def literal(value: float | int, element: str) -> str:
    """Spell a number of an element type; the shortest text from which C reads the same float."""
    if element in ("f32", "f64"):
        return _float(float(value), element)
    number = int(value)
    if element == "i1":
        return "true" if number else "false"
    bits = BYTES[element] * 8
    number = (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
    if number == -(1 << bits - 1) and bits >= 32:
        return f"INT{bits}_MIN"
    return f"INT64_C({number})" if element == "i64" and abs(number) >= 1 << 31 else str(number)


def _float(value: float, element: str) -> str:
    suffix = "f" if element == "f32" else ""
    if math.isnan(value):
        return f'__builtin_nan{suffix}("")'
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}__builtin_inf{suffix}()"
    return f"{repr(float(value)) if element == 'f64' else _shortest(value)}{suffix}"


def _shortest(value: float) -> str:
    text = str(np.float32(value))
    return text if "." in text or "e" in text else f"{text}.0"


def initializer(vector: Vector, lanes: Sequence[str]) -> str:
    """Spell a vector of numbers; equal ones are spread."""
    if vector.lanes == 1:
        return lanes[0]
    if len({*lanes}) == 1:
        return f"splat_{vector.name}({lanes[0]})"
    return f"({vector.name}){{{', '.join(lanes)}}}"


def selected(vector: Vector, mask: str, if_true: str, if_false: str) -> str:
    """Spell the choice of each lane by a mask, which is a condition if there is one lane."""
    if vector.lanes == 1:
        return f"{mask} ? {if_true} : {if_false}"
    return f"select_{vector.name}({mask}, {if_true}, {if_false})"
