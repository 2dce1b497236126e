"""Rules of `ai.onnx.ml` for linear models."""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ....core.values import constant, tensor
from ...registry import Value, onnx_op
from . import DOMAIN
from .operands import column, matrix, numbers_like
from .scores import best, class_labels, is_single, label_of_two, labels_at, opposite, transformed

Floats = tuple[float, ...]


@onnx_op("LinearRegressor", since=1, domain=DOMAIN)
def linear_regressor(
    x: Value,
    *,
    coefficients: Floats = (),
    intercepts: Floats = (),
    post_transform: str = "NONE",
    targets: int = 1,
) -> Value:
    return transformed(_products(x, coefficients, intercepts, targets), post_transform)


@onnx_op("LinearClassifier", since=1, domain=DOMAIN)
def linear_classifier(
    x: Value,
    *,
    classlabels_ints: tuple[int, ...] = (),
    classlabels_strings: tuple[str, ...] = (),
    coefficients: Floats,
    intercepts: Floats = (),
    multi_class: int = 0,
    post_transform: str = "NONE",
) -> tuple[Value, Value]:
    """Return the label of the best class, and the scores of all classes.

    The sign of a single score chooses between two classes.
    """
    labels = class_labels(classlabels_ints, classlabels_strings)
    classes = len(intercepts) or len(labels)
    scores = _products(x, coefficients, intercepts, classes)
    if not is_single(scores):
        chosen = labels_at(best(scores), labels if labels.size else np.arange(classes))
        return chosen, transformed(scores, post_transform)
    above = tri.Greater.build(column(scores, 0), numbers_like(0, scores)).y
    chosen = label_of_two(above, labels if len(labels) == 2 else np.arange(2))
    if len(labels) != 2:
        return chosen, transformed(scores, post_transform)
    of_one = post_transform in ("LOGISTIC", "PROBIT")  # a softmax of one score is the score
    return chosen, opposite(transformed(scores, post_transform if of_one else "NONE"))


def _products(x: Value, coefficients: Floats, intercepts: Floats, rows: int) -> Value:
    """Compute `x @ coefficients.T + intercepts`, as [N, rows]."""
    x = matrix(x)
    features = tensor(x).shape[1]
    if len(intercepts) not in (0, rows) or len(coefficients) != rows * features:
        counts = f"{len(coefficients)} coefficients and {len(intercepts)} intercepts"
        raise Invalid(f"has {counts} for {rows} results of {features} features")
    weights = np.array(coefficients, np.float32).reshape(rows, features)
    y = tri.MatMul.build(x, constant(np.ascontiguousarray(weights.T))).y
    if not intercepts:
        return y
    return tri.Add.build(y, constant(np.array(intercepts, np.float32))).y
