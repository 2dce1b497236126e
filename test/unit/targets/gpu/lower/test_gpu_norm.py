"""Kernels of softmax and normalisations: rows in registers, long rows, few long rows, orders."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from closeness import assert_close
from compiling import assemblies
from gpu_kernels import run_group
from groups import Case
from ordered import Order, build_ordered, check, drawn
from printed import run_printed
from sources import AMPERE, HOPPER, needs_triton
from trivium.dialects import tri
from trivium.dialects.core.tensor import Array
from trivium.targets.gpu.emit.compile_kernels import kernel_passes
from trivium.targets.gpu.schedule import row_plan
from trivium.targets.gpu.schedule.architecture import Architecture
from trivium.targets.gpu.schedule.row_plan import normalization_plan

FLOATS = ("float32", "float16", ml_dtypes.bfloat16, "float64")
CHANNELS_LAST = (0, 2, 3, 1)

WIDE, MANY, FEW = (5, 4096), (600, 1030), (2, 20000)
"""Rows that fit in registers; columns that do not where they lie side by side; rows in parts."""

DISTRIBUTIONS = (tri.Softmax, tri.LogSoftmax, tri.Hardmax)


def row_case(cls: Any, x: Array, axis: int = -1) -> Case:
    """Make a case of an op on rows, with all the parameters that it can have."""
    if cls in (tri.LayerNorm, tri.RmsNorm):
        count = 2 if cls is tri.LayerNorm else 1
        inner = x.shape[axis % x.ndim :]
        return Case("rows", cls, (x, *(drawn(inner, x.dtype) + 1 for _ in range(count))), {})
    attributes = {"p": 2, "epsilon": 1e-3} if cls is tri.LpNormalize else {}
    return Case("rows", cls, (x,), {"axis": axis, **attributes})


ROWS = (*DISTRIBUTIONS, tri.LayerNorm, tri.RmsNorm, tri.LpNormalize)


def run(case: Case, order: Order = (), printed: bool = False) -> Array:
    execute = {"execute": run_printed} if printed else {}
    build = lambda: build_ordered(case, [order], order)  # noqa: E731
    (made,) = run_group(build, case.inputs, kernel_passes(HOPPER), **execute)
    return made


def agree(case: Case, order: Order = (), printed: bool = False) -> None:
    assert_close(case, run(case, order, printed), case.reference()[0], case.inputs)


def test_the_long_shapes_take_all_roads() -> None:
    plans = [
        normalization_plan(*WIDE, along=True),
        normalization_plan(*MANY, along=False),
        normalization_plan(16 * MANY[0], MANY[1], along=False),
        normalization_plan(*FEW, along=True),
    ]
    assert [(plan.parts > 1, plan.whole) for plan in plans] == [
        (False, True),
        (True, True),
        (False, False),
        (True, True),
    ]


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [(shape, "float32") for shape in [(6, 10), (3, 1), (1, 33), WIDE, FEW]]
    + [(shape, dtype) for shape in [(6, 10), FEW] for dtype in FLOATS[1:]],
    ids=str,
)
@pytest.mark.parametrize("cls", ROWS, ids=lambda cls: cls.__name__)
def test_rows_of_all_lengths_and_types(cls: Any, shape: tuple[int, int], dtype: Any) -> None:
    agree(row_case(cls, drawn(shape, dtype) * np.asarray(9, dtype)))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)], ids=str)
@pytest.mark.parametrize("cls", ROWS, ids=lambda cls: cls.__name__)
def test_any_axis_in_any_order_in_memory(cls: Any, order: Order) -> None:
    x = drawn((5, 7, 33))
    for axis in (0, 1, 2):
        case = row_case(cls, x, axis) if cls in (*DISTRIBUTIONS, tri.LpNormalize) else None
        agree(case or row_case(cls, x), order)
    check(row_case(cls, x), [order], order, kernel_passes(HOPPER))


@pytest.mark.parametrize("cls", [tri.Softmax, tri.LogSoftmax, tri.LpNormalize])
@pytest.mark.parametrize("shape", [(16, 1030), (16, 4100)], ids=str)
def test_long_rows_side_by_side_are_walked_or_split(cls: Any, shape: tuple[int, int]) -> None:
    agree(row_case(cls, drawn(shape)), (1, 0))


@pytest.mark.parametrize("cls", ROWS, ids=lambda cls: cls.__name__)
def test_many_long_rows_are_read_twice_by_one_program(
    cls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are many where a GPU has few multiprocessors."""
    monkeypatch.setattr(row_plan, "MULTIPROCESSORS", 1)
    monkeypatch.setattr(row_plan, "MANY_ROWS", 1)
    x = drawn((3, 17000))
    plan = normalization_plan(*x.shape, along=True)
    assert plan.parts == 1
    assert not plan.whole
    agree(row_case(cls, x))
    agree(row_case(cls, x[:, :3000]), (1, 0))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("printed", [False, pytest.param(True, marks=needs_triton)])
