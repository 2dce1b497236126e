"""Kernels that move elements: in all orders of dims, ragged sizes and types, with ops behind."""

from typing import Any

import numpy as np
import pytest
from gpu_kernels import run_group
from groups import Case, build_group, op_of
from ordered import Order, build_ordered, check, drawn
from printed import run_printed
from sources import HOPPER, needs_triton
from trivium.dialects import tri
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.op import Op
from trivium.targets.gpu import TARGET
from trivium.targets.gpu.emit.compile_kernels import kernel_passes

PLAIN: Order = (0, 1, 2, 3)
CHANNELS_LAST: Order = (0, 2, 3, 1)
MIXED: Order = (2, 0, 3, 1)
ORDERS = [
    *((PLAIN, PLAIN), (PLAIN, CHANNELS_LAST), (CHANNELS_LAST, PLAIN)),
    *((CHANNELS_LAST, CHANNELS_LAST), (MIXED, PLAIN), (CHANNELS_LAST, MIXED)),
]

X = drawn((2, 12, 9, 7))
PLACES = np.array([[3, -1, 0], [8, 2, -9]], np.int64)
LINE = np.arange(2 * 5 * 9 * 7).reshape(2, 5, 9, 7) % 12 - 6
POINTS = np.random.default_rng(1).uniform(-1.3, 1.3, (2, 5, 11, 2)).astype(np.float32)
TUPLES = np.array([[0, 3], [1, -1], [0, 3], [-1, 0]], np.int32)

MOVES: list[Case] = [
    Case("rows", tri.Transpose, (X,), {"permutation": (0, 2, 3, 1)}),
    Case("heads", tri.Transpose, (X,), {"permutation": (0, 2, 1, 3)}),
    Case("reversed", tri.Transpose, (X,), {"permutation": (3, 2, 1, 0)}),
    Case("merged", tri.Reshape, (X,), {"shape": (2, 6, 2, 63)}),
    Case("across", tri.Reshape, (X,), {"shape": (9, 14, 4, 3)}),
    Case(
        "channels",
        tri.Slice,
        (X,),
        {"starts": (0, 3, 0, 0), "sizes": (2, 5, 9, 7), "steps": (1, 1, 1, 1)},
    ),
    Case(
        "steps",
        tri.Slice,
        (X,),
        {"starts": (1, 11, 1, 0), "sizes": (1, 6, 4, 7), "steps": (1, -2, 2, 1)},
    ),
    Case("first", tri.Concat, ([X[:1], X, X[1:]],), {"axis": 0}),
    Case("ragged", tri.Concat, ([X[:, :5], X[:, :0], X[:, 2:3], X],), {"axis": 1}),
    Case("last", tri.Concat, ([X, X[..., :1]],), {"axis": -1}),
    Case("rows", tri.Expand, (X[:, :, :1],), {"shape": X.shape}),
    Case("one", tri.Expand, (X[:1, :1, :1, :1],), {"shape": X.shape}),
    Case("twice", tri.Tile, (X,), {"repeats": (1, 2, 1, 3)}),
    Case("upper", tri.Trilu, (X,), {"k": -2, "upper": True}),
    Case("depth", tri.DepthToSpace, (X,), {"blocksize": 2, "mode": "DCR"}),
    Case("columns", tri.DepthToSpace, (X,), {"blocksize": 2, "mode": "CRD"}),
    Case("space", tri.SpaceToDepth, (X[:, :, :, :6],), {"blocksize": 3}),
    Case("two", tri.Roll, (X,), {"shifts": (-3, 11), "axes": (1, 3)}),
    Case(
        "time",
        tri.ReverseSequence,
        (X, np.array([3, 12], np.int64)),
        {"batch_axis": 0, "time_axis": 1},
    ),
    Case("elements", tri.GatherElements, (X, LINE), {"axis": 1}),
    Case("elements", tri.ScatterElements, (X, LINE, drawn(LINE.shape)), {"axis": 1}),
    Case("nearest", tri.GridSample, (X, POINTS), {"mode": "nearest"}),
    Case("linear", tri.GridSample, (X, POINTS), {"padding_mode": "border"}),
    Case("cubic", tri.GridSample, (X, POINTS), {"mode": "cubic", "padding_mode": "reflection"}),
]
PADS = (0, 2, -1, 3, 1, 0, 4, -2)
MOVES += [
    Case(mode, tri.Pad, (X,), {"pads": PADS, "mode": mode, "value": value})
    for mode, value in [("constant", 2.5), ("reflect", 0.0), ("edge", 0.0), ("wrap", 0.0)]
]
MOVES += [
    Case(
        f"{mode}-{name}",
        tri.Resize,
        (X,),
        {"sizes": (2, 12, rows, columns), "scales": (1.0, 1.0, rows / 9, columns / 7)}
        | {"mode": mode, "antialias": mode == "linear" and name == "smaller"},
    )
    for mode in ("nearest", "linear", "cubic")
    for name, rows, columns in (("twice", 18, 14), ("smaller", 4, 3), ("odd", 11, 7))
]


