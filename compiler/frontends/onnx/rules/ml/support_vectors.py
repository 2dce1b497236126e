"""Rules of `ai.onnx.ml` for support vector machines."""

from itertools import combinations, pairwise

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.tensor import Array
from ....core.values import constant, tensor
from ...registry import Value, onnx_op
from . import DOMAIN
from .kernels import Kernel
from .operands import matrix, numbers_like
from .scores import best, both_classes, class_labels, labels_at, opposite, transformed

Ints = tuple[int, ...]
Floats = tuple[float, ...]

LEAST = 1e-7
"""How near to 0 and 1 the probability of a class of a pair may be."""


@onnx_op("SVMRegressor", since=1, domain=DOMAIN)
def svm_regressor(
    x: Value,
    *,
    coefficients: Floats = (),
    kernel_params: Floats = (),
    kernel_type: str = "LINEAR",
    n_supports: int = 0,
    one_class: int = 0,
    post_transform: str = "NONE",
    rho: Floats = (),
    support_vectors: Floats = (),
) -> Value:
    """Sum the kernels of support vectors; with `one_class`, return 1 above zero and -1 below."""
    if post_transform != "NONE" or len(rho) != 1:
        raise Unsupported(f"has post_transform '{post_transform}' and {len(rho)} offsets")
    x, weights = matrix(x), np.array(coefficients, np.float32)
    if n_supports:
        vectors = _rows(support_vectors, n_supports, tensor(x).shape[1])
        products = Kernel.of(kernel_type, kernel_params).apply(x, vectors)
        if weights.size != n_supports:
            raise Invalid(f"has {weights.size} coefficients for {n_supports} support vectors")
    else:
        products, weights = x, _rows(coefficients, 1, tensor(x).shape[1]).reshape(-1)
    y = _plus(tri.MatMul.build(products, constant(weights[:, None])).y, rho[0])
    if not one_class:
        return y
    above = tri.Greater.build(y, numbers_like(0, y)).y
    return tri.Where.build(above, numbers_like(1, y), numbers_like(-1, y)).y


@onnx_op("SVMClassifier", since=1, domain=DOMAIN)
def svm_classifier(
    x: Value,
    *,
    classlabels_ints: Ints = (),
    classlabels_strings: tuple[str, ...] = (),
    coefficients: Floats = (),
    kernel_params: Floats = (),
    kernel_type: str = "LINEAR",
    post_transform: str = "NONE",
    prob_a: Floats = (),
    prob_b: Floats = (),
    rho: Floats = (),
    support_vectors: Floats = (),
    vectors_per_class: Ints = (),
) -> tuple[Value, Value]:
    """Return the label of the class that wins most pairs, and the scores of pairs or classes.

    With `prob_a` and `prob_b`, they are the probabilities of classes.
    """
    labels, x = class_labels(classlabels_ints, classlabels_strings), matrix(x)
    classes, features = len(labels), tensor(x).shape[1]
    if not vectors_per_class:
        if prob_a or prob_b:
            raise Unsupported("has probabilities of a linear machine, must have support vectors")
        weights = _rows(coefficients, classes, features)
        if len(rho) != 1:
            raise Invalid(f"has {len(rho)} offsets of a linear machine, must have 1")
        scores = _plus(tri.MatMul.build(x, constant(np.ascontiguousarray(weights.T))).y, rho[0])
        return labels_at(best(scores), labels), transformed(scores, post_transform)
    count = sum(vectors_per_class)
    vectors = _rows(support_vectors, count, features)
    products = Kernel.of(kernel_type, kernel_params).apply(x, vectors)
    pairs = list(combinations(range(classes), 2))
    if len(vectors_per_class) != classes or len(rho) != len(pairs):
        raise Invalid(f"has {len(vectors_per_class)} numbers of vectors and {len(rho)} offsets")
    weights = _of_pairs(_rows(coefficients, classes - 1, count), vectors_per_class)
    scores = tri.MatMul.build(products, constant(weights)).y
    scores = tri.Add.build(scores, numbers_like(rho, scores)).y
    chosen = best(_votes(scores, classes))
    if not prob_a and not prob_b:
        return labels_at(chosen, labels), _scores_of_pairs(scores, post_transform)
    if len(prob_a) != len(pairs) or len(prob_b) != len(pairs):
        raise Invalid(f"has {len(prob_a)} and {len(prob_b)} numbers for {len(pairs)} pairs")
    shares = _probabilities(scores, prob_a, prob_b, classes)
    return labels_at(chosen, labels), transformed(shares, post_transform)


