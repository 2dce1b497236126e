"""Corners of elementwise ops: numbers that no type holds, and where hardware is undefined."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from gpu_kernels import run_group
from groups import Case, build_group
from ordered import build_ordered
from sources import needs_triton
from trivium.dialects import tri
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, numpy_dtype
from trivium.targets.gpu import TARGET

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
SPECIAL = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.0, -2.0, 3.0, -3.0, np.inf, -np.inf, np.nan]


def computed(op: type[Op], *xs: Array, **attributes: Any) -> Array:
    case = Case("", op, xs, attributes)
    return run_group(lambda: build_group(case), case.inputs)[0]


def reference(op: type[Op], *xs: Array, **attributes: Any) -> Array:
    return Case("", op, xs, attributes).reference()[0]


def pairs(numbers: Sequence[float] | Array, dtype: Any) -> tuple[Array, Array]:
    a, b = np.meshgrid(np.array(numbers, dtype), np.array(numbers, dtype))
    return a, b


def ends(dtype: str) -> Array:
    """Return the integers at which a type begins and ends, and those around zero."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    chosen = {low, low + 1, high - 1, high, *(n for n in range(-3, 8) if low <= n)}
    return np.array(sorted(chosen), dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_divided_toward_zero_by_any_number(dtype: str) -> None:
    a, b = (each.astype(object) for each in pairs(ends(dtype), dtype))
    safe = np.where(b == 0, 1, b)
    quotients = np.where(b == 0, 0, (abs(a) // abs(safe)) * np.where((a < 0) != (safe < 0), -1, 1))
    a, b = a.astype(dtype), b.astype(dtype)
    bits = np.iinfo(dtype).bits
    wrapped = np.array([int(q) % 2**bits for q in quotients.flat], f"uint{bits}").view(dtype)
    np.testing.assert_array_equal(computed(tri.Div, a, b), wrapped.reshape(a.shape))


@pytest.mark.parametrize("fmod", [False, True])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_leave_remainders_of_any_number(dtype: str, fmod: bool) -> None:
    a, b = pairs(ends(dtype), dtype)
    function = np.fmod if fmod else np.mod
    np.testing.assert_array_equal(computed(tri.Mod, a, b, fmod=fmod), function(a, b))


@pytest.mark.parametrize("op", [tri.ShiftLeft, tri.ShiftRight])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts_by_all_bits_and_more_leave_none(op: type[Op], dtype: str) -> None:
    amounts = np.array([0, 1, 7, 8, 15, 16, 31, 32, 63, 64, 100], dtype)
    a, b = np.meshgrid(ends(dtype), amounts)
    np.testing.assert_array_equal(computed(op, a, b), reference(op, a, b))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint32"])
def test_integer_powers_wrap_around(dtype: str) -> None:
    a, b = pairs(ends(dtype), dtype)
    np.testing.assert_array_equal(computed(tri.Pow, a, b), reference(tri.Pow, a, b))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_of_special_numbers_are_those_of_the_library_of_c(dtype: str) -> None:
    a, b = pairs([*SPECIAL, 1e-3, 1e3, 7.25], dtype)
    want = np.power(a.astype(np.float64), b.astype(np.float64)).astype(dtype)
    got = computed(tri.Pow, a, b)
    np.testing.assert_allclose(got, want, rtol=1e-12 if dtype == "float64" else 2e-7)
    known = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))


def test_whole_powers_of_integers_by_floats_are_exact() -> None:
    a, b = np.meshgrid(np.arange(-12, 13, dtype=np.int32), np.arange(0, 7, dtype=np.float32))
    np.testing.assert_array_equal(computed(tri.Pow, a, b), a.astype(np.int64) ** b.astype(np.int64))


@pytest.mark.parametrize("fmod", [False, True])
def test_remainders_of_floats_are_exact(fmod: bool) -> None:
    sizes = [*SPECIAL, 1e-45, 3e-39, 0.1, 0.3, 1e7, 16777216.5, 3e20, 1e38, 7.7e-20]
    a, b = pairs([*sizes, *(-size for size in sizes)], np.float32)
    want = np.fmod(a, b) if fmod else np.mod(a, b)
    np.testing.assert_array_equal(computed(tri.Mod, a, b, fmod=fmod), want)


def test_remainders_of_f64_are_left_to_others() -> None:
    one = np.ones(3, np.float64)
    with new_context(), ir.Location.unknown():
        group = build_group(Case("", tri.Mod, (one, one)))
        op = next(iter(group.block.operations)).operation
        refusal = TARGET.refusal(tri.Mod(op))
    assert refusal == "gpu has no kernels of tri.mod on f64"


@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_floats_that_do_not_fit_stop_at_the_ends_of_integers(source: str, dtype: str) -> None:
    info = np.iinfo(dtype)
    edges = [float(info.min), float(info.max)]
    numbers = [*SPECIAL, -1e30, 1e30, *edges, *(2 * edge for edge in edges), 100.7, -100.7]
    x = np.array(numbers, np.float64).astype(source)
    want = [
        0 if np.isnan(n) else int(np.clip(np.trunc(n), -(2.0**70), 2.0**70))
        for n in x.astype(np.float64)
    ]
    want = [min(max(n, int(info.min)), int(info.max)) for n in want]
    got = computed(tri.Cast, x, to=str(case_type(dtype)))
    np.testing.assert_array_equal(got, np.array(want, dtype))


def case_type(dtype: str) -> str:
    return dtype.replace("uint", "ui").replace("int", "i")


def test_any_number_but_zero_is_true() -> None:
    x = np.array(SPECIAL, np.float32)
    np.testing.assert_array_equal(computed(tri.Cast, x, to="i1"), x != 0)


def test_f64_is_rounded_to_f16_at_once() -> None:
    tie = 1 + 2.0**-11  # halfway between two f16; the rest is lost on the way through f32
    x = np.array([tie, tie + 2.0**-30, tie - 2.0**-30, 65519.999999999], np.float64)
    np.testing.assert_array_equal(computed(tri.Cast, x, to="f16"), x.astype(np.float16))


@pytest.mark.parametrize("source", ["f16", "bf16", "i16"])
@pytest.mark.parametrize("target", ["f16", "bf16", "i16"])
def test_bits_of_halves_are_kept(source: str, target: str) -> None:
    bits = np.arange(0, 0x7C00, 37, np.uint16)  # none is NaN in any of them
    x = bits.view(numpy_dtype(source))
    got = computed(tri.BitCast, x, to=target)
    np.testing.assert_array_equal(got.view(np.uint16), bits)


@pytest.mark.parametrize("op", [tri.Maximum, tri.Minimum])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_extremes_are_nan_where_either_is(op: type[Op], dtype: str) -> None:
    a, b = pairs(SPECIAL, dtype)
    np.testing.assert_array_equal(computed(op, a, b), reference(op, a, b))


ACTIVATIONS: dict[type[Op], dict[str, Any]] = {
    tri.Elu: {"alpha": 1.5},
    tri.Celu: {"alpha": 0.7},
    tri.Selu: {},
    tri.Gelu: {"approximate": "none"},
    tri.Silu: {},
    tri.Hardswish: {},
    tri.HardSigmoid: {},
    tri.Softplus: {},
    tri.Softsign: {},
    tri.Mish: {},
    tri.Sigmoid: {},
    tri.Tanh: {},
}


@pytest.mark.parametrize("op", ACTIVATIONS, ids=lambda op: op.op_name)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_activations_do_not_overflow(op: type[Op], dtype: str) -> None:
    sizes = np.concatenate([np.linspace(0, 120, 300), 10.0 ** np.arange(3, 30)])
    x = np.concatenate([sizes, -sizes]).astype(dtype)
    limit = 4e-6 if dtype == "float32" else 1e-12
    want = reference(op, x, **ACTIVATIONS[op])
    np.testing.assert_allclose(computed(op, x, **ACTIVATIONS[op]), want, rtol=limit, atol=limit)


SHAPES = [((), ()), ((1,), (1, 1)), ((5, 1, 7), (3, 1)), ((1, 1, 1), (4, 5)), ((33, 70), (33, 1))]


@pytest.mark.parametrize(("left", "right"), SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "int8", "float16"])
def test_operands_of_any_shapes_broadcast(
    left: tuple[int, ...], right: tuple[int, ...], dtype: str
) -> None:
    random = np.random.default_rng(3)
    a, b = (random.integers(-9, 9, shape).astype(dtype) for shape in (left, right))
    np.testing.assert_array_equal(computed(tri.Sub, a, b), a - b)


