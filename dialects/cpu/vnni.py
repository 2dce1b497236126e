"""VNNI words: neighbours in depth packed in 32 bits, the operands of dot-product instructions.

A word has four bytes or two bf16; one instruction (x86 VNNI and AVX512-BF16, sdot of ARM)
multiplies the elements of two words pairwise and adds the products to a 32-bit sum.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..core.errors import Invalid
from ..core.sizes.atoms import Size
from ..core.sizes.checks import need_same_shape
from ..core.tensor import Array, Tensor, numpy_dtype

VNNI = "i32"
"""The element type of VNNI words in the IR."""

BYTES = 4


@dataclass(frozen=True)
class Products:
    """Describe the dot products of a type: elements per word, type of factors, sums and results."""

    count: int
    factor: str
    sums: str
    result: str
    offset: int = 0
    """Added to each byte first, where the instruction takes unsigned ones or signed ones: 128 or
    -128, either of which flips the highest bit."""


PRODUCTS = {
    "ui8": Products(4, "i8", "i32", "i32"),
    "i8": Products(4, "i8", "i32", "i32", offset=128),
    "bf16": Products(2, "bf16", "f32", "bf16"),
}


HALF_RANGE = 128
"""The difference between an unsigned byte and the signed one that counts from -128 on."""


def products_of(x: Tensor, signed: bool = False) -> Products:
    """Return the dot products of an input's type, by `signed` bytes or by unsigned ones.

    Raises Invalid for types without any.
    """
    if x.dtype not in PRODUCTS:
        raise Invalid(f"input has element type {x.dtype}, must be one of {', '.join(PRODUCTS)}")
    products = PRODUCTS[x.dtype]
    if not signed:
        return products
    if products.factor != "i8":
        raise Invalid(f"input has element type {x.dtype}, signed ones must be ui8 or i8")
    return replace(products, offset=products.offset - HALF_RANGE)


def check_vnni(w: Tensor, b: Tensor, columns: int, products: Products) -> None:
    """Raise Invalid unless weights are VNNI words, with a bias for each column."""
    if w.dtype != VNNI:
        raise Invalid(f"weight has element type {w.dtype}, must be {VNNI}: VNNI words")
    wanted = Tensor((columns,), products.sums)
    if b.dtype != wanted.dtype:
        raise Invalid(f"bias is {b}, must be {wanted}")
    need_same_shape(b.shape, wanted.shape, f"bias is {b}, must be {wanted}")


def vnni_count(depth: Size, count: int) -> Size:
    """Return the number of words for a depth; the last word is padded with zeros."""
    return -(-depth // count)


def pack_vnni(array: Array, axis: int) -> Array:
    """Pack neighbours along an axis into VNNI words, the first element in the lowest bits."""
    count = BYTES // array.itemsize
    moved = np.moveaxis(array, axis, -1)
    padding = [(0, 0)] * (moved.ndim - 1) + [(0, -moved.shape[-1] % count)]
    words = np.ascontiguousarray(np.pad(moved, padding)).view(np.int32)
    return np.ascontiguousarray(np.moveaxis(words, -1, axis))


def unpack_vnni(words: Array, axis: int, dtype: str, depth: int) -> Array:
    """Undo `pack_vnni`: return `depth` elements of a type along the axis."""
    moved = np.ascontiguousarray(np.moveaxis(words, axis, -1))
    return np.moveaxis(moved.view(numpy_dtype(dtype))[..., :depth], -1, axis)


def widened(x: Array, products: Products) -> Array:
    """Convert elements to the type of the sums and add the offset."""
    return x.astype(numpy_dtype(products.sums)) + numpy_dtype(products.sums).type(products.offset)
