"""What follows a softmax or a norm may read numbers that are repeated: few of them are copied."""

import numpy as np
import pytest
from cpu_kernels import compile_groups, lower, on_every_machine
from groups import Case, build_group
from groups import release as forget_groups
from trivium.dialects import tri
from trivium.dialects.core.machine import Machine, host_machine
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.tensor import Tensor

RANDOM = np.random.default_rng(38)
X = RANDOM.standard_normal((2, 3, 5, 21), np.float32)

# Shapes of a second operand, and how many of its numbers are copied.
OPERANDS = [
    ((3, 1, 1), 2 * 3 * 5),
    ((2, 1, 1, 1), 2 * 3 * 5),
    ((1, 3, 1, 21), 2 * 3 * 5 * 21),
    ((3, 5, 1), 2 * 3 * 5),
    ((5, 21), 2 * 3 * 5 * 21),
    ((21,), 0),
    ((), 0),
]


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x.astype(np.float64))
    return powers / powers.sum(-1, keepdims=True)


def group(shape: tuple[int, ...]) -> tri.Group:
    case = Case("", tri.Softmax, (X,), {"axis": -1})
    return build_group(
        case, [RANDOM.standard_normal(shape, np.float32)], lambda v: [tri.Mul.build(*v)]
    )


@on_every_machine
def test_results_are_those_of_numpy(machine: Machine) -> None:
    compiled = compile_groups([lambda s=shape: group(s) for shape, _ in OPERANDS], machine)
    for index, (shape, _) in enumerate(OPERANDS):
        factor = np.asarray(RANDOM.standard_normal(shape, np.float32))
        (got,) = compiled.run(index, [X, factor], [Tensor.of(X)])
        np.testing.assert_allclose(got, softmax(X) * factor, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("shape", "copied"), OPERANDS)
def test_only_what_differs_is_copied(shape: tuple[int, ...], copied: int) -> None:
    with new_context(), ir.Location.unknown():
        kernel = lower(group(shape), host_machine())
        forget_groups()
    shared = [each.tensor.size for each in kernel.scratch if not each.private]
    assert sum(shared) == copied
