"""Kernels of matrix products: blocks, vectors, parts of the depth, batches, types and orders."""

from collections.abc import Sequence

import ml_dtypes
import numpy as np
import pytest
from closeness import assert_close
from gpu_kernels import run_group
from groups import Case
from ordered import Order, build_ordered, check, drawn
from trivium.dialects import tri

TYPES = ("float32", "float16", ml_dtypes.bfloat16, "float64", "int8", "uint8", "int16", "int32")


def product(left: Sequence[int], right: Sequence[int], dtype: object = "float32") -> Case:
    return Case("product", tri.MatMul, (drawn(left, dtype), drawn(right, dtype)))


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("rows", [1, 3, 18, 33])
def test_all_types_are_multiplied(rows: int, dtype: object) -> None:
    check(product((rows, 41), (41, 19), dtype))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((2, 3, 5, 7), (3, 7, 9)),
        ((2, 1, 5, 7), (1, 3, 7, 9)),
        ((2, 3, 20, 7), (7, 9)),
        ((20, 7), (2, 7, 9)),
        ((1, 20, 30), (4, 30, 20)),
        ((3, 20, 30), (3, 30, 20)),
        ((7,), (7,)),
        ((7,), (2, 7, 9)),
        ((7,), (7, 9)),
        ((2, 9, 7), (7,)),
        ((9, 7), (7,)),
        ((20, 1), (1, 20)),
        ((1, 1), (1, 1)),
        ((40, 7), (7, 1)),
        ((17, 65), (65, 33)),
        ((3, 0), (0, 4)),
        ((20, 0), (0, 40)),
        ((0, 3), (3, 4)),
        ((3, 4), (4, 0)),
    ],
)
def test_batches_broadcast_and_vectors_count_as_matrices(
    left: Sequence[int], right: Sequence[int]
) -> None:
    check(product(left, right))


@pytest.mark.parametrize("rows", [1, 2, 17])
@pytest.mark.parametrize("depth", [1040, 3001])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_large_depth_is_split_and_added_up_in_order(order: Order, depth: int, rows: int) -> None:
    check(product((rows, depth), (depth, 9)), [(0, 1), order])


@pytest.mark.parametrize("left", [(0, 1, 2), (0, 2, 1), (2, 1, 0), (1, 0, 2)])
@pytest.mark.parametrize("right", [(0, 1, 2), (0, 2, 1), (1, 2, 0)])
@pytest.mark.parametrize("result", [(0, 1, 2), (0, 2, 1), (1, 2, 0)])
def test_operands_and_results_lie_in_any_order(left: Order, right: Order, result: Order) -> None:
    check(product((3, 17, 20), (3, 20, 18), "float16"), [left, right], result)
    check(product((3, 17, 20), (20, 18), "float16"), [left, (1, 0)], result)
    check(product((17, 20), (3, 20, 18), "float16"), [(1, 0), right], result)
    check(product((3, 2, 20), (3, 20, 18)), [left, right], result)


@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("bias", [(), (18,), (20, 1), (20, 18), None])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_gemm_scales_and_adds(
    dtype: str, bias: Sequence[int] | None, trans_a: bool, trans_b: bool
) -> None:
    a = drawn((33, 20) if trans_a else (20, 33), dtype)
    b = drawn((18, 33) if trans_b else (33, 18), dtype)
    c = None if bias is None else drawn(bias, dtype) if bias else np.asarray(3, dtype)
    if dtype == "int32":  # scales go through f64: what is beyond i32 then is open
        a, b, c = (x if x is None else x % 100 - 50 for x in (a, b, c))
    attributes = {"alpha": -2.0, "beta": 3.0, "trans_a": trans_a, "trans_b": trans_b}
    check(Case("gemm", tri.Gemm, (a, b, c), attributes))


@pytest.mark.parametrize("shape", [(33,), (1, 33), (20, 33), (2, 9, 33), (1, 3000)])
@pytest.mark.parametrize("with_bias", [False, True])
def test_a_layer_reads_weights_along_the_depth(shape: Sequence[int], with_bias: bool) -> None:
    bias = drawn((18,)) if with_bias else None
    check(Case("linear", tri.Linear, (drawn(shape), drawn((18, shape[-1])), bias)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_lies_beyond_the_depth_does_not_matter() -> None:
    """The rows of one matrix end where those of another begin: infinities are not multiplied."""
    a = drawn((2, 20, 33))
    a[1] = np.inf
    b = drawn((2, 33, 20))
    case = Case("infinite", tri.MatMul, (a, b))
    (got,) = run_group(lambda: build_ordered(case, []), case.inputs)
    assert_close(case, got[0], case.reference()[0][0], [a[0], b])


def indexed(rows: int, depth: int, columns: int, dtype: object, index: object = "int64") -> Case:
    a, w = drawn((rows, depth), dtype), drawn((3, depth, columns), dtype)
    chosen = np.arange(rows).astype(index) * 7 % 5 - 1
    return Case("indexed", tri.IndexedMatMul, (a, w, chosen))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
@pytest.mark.parametrize(("rows", "depth", "columns"), [(1, 41, 19), (9, 16, 70), (6, 1040, 9)])
def test_rows_are_multiplied_by_the_matrices_of_their_indices(
    rows: int, depth: int, columns: int, dtype: object
) -> None:
    check(indexed(rows, depth, columns, dtype))


def test_chosen_matrices_lie_in_any_order() -> None:
    check(indexed(5, 40, 18, "float32", "int32"), [(1, 0), (0, 2, 1), (0,)], (1, 0))
    check(indexed(5, 40, 18, "float32"), [(0, 1), (2, 1, 0), (0,)])
