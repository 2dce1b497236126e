"""Words: neighbours in depth that share 32 bits, which CPUs multiply and sum in one instruction."""

from dataclasses import dataclass

import numpy as np

from ..core.errors import Invalid
from ..core.tensor import Array, Tensor, numpy_dtype

WORD = "i32"
"""The element type that words have in the IR."""

BYTES = 4


@dataclass(frozen=True)
class Products:
    """Tell what elements of a type are multiplied by, so many to a word, and what sums are."""

    count: int
    factor: str
    sums: str
    result: str
    offset: int = 0
    """What is added to each element first: i8 counts from -128 on, CPUs take it from 0 on."""


PRODUCTS = {
    "ui8": Products(4, "i8", "i32", "i32"),
    "i8": Products(4, "i8", "i32", "i32", offset=128),
    "bf16": Products(2, "bf16", "f32", "bf16"),
}


def products_of(x: Tensor) -> Products:
    """Return how elements are multiplied by words; Invalid for types that come in none."""
    if x.dtype not in PRODUCTS:
        raise Invalid(f"input has element type {x.dtype}, must be one of {', '.join(PRODUCTS)}")
    return PRODUCTS[x.dtype]


def check_words(w: Tensor, b: Tensor, columns: int, products: Products) -> None:
    """Raise Invalid unless weights are words, and there is a bias for each column."""
    if w.dtype != WORD:
        raise Invalid(f"weight has element type {w.dtype}, must be {WORD}: words")
    if b != Tensor((columns,), products.sums):
        raise Invalid(f"bias is {b}, must be {Tensor((columns,), products.sums)}")


def word_count(depth: int, count: int) -> int:
    """Return how many words hold a depth; zeros fill up the last one."""
    return -(-depth // count)


def pack_words(array: Array, axis: int) -> Array:
    """Join neighbours along an axis to words, the first one in the lowest bits."""
    count = BYTES // array.itemsize
    moved = np.moveaxis(array, axis, -1)
    padding = [(0, 0)] * (moved.ndim - 1) + [(0, -moved.shape[-1] % count)]
    words = np.ascontiguousarray(np.pad(moved, padding)).view(np.int32)
    return np.ascontiguousarray(np.moveaxis(words, -1, axis))


def unpack_words(words: Array, axis: int, dtype: str, depth: int) -> Array:
    """Undo `pack_words`, for so many elements of a type along the axis."""
    moved = np.ascontiguousarray(np.moveaxis(words, axis, -1))
    return np.moveaxis(moved.view(numpy_dtype(dtype))[..., :depth], -1, axis)


def widened(x: Array, products: Products) -> Array:
    """Return elements as they are multiplied: in the type of the sums, from the offset on."""
    return x.astype(numpy_dtype(products.sums)) + numpy_dtype(products.sums).type(products.offset)
