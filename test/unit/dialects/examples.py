"""Random valid examples of ops, drawn by hypothesis: what the tables of examples are made of."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from trivium.dialects.core.tensor import (
    DTYPES,
    Array,
    Shape,
    Tensor,
    is_float,
    is_string,
    numpy_dtype,
)

FLOATS = ("f64", "f32", "f16", "bf16")
INTEGERS = ("i64", "i32", "i16", "i8", "ui64", "ui32", "ui16", "ui8")
NUMBERS = FLOATS + INTEGERS
BOOLS = ("i1",)
ANY = NUMBERS + BOOLS
INDICES = ("i64", "i32")


@dataclass(frozen=True)
class Example:
    """Hold the operands of an op, as arrays, None or lists of arrays, and its attributes."""

    operands: tuple[Any, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def types(self) -> list[Any]:
        return [_type(operand) for operand in self.operands]


def _type(operand: Any) -> Any:
    if operand is None:
        return None
    return [Tensor.of(a) for a in operand] if isinstance(operand, list) else Tensor.of(operand)


WORDS = ["", "a", "B", "a b  a", '\u00fc\u4e2d "\\', "\n\0x"]


class Pick:
    """Draw the parts of an example."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def one(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def between(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def number(self, low: float = -2.0, high: float = 2.0) -> float:
        return self.draw(st.floats(low, high))

    def flag(self) -> bool:
        return self.draw(st.booleans())

    def maybe(self, value: Any) -> Any:
        return value if self.flag() else None

    def ints(self, count: int, low: int, high: int) -> tuple[int, ...]:
        return tuple(self.between(low, high) for _ in range(count))

    def shape(self, ranks: tuple[int, int] = (0, 3), sizes: tuple[int, int] = (0, 3)) -> Shape:
        return self.ints(self.between(*ranks), *sizes)

    def axis(self, rank: int) -> int:
        return self.between(-rank, rank - 1)

    def axes(self, rank: int) -> tuple[int, ...]:
        return tuple(axis for axis in range(rank) if self.flag())

    def permutation(self, rank: int) -> tuple[int, ...]:
        return tuple(self.draw(st.permutations(range(rank))))

    def parts(self, total: int, count: int) -> tuple[int, ...]:
        """Split a number into so many parts."""
        cuts = [0, *sorted(self.ints(count - 1, 0, total)), total]
        return tuple(b - a for a, b in itertools.pairwise(cuts))

    def narrowed(self, shape: Shape) -> Shape:
        """Return a shape that broadcasts to another one."""
        sizes = tuple(1 if self.flag() else size for size in shape)
        return sizes[self.between(0, len(shape)) :]

    def array(self, shape: Shape, *dtypes: str) -> Array:
        """Draw an array of one of some element types, special values among the floats."""
        dtype = self.one(*dtypes)
        random = np.random.default_rng(self.between(0, 1 << 16))
        if is_string(dtype):
            return random.choice(WORDS, shape).astype(object)
        if is_float(dtype):
            values = random.normal(0, 3, shape)
            special = random.choice([0.0, -0.0, np.inf, -np.inf, np.nan], shape)
            values = np.where(random.random(shape) < 0.1, special, values)
            return values.astype(numpy_dtype(dtype))
        low = 0 if DTYPES[dtype].kind != "int" else -4
        return random.integers(low, 5, shape).astype(numpy_dtype(dtype))

    def places(self, shape: Shape, size: int) -> Array:
        """Draw indices of an axis, counted from either end."""
        random = np.random.default_rng(self.between(0, 1 << 16))
        return random.integers(-size, size, shape).astype(numpy_dtype(self.one(*INDICES)))


Maker = Callable[[Pick], Example]
Value = Any
"""What a table gives for an attribute: a value, or a function that draws it."""


def drawn(pick: Pick, attributes: dict[str, Value]) -> dict[str, Any]:
    return {name: v(pick) if callable(v) else v for name, v in attributes.items()}


def mapped(*dtypes: str, **attributes: Value) -> Maker:
    """Make examples of ops on one tensor of any shape."""
    return lambda pick: Example((pick.array(pick.shape(), *dtypes),), drawn(pick, attributes))


def paired(*dtypes: str, **attributes: Value) -> Maker:
    """Make examples of ops on two tensors of one element type that broadcast to each other."""

    def make(pick: Pick) -> Example:
        shape, dtype = pick.shape(), pick.one(*dtypes)
        a, b = pick.array(pick.narrowed(shape), dtype), pick.array(pick.narrowed(shape), dtype)
        return Example((a, b), drawn(pick, attributes))

    return make


def along(*dtypes: str, smallest: int = 0, **attributes: Value) -> Maker:
    """Make examples of ops along one axis."""

    def make(pick: Pick) -> Example:
        x = pick.array(pick.shape((1, 3), (smallest, 3)), *dtypes)
        return Example((x,), {"axis": pick.axis(x.ndim)} | drawn(pick, attributes))

    return make


def examples(make: Maker) -> st.SearchStrategy[Example]:
    """Turn a maker of the table into a hypothesis strategy."""
    return st.composite(lambda draw: make(Pick(draw)))()