def _probabilities(scores: Value, a: Floats, b: Floats, classes: int) -> Value:
    """Return the probabilities of classes by the scores of pairs.

    That of the first class of a pair is a logistic function of the score, fitted by Platt's method.
    """
    exponents = tri.Mul.build(scores, numbers_like(a, scores)).y
    exponents = tri.Add.build(exponents, numbers_like(b, scores)).y
    first = tri.Sigmoid.build(tri.Neg.build(exponents).y).y
    first = tri.Clip.build(first, min=LEAST, max=1 - LEAST).y
    second = tri.Sub.build(numbers_like(1, scores), first).y
    both = tri.Concat.build([first, second], axis=1).y
    matrix = _places_in_matrix(classes)
    pairs = tri.Gather.build(both, constant(matrix), axis=1).y
    return tri.CouplePairs.build(pairs).y


def _places_in_matrix(classes: int) -> Array:
    """Return where the probability of i or j is among those of first and of second classes."""
    pairs = list(combinations(range(classes), 2))
    matrix = np.zeros((classes, classes), np.int64)
    for pair, (i, j) in enumerate(pairs):
        matrix[i, j], matrix[j, i] = pair, len(pairs) + pair
    return matrix


def _scores_of_pairs(scores: Value, transform: str) -> Value:
    if tensor(scores).shape[1] > 1:
        return transformed(scores, transform)
    if transform == "LOGISTIC":
        return opposite(transformed(scores, transform))
    negated = tri.Neg.build(scores).y
    return both_classes(negated, scores) if transform == "NONE" else opposite(scores)


def _of_pairs(coefficients: Array, counts: Ints) -> Array:
    """Return the weights of all support vectors for each pair of classes, [vectors, pairs].

    Row j - 1 of the coefficients is for a class i < j of the pair, row i for class j.
    """
    starts = np.concatenate([[0], np.cumsum(counts)])
    spans = [slice(first, last) for first, last in pairwise(starts)]
    pairs = list(combinations(range(len(counts)), 2))
    weights = np.zeros((coefficients.shape[1], len(pairs)), np.float32)
    for pair, (i, j) in enumerate(pairs):
        weights[spans[i], pair] = coefficients[j - 1, spans[i]]
        weights[spans[j], pair] = coefficients[i, spans[j]]
    return weights


def _votes(scores: Value, classes: int) -> Value:
    """Count the pairs that each class wins: the first class of a pair above zero."""
    pairs = list(combinations(range(classes), 2))
    first = np.zeros((len(pairs), classes), np.float32)
    second = first.copy()
    for pair, (i, j) in enumerate(pairs):
        first[pair, i] = second[pair, j] = 1
    above = tri.Cast.build(tri.Greater.build(scores, numbers_like(0, scores)).y, to="f32").y
    won = tri.MatMul.build(above, constant(first - second)).y
    return tri.Add.build(won, constant(second.sum(axis=0))).y


def _rows(numbers: Floats, count: int, width: int) -> Array:
    if len(numbers) != count * width:
        raise Invalid(f"has {len(numbers)} numbers for {count} rows of {width}")
    return np.array(numbers, np.float32).reshape(count, width)


def _plus(x: Value, offset: float) -> Value:
    return tri.Add.build(x, numbers_like(offset, x)).y
