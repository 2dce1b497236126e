"""Einsum taken apart, against numpy's."""

import numpy as np
import pytest
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Array, Shape, Tensor
from trivium.passes.decompose import Decompose

RANDOM = np.random.default_rng(0)


def decomposed(equation: str, xs: list[Array], y: Array) -> Module:
    types = [str(Tensor.of(x)) for x in xs]
    arguments = ", ".join(f"%{i}: {t}" for i, t in enumerate(types))
    operands = ", ".join(f"%{i}" for i in range(len(xs)))
    result = Tensor.of(y)
    module = Module.parse(
        f"func.func @f({arguments}) -> {result} {{\n"
        f'  %y = "tri.einsum"({operands}) {{equation = "{equation}"}}'
        f" : ({', '.join(types)}) -> {result}\n"
        f"  return %y : {result}\n}}"
    )
    Decompose(("einsum",)).run(module)
    module.verify()
    return module


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij->ji", [(2, 3)]),
        ("ijk->j", [(2, 3, 4)]),
        ("i,j->ij", [(2,), (3,)]),
        ("bhid,bhjd->bhij", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
        ("bi,bj,bk->bijk", [(2, 3), (2, 4), (2, 5)]),
        ("ij,jk,ki->", [(2, 3), (3, 4), (4, 2)]),
        ("abc,cd,ae->de", [(2, 3, 4), (4, 5), (2, 6)]),
    ],
)
def test_equals_numpy(equation: str, shapes: list[Shape]) -> None:
    xs = [RANDOM.standard_normal(shape).astype(np.float32) for shape in shapes]
    want = np.asarray(np.einsum(equation, *xs))
    with new_context():
        module = decomposed(equation, xs, want)
        assert "tri.einsum" not in str(module)
        np.testing.assert_allclose(run(module, xs)[0], want, atol=2e-6)


@pytest.mark.parametrize("equation", ["ii->i", "...i->i"])
def test_keeps_what_is_no_matrix_product(equation: str) -> None:
    x = RANDOM.standard_normal((3, 3) if "." not in equation else (3,)).astype(np.float32)
    with new_context():
        assert "tri.einsum" in str(decomposed(equation, [x], np.einsum(equation, x)))