@pytest.mark.parametrize(("x", "y"), ORDERS)
@pytest.mark.parametrize("case", MOVES, ids=str)
def test_elements_are_moved_from_any_order_to_any_order(case: Case, x: Order, y: Order) -> None:
    check(case, [x if each.ndim == len(x) else () for each in case.inputs], y)


@pytest.mark.parametrize("result", [(0, 1, 2, 3, 4), (0, 3, 1, 4, 2)])
@pytest.mark.parametrize("axis", [1, 2])
def test_slices_are_gathered_from_any_order(axis: int, result: Order) -> None:
    case = Case("", tri.Gather, (X, PLACES), {"axis": axis})
    check(case, [CHANNELS_LAST, (1, 0)], result)


@pytest.mark.parametrize("result", [(0, 1, 2), (2, 0, 1)])
def test_slices_are_gathered_and_scattered_by_tuples(result: Order) -> None:
    check(Case("", tri.GatherNd, (X, TUPLES)), [MIXED, (1, 0)], result)
    x, new = X[:, :, 0], drawn((4, 7))
    for reduction in ("none", "add", "mul", "max", "min"):
        case = Case("", tri.ScatterNd, (x, TUPLES, new), {"reduction": reduction})
        check(case, [(1, 2, 0), (1, 0), (1, 0)], result)


def test_places_beyond_an_axis_are_at_its_end() -> None:
    far = np.array([12, 1 << 40, -13, -(1 << 40)], np.int64)
    (got,) = run_group(lambda: build_group(Case("", tri.Gather, (X, far), {"axis": 1})), [X, far])
    np.testing.assert_array_equal(got, X[:, [11, 11, 0, 0]])


@pytest.mark.parametrize("sizes", [(5, 1, 6), (12,), (0, 12)])
@pytest.mark.parametrize(("x", "y"), ORDERS)
def test_all_parts_of_a_split_are_written(sizes: tuple[int, ...], x: Order, y: Order) -> None:
    case = Case("", tri.Split, (X,), {"axis": 1, "sizes": sizes})
    made = run_group(lambda: build_ordered(case, [x], y), [X])
    for got, want in zip(made, case.reference(), strict=True):
        np.testing.assert_array_equal(got, want)


DTYPES = ["float64", "float16", "bfloat16", "int8", "uint8", "int64", "bool"]
TYPED: list[tuple[type[Op], dict[str, Any]]] = [
    (tri.Transpose, {"permutation": (0, 2, 3, 1)}),
    (tri.Slice, {"starts": (0, 3, 0, 0), "sizes": (2, 5, 9, 7), "steps": (1, 1, 1, 1)}),
    (tri.Pad, {"pads": (0, 0, 1, 2, 0, 0, 2, 0), "value": 1.0}),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("op", "attributes"), TYPED, ids=lambda part: getattr(part, "op_name", ""))
def test_numbers_of_any_type_are_moved(
    op: type[Op], attributes: dict[str, Any], dtype: str
) -> None:
    import ml_dtypes

    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    x = np.random.default_rng(2).integers(0, 2 if dtype == "bool" else 99, X.shape).astype(kind)
    case = Case("", op, (x,), attributes)
    (got,) = run_group(lambda: build_group(case), [x])
    np.testing.assert_array_equal(got, case.reference()[0])


def refusal(case: Case) -> str | None:
    with new_context(), ir.Location.unknown():
        return TARGET.refusal(op_of(build_group(case)))


def test_many_updates_are_left_to_others() -> None:
    x, many = np.zeros(2000, np.float32), np.zeros(1025, np.int64)
    few = Case("", tri.ScatterElements, (x, many[:1024], x[:1024]), {"axis": 0})
    assert refusal(few) is None
    case = Case("", tri.ScatterElements, (x, many, x[:1025]), {"axis": -1})
    assert refusal(case) == "gpu scatters at most 1024 updates along the axis"
    case = Case("", tri.ScatterNd, (x, many[:, None], x[:1025]))
    assert refusal(case) == "gpu scatters at most 1024 slices"


RECTANGLES = [
    Case("square", tri.Transpose, (drawn((70, 90)),), {"permutation": (1, 0)}),
    Case(
        "pixels", tri.Transpose, (drawn((2, 40, 33, 3), "float16"),), {"permutation": (0, 3, 1, 2)}
    ),
    Case("channels", tri.Transpose, (drawn((2, 3, 40, 33)),), {"permutation": (0, 2, 3, 1)}),
    Case("bytes", tri.Transpose, (drawn((5, 33, 6, 40), "int8"),), {"permutation": (0, 2, 3, 1)}),
]


@pytest.mark.parametrize("case", RECTANGLES, ids=str)
def test_rectangles_cover_tensors(case: Case) -> None:
    check(case)


PRINTED = [*RECTANGLES, *(case for case in MOVES if case.cls is not tri.GridSample)]


@needs_triton
@pytest.mark.parametrize("case", PRINTED, ids=str)
def test_printed_kernels_move_elements(case: Case) -> None:
    (got,) = run_group(lambda: build_group(case), case.inputs, kernel_passes(HOPPER), run_printed)
    np.testing.assert_allclose(got, case.reference()[0], rtol=4e-6, atol=4e-6)