@pytest.mark.parametrize("shape", [(2, 3, 17, 9), (1, 40, 6, 7), (3, 1, 5, 130)])
@pytest.mark.parametrize("left", [(0, 1, 2, 3), (0, 2, 3, 1), (3, 1, 0, 2)])
@pytest.mark.parametrize("result", [(0, 1, 2, 3), (0, 2, 3, 1)])
def test_operands_and_results_lie_in_any_order(
    shape: tuple[int, ...], left: tuple[int, ...], result: tuple[int, ...]
) -> None:
    random = np.random.default_rng(4)
    a = random.standard_normal(shape).astype(np.float32)
    b = random.standard_normal((shape[1], 1, 1)).astype(np.float32)
    case = Case("", tri.Mul, (a, b))
    (got,) = run_group(lambda: build_ordered(case, [left], result), [a, b])
    np.testing.assert_array_equal(got, a * b)


@needs_triton
@pytest.mark.parametrize("dtype", INTEGERS)
def test_printed_division_is_defined_too(dtype: str) -> None:
    from printed import run_printed

    a, b = pairs(ends(dtype), dtype)
    case = Case("", tri.Div, (a, b))
    (got,) = run_group(lambda: build_group(case), [a, b], execute=run_printed)
    np.testing.assert_array_equal(got, computed(tri.Div, a, b))
