"""Kernels of determinants: of all sizes, signs and types, and of singular matrices."""

import numpy as np
import pytest
from compiling import assemblies
from gpu_kernels import run_group
from groups import Case
from ordered import Order, build_ordered
from printed import run_printed
from sources import AMPERE, HOPPER, needs_triton
from trivium.dialects import tri
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.tensor import Array
from trivium.targets.gpu import TARGET
from trivium.targets.gpu.emit.compile_kernels import kernel_passes
from trivium.targets.gpu.schedule.architecture import Architecture

RANDOM = np.random.default_rng(4)
TOLERANCES = {"float16": 2e-3, "float32": 2e-4, "float64": 1e-10}


def square(size: int, *batch: int, dtype: str = "float32") -> Array:
    """Draw matrices whose determinants are neither large nor small."""
    return (RANDOM.standard_normal((*batch, size, size)) / max(size / 2.7, 1) ** 0.5).astype(dtype)


def agree(x: Array, order: Order = (), printed: bool = False) -> None:
    case = Case("det", tri.Det, (x,))
    execute = {"execute": run_printed} if printed else {}
    (got,) = run_group(lambda: build_ordered(case, [order]), [x], kernel_passes(HOPPER), **execute)
    want = np.linalg.det(x.astype(np.float64))
    assert got.dtype == x.dtype
    tolerance = TOLERANCES[x.dtype.name]
    largest = np.nan_to_num(np.abs(want)).max(initial=0)
    np.testing.assert_allclose(got, want, tolerance, tolerance * largest)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 16, 33, 64])
def test_sizes_and_types(size: int, dtype: str) -> None:
    agree(square(size, 6, dtype=dtype))


@pytest.mark.parametrize("batch", [(), (1,), (0,), (2, 3)], ids=str)
def test_batches(batch: tuple[int, ...]) -> None:
    agree(square(4, *batch))
    agree(square(0, *batch))


@pytest.mark.parametrize("order", [(0, 2, 1), (1, 2, 0), (2, 1, 0)], ids=str)
def test_matrices_lie_in_any_order(order: Order) -> None:
    agree(square(5, 7), order)


def test_permutations_have_a_sign() -> None:
    agree(np.stack([np.eye(9, dtype=np.float32)[RANDOM.permutation(9)] for _ in range(20)]))


def test_singular_matrices_have_none() -> None:
    x = np.zeros((4, 5, 5), np.float32)
    x[1] = np.eye(5)
    x[1, 2, 2] = 0
    x[2] = np.arange(5)
    x[3, :, 1:] = square(5)[:, 1:]
    agree(x)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan_stays() -> None:
    x = square(4, 3)
    x[1, 2, 3] = np.nan
    x[2, 0, 0] = np.nan
    agree(x)


@needs_triton
def test_printed_kernels_eliminate() -> None:
    agree(square(5, 3), printed=True)
    agree(square(1, 2, dtype="float64"), printed=True)


@needs_triton
@pytest.mark.parametrize("architecture", [AMPERE, HOPPER], ids=lambda a: a.name)
def test_kernels_compile(architecture: Architecture) -> None:
    assert assemblies(Case("det", tri.Det, (square(64, 100),)), architecture)
    assert assemblies(Case("det", tri.Det, (square(33, 5, dtype="float64"),)), architecture)


@pytest.mark.parametrize("size", [64, 65])
def test_what_is_refused(size: int) -> None:
    with new_context(), ir.Location.unknown():
        (op,) = build_ordered(Case("det", tri.Det, (square(size),)), []).members
        refusal = "gpu takes matrices of at most 64 rows" if size > 64 else None
        assert TARGET.refusal(op) == refusal
