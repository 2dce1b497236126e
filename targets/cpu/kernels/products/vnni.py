"""Pack VNNI words at run time: from rows of a matrix or from channels of an image."""

from collections.abc import Sequence
from typing import Any

from .....dialects.core.mlir import ir
from .....dialects.core.tensor import DTYPES, Shape, Tensor
from .....dialects.cpu.vnni import BYTES, HALF_RANGE, PRODUCTS, VNNI, Products, vnni_count
from ...schedule.costs import ALIASING
from ..buffer import LINE, Buffer, Lanes, storage_dtype, storage_type, tail_mask, vector
from ..builder import KernelBuilder
from ..epilogue import each_vector
from ..index import IndexExpr, for_each
from ..loops import each, each_of
from ..value import Value, arith, constant_of, element_type
from ..windows import Axis, inside_image
from .contraction import Left

VNNI_BITS = DTYPES[VNNI].bits


def vnni_rows(kernel: KernelBuilder, matrix: Buffer, products: Products) -> Left:
    """Load rows of a matrix as VNNI words, in place if the rows are whole words."""
    depth = matrix.shape[1]
    if depth % products.count == 0 and not products.offset and depth_bytes(matrix) % ALIASING:
        return lambda rows, r, at: load_word(matrix, rows.first + r, at[0])
    words = _copy_rows(kernel, matrix, products)
    return lambda rows, r, at: words.load([rows.first + r, at[0]])


def load_word(matrix: Buffer, row: IndexExpr, number: IndexExpr) -> Value:
    """Load a word of a row whose elements are whole words."""
    count = PRODUCTS[matrix.dtype].count
    loaded = load_words(matrix, [row, number * count], 1, None)
    return loaded.with_ssa(vector.extract(loaded.ssa, [], [0]))


