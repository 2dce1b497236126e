"""Kernels of products with matrices of few bits, which are taken out of bytes in registers."""

from collections.abc import Sequence

import ml_dtypes
import numpy as np
import pytest
from groups import Case
from ordered import check, drawn
from trivium.dialects import tri

KINDS = (
    *((4, 32, "float32", ""), (4, 16, "float32", "uint8"), (4, 64, "float16", "float16")),
    *((2, 32, "float32", "uint8"), (8, 16, "float32", "uint8"), (8, 32, "bfloat16", "")),
)


def product(rows: Sequence[int], depth: int, columns: int, kind: tuple[int, int, str, str]) -> Case:
    bits, block, name, zeros = kind
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    shape = (columns, -(-depth // block))
    given = None
    if zeros:
        given = drawn(shape, "uint8") & np.uint8((1 << bits) - 1)
        given = given.astype(zeros)
    operands = (
        drawn((*rows, depth), dtype),
        drawn((*shape, block * bits // 8), "uint8"),
        (np.abs(drawn(shape)) / (1 << bits)).astype(dtype),
        given,
    )
    return Case("blocks", tri.BlockQuantizedMatMul, operands, {"bits": bits, "block": block})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [(1,), (2, 9)])
def test_all_kinds_are_multiplied(rows: Sequence[int], kind: tuple[int, int, str, str]) -> None:
    check(product(rows, 77, 19, kind))


@pytest.mark.parametrize(
    ("rows", "depth", "columns"),
    [((3,), 1040, 9), ((20,), 1040, 40), ((5, 4, 3), 33, 1), ((40,), 16, 70), ((4,), 5, 3)],
)
def test_depths_are_split_and_rows_of_a_batch_are_joined(
    rows: Sequence[int], depth: int, columns: int
) -> None:
    check(product(rows, depth, columns, KINDS[0]))


def test_rows_lie_in_any_order() -> None:
    check(product((3, 17), 40, 18, KINDS[1]), [(1, 0, 2)], (1, 0, 2))
    check(product((3, 17), 40, 18, KINDS[1]), [(2, 0, 1)], (0, 2, 1))
