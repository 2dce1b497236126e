"""Scores of classes: their transforms, and the class that they choose."""

import math

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Unsupported
from ......dialects.core.tensor import Array
from ....core.values import constant, tensor
from ...registry import Value
from .operands import numbers_like, texts

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def class_labels(integers: tuple[int, ...], names: tuple[str, ...]) -> Array:
    """Return the labels of classes: integers, or text; none where a node has none."""
    return texts(names) if names else np.array(integers, np.int64)


def labels_at(places: Value, labels: Array) -> Value:
    """Return the label of each class that an index names."""
    return tri.Gather.build(constant(labels), places, axis=0).y


def label_of_two(is_second: Value, labels: Array) -> Value:
    """Return the second of two labels where a condition is true, else the first."""
    first, second = (constant(labels[i : i + 1].reshape(())) for i in range(2))
    return tri.Where.build(is_second, second, first).y


def best(scores: Value) -> Value:
    """Return the index of the greatest score of each row, the first of equals."""
    return tri.ArgMax.build(scores, axis=1, keepdims=False).y


def transformed(scores: Value, transform: str) -> Value:
    """Apply a `post_transform` to rows of scores."""
    if transform == "NONE":
        return scores
    if transform == "LOGISTIC":
        return tri.Sigmoid.build(scores).y
    if transform == "SOFTMAX":
        return tri.Softmax.build(scores, axis=1).y
    if transform == "SOFTMAX_ZERO":
        return _softmax_zero(scores)
    if transform == "PROBIT":
        return _probit(scores)
    raise Unsupported(f"has post_transform '{transform}', must be {', '.join(TRANSFORMS)}")


def _softmax_zero(scores: Value) -> Value:
    """Compute a softmax of the scores that are not zero; zeros stay zeros."""
    near = tri.LessEqual.build(tri.Abs.build(scores).y, numbers_like(1e-7, scores)).y
    highest = tri.ReduceMax.build(scores, axes=(1,), keepdims=True).y
    powers = tri.Exp.build(tri.Sub.build(scores, highest).y).y
    zeros = tri.Mul.build(scores, tri.Exp.build(tri.Neg.build(highest).y).y).y
    kept = tri.Where.build(near, zeros, powers).y
    return tri.Div.build(kept, tri.ReduceSum.build(kept, axes=(1,), keepdims=True).y).y


def _probit(scores: Value) -> Value:
    """Compute sqrt(2) times the inverse of erf at 2 x - 1, as ONNX Runtime approximates it.

    Source: S. Winitzki, "A handy approximation for the error function and its inverse", 2008.
    """
    a = 0.147
    x = _affine(scores, 2.0, -1.0)
    log = tri.Log.build(_affine(tri.Mul.build(x, x).y, -1.0, 1.0)).y
    v = _affine(log, 0.5, 2 / (math.pi * a))
    inner = tri.Sub.build(tri.Mul.build(v, v).y, _affine(log, 1 / a, 0.0)).y
    root = tri.Sqrt.build(tri.Sub.build(tri.Sqrt.build(inner).y, v).y).y
    signed = tri.Mul.build(tri.Sign.build(x).y, root).y
    return _affine(signed, math.sqrt(2), 0.0)


def _affine(x: Value, scale: float, offset: float) -> Value:
    scaled = tri.Mul.build(x, numbers_like(scale, x)).y
    return tri.Add.build(scaled, numbers_like(offset, x)).y if offset else scaled


def both_classes(first: Value, second: Value) -> Value:
    """Put the scores of two classes side by side, each of [N, 1]."""
    return tri.Concat.build([first, second], axis=1).y


def opposite(positive: Value) -> Value:
    """Return `1 - p` and `p`, the probabilities of two classes."""
    one = numbers_like(1, positive)
    return both_classes(tri.Sub.build(one, positive).y, positive)


def is_single(scores: Value) -> bool:
    """Return whether a row has one score."""
    return tensor(scores).shape[1] == 1
