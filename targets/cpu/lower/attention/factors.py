"""What the two products of attention multiply: numbers as they are, or pairs of bf16.

Keys are transposed once for each head, so that scores are a product over contiguous rows.
"""

from collections.abc import Sequence
from functools import partial

from .....dialects.core.mlir import ir
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.sizes.dim import ceildiv
from .....dialects.core.sizes.substitution import likely
from .....dialects.core.tensor import DTYPES
from .....dialects.cpu.vnni import PRODUCTS, VNNI
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer, Lanes, pack, vector
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import each_vector
from ...kernels.index import IndexExpr, for_each
from ...kernels.products.contraction import Multiply, multiply_add
from ...kernels.products.dot import choose_dot, find_instruction
from ...kernels.products.panels import private_rows
from ...kernels.products.row_products import columns_of, rows_from
from ...kernels.products.vnni import load_word, load_words
from ...kernels.transposition import store_transposed, transpose_registers
from ...kernels.value import Value, element_type, is_strict
from ...kernels.widened import copy_vector

PAIR = "bf16"


class Factors:
    """Hold the keys and values of a head, and rows of scores and of weights of some queries.

    `keys` is [depth, keys], `values` is [keys or pairs of them, size]. Weights, of `weight_dtype`,
    are in the memory of the `scores`, which they replace. Rows are `padded` to whole vectors.
    """

    multiply: Multiply = staticmethod(multiply_add)
    together = 1  # values, and weights, that are multiplied at once

    def __init__(self, kernel: KernelBuilder, q: Buffer, k: Buffer, v: Buffer, rows: int) -> None:
        self.kernel, self.q = kernel, q
        self.dtype = compute_dtype(q.dtype)
        self.lanes = kernel.lanes(self.dtype)
        self.padded = ceildiv(k.shape[-2], self.lanes) * self.lanes
        self.scores = private_rows(kernel, rows, self.padded, self.dtype)
        self.weight_dtype = self.dtype
        self._allocate(k.shape[-2:], v.part([IndexExpr(0)] * 2), rows)

    @property
    def _widens(self) -> bool:
        """Return whether factors are converted before they are multiplied, each once for a head."""
        return self.q.dtype != self.dtype

    def _allocate(self, keys: Sequence[Size], values: Buffer, rows: int) -> None:
        count, inner = keys
        self.keys = private_rows(self.kernel, inner, count, self.dtype)
        span = likely(count * values.strides[0]) * DTYPES[values.dtype].itemsize
        far = values.strides[0] != values.shape[1] and span > self.kernel.machine.core.caches[1]
        # Rows far apart are in many pages, which are read again and again.
        shape = count, values.shape[1]
        copies = far or self._widens
        self._copy = private_rows(self.kernel, *shape, self.dtype) if copies else None
        if self._widens:
            self._queries = private_rows(self.kernel, rows, inner, self.dtype)

    def take_head(self, keys: Buffer, values: Buffer) -> None:
        """Prepare keys, [keys, depth], and values, [keys, size]."""
        store_transposed(keys, self.keys, self.lanes)
        self.values = self._copy or values
        if self._copy is not None:
            each_vector(values.shape, self.lanes, partial(copy_vector, values, self._copy))

    def take_queries(self, head: Sequence[IndexExpr], first: IndexExpr, count: Size) -> None:
        """Prepare some queries of a head."""
        rows = rows_from(self.q.part(head), first)
        if not self._widens:
            self._queries = rows
            return
        shape = count, rows.shape[1]
        each_vector(shape, self.lanes, partial(copy_vector, rows, self._queries))

    def query(self, row: IndexExpr, depth: IndexExpr) -> Value:
        """Load a factor of a query, by its number in those that were taken."""
        return self._queries.load([row, depth])

    def weight(self, row: IndexExpr, number: IndexExpr) -> Value:
        """Load a factor of the values."""
        return self.scores.load([row, number])

    def store_weights(self, row: IndexExpr, key: IndexExpr, weights: Value) -> None:
        """Store the weights of neighbouring keys, whose scores and those before were read."""
        self.scores.store(weights, [row, key], Lanes(self.lanes))


