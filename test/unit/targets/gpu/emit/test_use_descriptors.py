"""Kernels that move blocks through descriptors compute what they did: inside, and at the ends."""

from collections.abc import Sequence

import numpy as np
import pytest
from groups import Case
from ordered import Order, build_ordered, check, drawn
from trivium.dialects import tile, tri
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.targets.gpu.emit.drop_bounds import DropBounds
from trivium.targets.gpu.emit.simplify_indices import SimplifyIndices
from trivium.targets.gpu.emit.use_descriptors import UseDescriptors
from trivium.targets.gpu.lower.group import lower_group

PASSES = (SimplifyIndices(), UseDescriptors(), DropBounds())
NHWC, HWCO = (0, 2, 3, 1), (2, 3, 1, 0)


def moves(case: Case, orders: Sequence[Order] = (), result: Order = ()) -> tuple[int, int]:
    """Count the blocks that the kernels of a case load and store."""
    with new_context(), ir.Location.unknown():
        group = build_ordered(case, orders, result)
        module = ir.Module.create()
        lower_group(group, module)
        for each in PASSES:
            each.run(Module(module))
        found = ops(module.operation)
        kinds = (tile.LoadBlock, tile.StoreBlock)
        loads, stores = (sum(isinstance(op, kind) for op in found) for kind in kinds)
        return loads, stores


def product(left: Sequence[int], right: Sequence[int], dtype: str = "float16") -> Case:
    return Case("product", tri.MatMul, (drawn(left, dtype), drawn(right, dtype)))


@pytest.mark.parametrize(
    ("left", "right", "orders", "result", "expected"),
    [
        ((64, 64), (64, 32), [], (), (2, 1)),
        ((64, 64), (64, 32), [(1, 0), (1, 0)], (1, 0), (2, 1)),
        ((40, 72), (72, 24), [], (), (2, 1)),  # all ends are ragged
        ((40, 72), (72, 24), [(1, 0), (1, 0)], (1, 0), (2, 1)),
        ((40, 60), (60, 24), [], (), (1, 1)),  # rows of 120 bytes do not all begin at 16
        ((40, 72), (72, 20), [], (), (1, 0)),
        ((3, 32, 64), (3, 64, 32), [], (), (2, 1)),  # matrices of a batch below one another
        ((3, 40, 64), (3, 64, 32), [], (), (1, 0)),  # a block reaches into the next matrix
        ((3, 32, 72), (3, 72, 32), [], (), (1, 1)),
        ((2, 20, 64), (64, 32), [], (), (2, 1)),
        ((2, 64), (64, 32), [], (), (0, 0)),  # vectors are not multiplied by matrix units
    ],
)
def test_blocks_are_moved_where_descriptors_describe_them(
    left: Sequence[int],
    right: Sequence[int],
    orders: Sequence[Order],
    result: Order,
    expected: tuple[int, int],
) -> None:
    case = product(left, right)
    assert moves(case, orders, result) == expected
    check(case, orders, result, PASSES)


@pytest.mark.parametrize(("dtype", "expected"), [("float32", 0), ("float64", 0), ("int8", 2)])
def test_only_factors_of_matrix_units_are_moved(dtype: str, expected: int) -> None:
    case = product((64, 64), (64, 64), dtype)
    assert moves(case)[0] == expected
    check(case, passes=PASSES)


def test_one_tensor_may_be_both_factors() -> None:
    x = drawn((2, 32, 64), "float16")
    case = Case("both", tri.MatMul, (x, x.transpose(0, 2, 1).copy()))
    check(case, [(), (0, 2, 1)], passes=PASSES)


@pytest.mark.parametrize("channels", [32, 40])
def test_windows_are_gathered_while_kernels_are_moved(channels: int) -> None:
    """Kernels of 40 channels are not cut at a tap: a block would reach into the next one."""
    x, w = drawn((2, channels, 6, 7), "float16"), drawn((32, channels, 3, 3), "float16")
    attributes = {"strides": (1, 1), "pads": (1,) * 4, "dilations": (1, 1), "group": 1}
    case = Case("conv", tri.Conv, (x, w, None), attributes)
    assert moves(case, [NHWC, HWCO], NHWC) == (int(channels == 32), 1)
    check(case, [NHWC, HWCO], NHWC, PASSES)


def test_beyond_the_depth_there_are_zeros_even_for_infinities() -> None:
    a, b = drawn((32, 72), "float16"), drawn((72, 32), "float16")
    a[:, -1], b[-1] = np.inf, 1
    check(Case("infinite", tri.MatMul, (a, b)), passes=PASSES)
