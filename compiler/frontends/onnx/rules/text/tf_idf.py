"""ONNX rule that counts n-grams."""

from collections.abc import Iterator

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import Array, is_string, numpy_dtype
from ....core.values import constant, tensor
from ...registry import Value, onnx_op

Ints = tuple[int, ...]


@onnx_op("TfIdfVectorizer", since=9)
def tf_idf_vectorizer(
    x: Value,
    *,
    max_gram_length: int,
    max_skip_count: int,
    min_gram_length: int,
    mode: str,
    ngram_counts: Ints,
    ngram_indexes: Ints,
    pool_int64s: Ints = (),
    pool_strings: tuple[str, ...] = (),
    weights: tuple[float, ...] = (),
) -> Value:
    """Compare every place of the sequence with every n-gram, and count."""
    if mode not in ("TF", "IDF", "TFIDF"):
        raise Invalid(f"has mode '{mode}', must be TF, IDF or TFIDF")
    sequence = tensor(x)
    if sequence.rank not in (1, 2):
        raise Invalid(f"has input {sequence}, must have rank 1 or 2")
    if not ngram_indexes or min(ngram_indexes) < 0 or len(weights) not in (0, len(ngram_indexes)):
        raise Invalid(f"has {len(weights)} weights for n-grams at {ngram_indexes}")
    outer = sequence.shape[:-1]
    total: Value = constant(np.zeros((*outer, max(ngram_indexes) + 1), np.float32))
    for first, grams in _pool(
        _items(x, pool_int64s, pool_strings), ngram_counts, len(ngram_indexes)
    ):
        if not min_gram_length <= grams.shape[1] <= max_gram_length:
            continue
        part = slice(first, first + len(grams))
        counts = _counts(x, grams, max_skip_count)
        if mode == "IDF":
            counts = tri.Minimum.build(counts, constant(np.array(1, np.float32))).y
        if mode != "TF" and weights:
            counts = tri.Mul.build(counts, constant(np.array(weights[part], np.float32))).y
        places = constant(np.array(ngram_indexes[part]))
        places = tri.Expand.build(places, shape=(*outer, len(grams))).y
        total = tri.ScatterElements.build(total, places, counts, axis=len(outer), reduction="add").y
    return total


def _items(x: Value, integers: Ints, strings: tuple[str, ...]) -> Array:
    """Return the pool, of the element type of the sequence."""
    if is_string(tensor(x).dtype):
        return np.array(strings, object)
    if strings:
        raise Invalid(f"has a pool of strings, must have one of {tensor(x).dtype}")
    return np.array(integers, np.int64)


def _pool(pool: Array, starts: Ints, count: int) -> Iterator[tuple[int, Array]]:
    """Yield the n-grams of each length, and the number of the first of them."""
    number = 0
    for length, (start, end) in enumerate(zip(starts, (*starts[1:], len(pool)), strict=True), 1):
        if not 0 <= start <= end <= len(pool) or (end - start) % length:
            raise Invalid(f"has ngram_counts {starts}, which do not split a pool of {len(pool)}")
        if end > start:
            grams = pool[start:end].reshape(-1, length)
            yield number, grams
            number += len(grams)
    if number != count:
        raise Invalid(f"has a pool of {number} n-grams, must have {count}")


def _counts(x: Value, grams: Array, max_skip_count: int) -> Value:
    """Count each n-gram, as [..., n-grams], with all numbers of items skipped between its items."""
    size, length = tensor(x).shape[-1], grams.shape[1]
    pattern = constant(grams[:, None].astype(numpy_dtype(tensor(x).dtype)))
    total = constant(np.zeros((*tensor(x).shape[:-1], len(grams)), np.float32))
    for skip in range(max_skip_count + 1 if length > 1 else 1):
        starts = range(size - (length - 1) * (skip + 1))
        places = [[start + i * (skip + 1) for i in range(length)] for start in starts]
        at = constant(np.array(places, np.int64).reshape(-1, length))
        seen = tri.Gather.build(x, at, axis=tensor(x).rank - 1).y
        outer, rank = tensor(seen).shape[:-2], tensor(seen).rank
        seen = tri.Reshape.build(seen, shape=(*outer, 1, *tensor(seen).shape[-2:])).y
        same = tri.Cast.build(tri.Equal.build(seen, pattern).y, to="f32").y
        all_same = tri.ReduceMin.build(same, axes=(rank,), keepdims=False).y
        found = tri.ReduceSum.build(all_same, axes=(rank - 1,), keepdims=False).y
        total = tri.Add.build(total, found).y
    return total