class Words(Buffer):
    """View elements, of which whole words are neighbours, as VNNI words; the memory holds elements.

    Only single words are loaded.
    """

    @staticmethod
    def of(x: Buffer) -> "Words":
        """View contiguous elements as words of the last axis."""
        count = PRODUCTS[x.dtype].count
        *outer, last = x.shape
        return Words(x.memory, Tensor((*outer, last // count), VNNI), offset=x.offset // count)

    def load(self, indices: Sequence[IndexExpr], lanes: Lanes | None = None) -> Value:
        assert lanes is None, "words are loaded one at a time"
        count = self._count
        place = self.position(indices) * count
        type_ = ir.VectorType.get([count], self.memory.type.element_type)
        loaded = vector.load(type_, self.memory, [place.ssa])
        word = vector.bitcast(ir.VectorType.get([1], element_type(VNNI)), loaded)
        return Value(vector.extract(word, [], [0]), VNNI)

    def prefetch(self, position: IndexExpr, writes: bool = False, level: int = 2) -> None:
        super().prefetch(position * self._count, writes, level)

    @property
    def _count(self) -> int:
        """The number of elements of a word."""
        bits: int = self.memory.type.element_type.width
        return VNNI_BITS // bits


def depth_bytes(matrix: Buffer) -> int:
    return matrix.shape[1] * DTYPES[matrix.dtype].bits // 8


def _copy_rows(kernel: KernelBuilder, matrix: Buffer, products: Products) -> Buffer:
    """Copy a matrix to rows of VNNI words, padded to whole vectors."""
    rows, depth = matrix.shape
    lanes = kernel.lanes(VNNI)
    taken = lanes * products.count
    width = -(-depth // taken) * lanes
    width += 0 if width * BYTES % ALIASING else LINE // BYTES
    words = kernel.scratch((rows, width), VNNI)
    full = depth - depth % taken

    def move(row: IndexExpr, start: IndexExpr, count: int | None) -> None:
        loaded = load_words(matrix, [row, start], lanes, count)
        if products.offset:
            loaded = flipped(loaded)
        words.store(loaded, [row, start // products.count], Lanes(lanes))

    def copy(row: IndexExpr) -> None:
        for_each(full, lambda start: move(row, start, None), step=taken)
        if depth > full:
            move(row, IndexExpr(full), depth - full)

    each_of(rows, copy)
    return words


def flipped(words: Value) -> Value:
    """Make signed bytes unsigned ones that count from -128 on, or the other way round."""
    return words.logical_xor(words.like(_repeated(HALF_RANGE)))


def _repeated(byte: int) -> int:
    return int.from_bytes([byte] * BYTES, "little")


def load_words(matrix: Buffer, at: Sequence[IndexExpr], lanes: int, count: int | None) -> Value:
    """Load neighbours as a vector of `lanes` words; elements from `count` on are zero."""
    element = storage_type(matrix.dtype)
    type_ = ir.VectorType.get([lanes * PRODUCTS[matrix.dtype].count], element)
    place = [matrix.position(at).ssa]
    if count is None:
        loaded = vector.load(type_, matrix.memory, place)
    else:
        mask = tail_mask(type_.shape[0], count)
        zeros = constant_of(0, storage_dtype(matrix.dtype), type_)
        loaded = vector.maskedload(type_, matrix.memory, place, mask, zeros)
    words = ir.VectorType.get([lanes], ir.IntegerType.get_signless(32))
    return Value(vector.bitcast(words, loaded), VNNI)


def vnni_images(
    kernel: KernelBuilder,
    x: Buffer,
    group: int,
    sizes: Shape,
    axes: Sequence[Axis],
    padding: int,
    products: Products,
) -> Buffer:
    """Copy images to VNNI words of neighbouring channels: [batch, group * words, sizes…].

    `axes` are the positions of the image axes in `sizes`; around them is `padding`.
    """
    batch, _, *spatial = x.shape
    channels, count = x.shape[1] // group, products.count
    words = vnni_count(channels, count)
    made = kernel.scratch((batch, group * words, *sizes), VNNI)
    if not any(axis.padded for axis in axes) and tuple(spatial) == sizes:
        area = made.reshape((1, batch * group * words, made.tensor.size // (batch * group * words)))
        sizes, axes = area.shape[2:], ()
    source = x.reshape((batch * group, channels, *(sizes if not axes else spatial)))
    target = made.reshape((batch * group, words, *sizes))
    lanes = kernel.lanes(VNNI)

    def move(image: IndexExpr, word: IndexExpr, joined: int) -> None:
        def vectors(at: list[IndexExpr], taken: Lanes | None) -> None:
            wanted = taken or Lanes(1)
            places = [i - axis.begin for i, axis in zip(at, axes, strict=True)] if axes else at
            mask = inside_image(places, axes, wanted) if axes else wanted.mask
            parts = [
                _load_part(source, [image, word * count + i, *places], wanted.width, mask, padding)
                for i in range(joined)
            ]
            target.store(_join(parts, products.offset), [image, word, *at], taken)

        each_vector(sizes, lanes, vectors)

    each((batch * group, channels // count), lambda at: move(at[0], at[1], count))
    if rest := channels % count:
        each_of(batch * group, lambda image: move(image, IndexExpr(words - 1), rest))
    return made


def _load_part(
    source: Buffer, at: Sequence[IndexExpr], lanes: int, mask: Any, padding: int
) -> Value:
    """Load one element of each of several words, as the bits of an unsigned integer."""
    type_ = ir.VectorType.get([lanes], storage_type(source.dtype))
    place = [source.position(at).ssa]
    if mask is None:
        loaded = vector.load(type_, source.memory, place)
    else:
        around = constant_of(padding, storage_dtype(source.dtype), type_)
        loaded = vector.maskedload(type_, source.memory, place, mask, around)
    return Value(loaded, f"ui{DTYPES[source.dtype].bits}")


def _join(parts: Sequence[Value], offset: int) -> Value:
    """Combine elements into words, the first one in the lowest bits; add an offset to each."""
    bits = DTYPES[parts[0].dtype].bits
    total: Value | None = None
    for i, part in enumerate(parts):
        element = Value(arith.extui(part.shaped(VNNI), part.ssa), VNNI)
        if offset:
            element = element.logical_xor(element.like(HALF_RANGE))
        element = element.shift_left(i * bits) if i else element
        total = element if total is None else total.logical_or(element)
    assert total is not None, "a word holds at least one element"
    return total