@pytest.mark.parametrize("length", [5, 20000])
@pytest.mark.parametrize("cls", DISTRIBUTIONS, ids=lambda cls: cls.__name__)
def test_nan_and_infinities_are_what_the_reference_makes_of_them(
    cls: Any, length: int, printed: bool
) -> None:
    x = drawn((6, length))
    x[0, length // 2] = np.nan
    x[1] = -np.inf
    x[2, length - 1] = np.inf
    x[3, 0] = -np.inf
    x[4] = np.nan
    agree(row_case(cls, x), printed=printed)


def test_a_large_mean_does_not_hide_the_variance() -> None:
    x = drawn((2, 20000)) * np.float32(100) + np.float32(1000)
    case = Case("far", tri.LayerNorm, (x, None, None), {})
    wide = x.astype(np.float64)
    want = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(run(case), want, atol=2e-3)


def test_zeros_are_not_divided_by() -> None:
    x = drawn((3, 70))
    x[1] = 0
    for p in (1, 2):
        agree(Case("zeros", tri.LpNormalize, (x,), {"p": p}))


def test_layer_norm_over_several_axes_broadcasts_its_parameters() -> None:
    x = drawn((2, 3, 4, 5))
    for scale, bias in (((4, 5), (5,)), ((3, 1, 5), (1,)), ((2, 1, 1, 1), (4, 1))):
        case = Case("axes", tri.LayerNorm, (x, drawn(scale), drawn(bias)), {"axis": 1})
        check(case, [(0, 2, 3, 1)], (3, 0, 1, 2), kernel_passes(HOPPER))


GROUPS = [((2, 12, 6, 7), 4), ((2, 12, 6, 7), 12), ((1, 4, 50, 210), 2), ((2, 6, 90, 99), 6)]


@pytest.mark.parametrize("order", [(), CHANNELS_LAST, (1, 0, 2, 3)], ids=str)
@pytest.mark.parametrize(("shape", "groups"), GROUPS, ids=str)
def test_groups_of_channels_are_normalised(
    shape: tuple[int, ...], groups: int, order: Order
) -> None:
    parameters = [drawn((shape[1],)) for _ in range(2)]
    x = drawn(shape) * np.float32(9) + np.float32(1)
    case = Case("groups", tri.GroupNorm, (x, *parameters), {"groups": groups})
    check(case, [order], order, kernel_passes(HOPPER))
    if groups == shape[1]:
        check(
            Case("each", tri.InstanceNorm, (x, *parameters)), [order], order, kernel_passes(HOPPER)
        )


@needs_triton
@pytest.mark.parametrize(
    ("cls", "shape", "order"),
    [
        (tri.Softmax, (3, 20000), ()),
        (tri.LayerNorm, (3, 20000), ()),
        (tri.Softmax, (40, 70), (1, 0)),
        (tri.RmsNorm, (9, 300), ()),
        (tri.Hardmax, (9, 300), ()),
    ],
)
def test_printed_kernels_normalise(cls: Any, shape: tuple[int, int], order: Order) -> None:
    agree(row_case(cls, drawn(shape)), order, printed=True)


@needs_triton
@pytest.mark.parametrize("order", [(), CHANNELS_LAST], ids=str)
def test_printed_kernels_normalise_groups(order: Order) -> None:
    x, parameters = drawn((1, 4, 50, 210), "float16"), [drawn((4,), "float16") for _ in range(2)]
    agree(Case("groups", tri.GroupNorm, (x, *parameters), {"groups": 2}), order, printed=True)


@needs_triton
@pytest.mark.parametrize("architecture", [AMPERE, HOPPER], ids=lambda a: a.name)
def test_kernels_read_wide_and_spill_nothing(architecture: Architecture) -> None:
    x, parameters = np.zeros((300, 4096), "float16"), [np.zeros(4096, "float16")] * 2
    cases = [
        Case("layer", tri.LayerNorm, (x, *parameters)),
        Case("softmax", tri.Softmax, (x,)),
        Case("split", tri.Softmax, (x.reshape(2, -1),)),
    ]
    for case in cases:
        for text in assemblies(case, architecture):
            assert "ld.global.v" in text