class PairFactors(Factors):
    """Multiply pairs of bf16, with sums of f32, by an instruction; weights are rounded to bf16."""

    def _allocate(self, keys: Sequence[Size], values: Buffer, rows: int) -> None:
        self.weight_dtype = PAIR
        count, inner = keys
        width = values.shape[1]
        self.together = pairs = PRODUCTS[PAIR].count
        self.multiply = choose_dot(self.kernel.machine, PAIR)
        self.keys = private_rows(self.kernel, inner // pairs, count, VNNI)
        self.values = private_rows(self.kernel, ceildiv(count, pairs), width, VNNI)

    def take_head(self, keys: Buffer, values: Buffer) -> None:
        for_each(keys.shape[0], lambda key: self._take_keys(keys, key), step=self.lanes)
        pairs, single = divmod(keys.shape[0], 2)
        for_each(pairs, lambda pair: self._take_values(values, pair, 2))
        for_each(single, lambda _: self._take_values(values, IndexExpr(pairs), 1))

    def _take_keys(self, keys: Buffer, first: IndexExpr) -> None:
        """Transpose the pairs of neighbouring keys; behind the last one it stands again."""
        last = IndexExpr(keys.shape[0]) - 1
        places = [(first + number).minimum(last) for number in range(self.lanes)]
        depth = self.keys.shape[0]
        for start in range(0, depth, self.lanes):
            count = None if start + self.lanes <= depth else 2 * (depth - start)
            loaded = [
                load_words(keys, [place, IndexExpr(2 * start)], self.lanes, count)
                for place in places
            ]
            made = transpose_registers(loaded, self.lanes)
            for number in range(min(self.lanes, depth - start)):
                at = [IndexExpr(start + number), first]
                self.keys.store(made[number], at, Lanes(self.lanes))

    def _take_values(self, values: Buffer, pair: IndexExpr, count: int) -> None:
        """Pair the values of two keys, or those of the last one with zeros."""
        for start, lanes in columns_of(values.shape[1], self.lanes):
            at = IndexExpr(start)
            bits = [values.load([pair * 2 + i, at], lanes).bits("ui32") for i in range(count)]
            word = bits[0].shift_right(16)
            for high in bits[1:]:
                word = word.logical_or(high)
            self.values.store(Value(word.ssa, VNNI), [pair, at], Lanes(self.lanes))

    def take_queries(self, head: Sequence[IndexExpr], first: IndexExpr, count: Size) -> None:
        self._queries = rows_from(self.q.part(head), first)

    def query(self, row: IndexExpr, depth: IndexExpr) -> Value:
        return load_word(self._queries, row, depth)

    def weight(self, row: IndexExpr, number: IndexExpr) -> Value:
        return self.scores.load([row, number]).bits(VNNI)

    def store_weights(self, row: IndexExpr, key: IndexExpr, weights: Value) -> None:
        half = self.lanes // 2
        type_ = ir.VectorType.get([half], element_type(self.dtype))
        pairs = vector.bitcast(type_, pack(weights, PAIR))
        self.scores.store(Value(pairs, self.dtype), [row, key // 2], Lanes(half))


def choose_factors(kernel: KernelBuilder, q: Buffer, k: Buffer, v: Buffer, rows: int) -> Factors:
    """Return pairs of bf16 where a machine multiplies these, and numbers are contiguous."""
    inner, width = q.shape[-1], v.shape[-1]
    pairs = (
        q.dtype == PAIR
        and not is_strict()
        and find_instruction(kernel.machine, PAIR) is not None
        and not is_symbolic(inner)
        and not is_symbolic(width)
        and inner % 2 == 0
        and q.strides[-1] == k.strides[-1] == 1
    )
    return (PairFactors if pairs else Factors)(kernel, q, k, v, rows)
