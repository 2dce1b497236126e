"""Indices of several axes, of which PNNX writes the first row alone."""

import numpy as np
import pytest
from texts import unary
from trivium.compiler.frontends.pnnx import read_pnnx
from trivium.compiler.frontends.pnnx.importer import import_pnnx
from trivium.dialects.core import interpret
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.tensor import Array


def indexed(x: Array, expr: str, made: str) -> Array:
    shape = ",".join(map(str, x.shape))
    graph = read_pnnx(unary(f"Tensor.index expr={expr}", f"({shape})f32", made))
    with new_context():
        (y,) = interpret.run(import_pnnx(graph), [x])
    return y


X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
ROW = X[:1, :, :1].reshape(1, 3)
COLUMN = np.arange(3)


@pytest.mark.parametrize(
    ("x", "expr", "made", "want"),
    [
        # What masks of transformers are: [[[[0]]]] and [[[[0, 1, 2]]]].
        (ROW, "[[0],[0]]", "(1,1,1,3)f32", ROW[np.zeros((1, 1, 1, 1), int), COLUMN]),
        (ROW, "[[0],[0]]", "(1,3)f32", ROW),
        # A batch of two, whose index is [[[[0]]], [[[1]]]].
        (
            X[:, :, 0],
            "[[0,1],[0]]",
            "(2,1,1,3)f32",
            X[:, :, 0][np.arange(2).reshape(2, 1, 1, 1), COLUMN],
        ),
        # Axes that no index is for stay.
        (X, "[[0,1],[0]]", "(2,3,4)f32", X),
        (X, "[[0]]", "(1,2,3,4)f32", X[None]),
    ],
)
def test_counts_up(x: Array, expr: str, made: str, want: Array) -> None:
    with pytest.warns(UserWarning, match=r"'Tensor\.index' operator 'op' has indices that"):
        y = indexed(np.ascontiguousarray(x), expr, made)
    np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize(
    ("expr", "made", "want"),
    [
        ("[[0,0],[2,0]]", "(2,4)f32", X[[0, 0], [2, 0]]),
        ("[[1,0]]", "(2,3,4)f32", X[[1, 0]]),
        ("[[0],[0]]", "(1,4)f32", X[[0], [0]]),
        ("[[0],[0]]", "(1,?)f32", X[[0], [0]]),
    ],
)
def test_whole_indices_are_what_they_are(
    expr: str, made: str, want: Array, recwarn: pytest.WarningsRecorder
) -> None:
    np.testing.assert_array_equal(indexed(X, expr, made), want)
    assert not recwarn.list


@pytest.mark.parametrize(
    ("shape", "expr", "made"),
    [
        ((1, 3), "[[0],[1]]", "(1,1,3)f32"),  # does not begin at 0
        ((1, 3), "[[0],[0]]", "(1,3,3)f32"),  # which of two axes
        ((1, 3), "[[0],[0]]", "(1,1,4)f32"),  # no axis of this size
        ((2, 3), "[[0],[0]]", "(1,1,3)f32"),  # which row of two
        ((5, 3), "[[3,1]]", "(2,2,3)f32"),
        ((5,), "[[True,False,True,False,False]]", "(1,2)f32"),
    ],
)
def test_refuses_what_it_cannot_know(shape: tuple[int, ...], expr: str, made: str) -> None:
    with pytest.raises(CompileError, match=r"cut short|the file says"):
        indexed(np.zeros(shape, np.float32), expr, made)
