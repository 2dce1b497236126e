"""Kernels that list what is not zero: none, some and all, in one part and in many."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from compiling import assemblies
from gpu_kernels import run_group
from groups import Case
from ordered import Order, build_ordered
from printed import run_printed
from sources import AMPERE, HOPPER, needs_triton
from trivium.dialects import tri
from trivium.dialects.core.tensor import Array
from trivium.targets.gpu.emit.compile_kernels import kernel_passes
from trivium.targets.gpu.schedule.architecture import Architecture

RANDOM = np.random.default_rng(3)
TYPES = ("bool", "uint8", "int16", "int64", "float16", ml_dtypes.bfloat16, "float32", "float64")
SHAPES = [(), (1,), (1, 1), (1023,), (1024,), (1025,), (3, 70, 11), (40, 5, 2, 17), (0, 3), (2, 0)]


def sparse(shape: tuple[int, ...], share: float, dtype: Any = "float32") -> Array:
    """Draw a tensor of which about a share is not zero."""
    return (RANDOM.random(shape) < share).astype(dtype)


def agree(x: Array, order: Order = (), printed: bool = False) -> None:
    case = Case("found", tri.PaddedNonZero, (x,))
    execute = {"execute": run_printed} if printed else {}
    y, count = run_group(
        lambda: build_ordered(case, [order]), [x], kernel_passes(HOPPER), **execute
    )
    want = np.array(np.nonzero(np.atleast_1d(x)))[: x.ndim]
    found = np.count_nonzero(x)
    assert count == found
    assert y.shape == (x.ndim, x.size)
    np.testing.assert_array_equal(y[:, :found], want)
    assert not y[:, found:].any()


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 1])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(shape: tuple[int, ...], share: float) -> None:
    agree(sparse(shape, share))


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_types(dtype: Any) -> None:
    agree(sparse((30, 50), 0.3, dtype))


def test_nan_and_infinity_are_not_zero_but_negative_zero_is() -> None:
    agree(np.float32([0, np.nan, -0.0, np.inf, 1e-45, -np.inf]))


@pytest.mark.parametrize("order", [(0, 2, 1), (2, 1, 0), (1, 2, 0)], ids=str)
def test_indices_are_row_major_whatever_lies_in_memory(order: Order) -> None:
    agree(sparse((20, 30, 7), 0.4), order)


def test_more_parts_than_a_part_has_elements() -> None:
    agree(sparse((1_200_000,), 0.001, "bool"))


@needs_triton
def test_printed_kernels_list_what_is_found() -> None:
    agree(sparse((3, 50, 21), 0.3), printed=True)
    agree(sparse((2000,), 0.3, "bool"), printed=True)


@needs_triton
@pytest.mark.parametrize("architecture", [AMPERE, HOPPER], ids=lambda a: a.name)
def test_kernels_compile(architecture: Architecture) -> None:
    case = Case("found", tri.PaddedNonZero, (sparse((3, 500, 21), 0.3, "bool"),))
    assert assemblies(case, architecture)
