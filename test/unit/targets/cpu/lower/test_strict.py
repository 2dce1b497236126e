"""What strict kernels compute, to the letter, and where fast ones do otherwise."""

import math

import numpy as np
import pytest
import torch
from cpu_kernels import compile_cases, compile_groups
from groups import Case, build_group
from trivium.dialects import tri
from trivium.dialects.core.machine import host_machine
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, Tensor
from trivium.targets.options import DEFAULT, CompileOptions

STRICT = CompileOptions(math="strict")
RANDOM = np.random.default_rng(3)


def run(case: Case, options: CompileOptions) -> Array:
    outputs = [Tensor.of(y) for y in case.reference()]
    return compile_cases([case], options=options).run(0, case.inputs, outputs)[0]


def product_and_sum(options: CompileOptions, a: Array, b: Array, c: Array) -> Array:
    case = Case("", tri.Mul, (a, b))
    group = lambda: build_group(case, [c], lambda v: [tri.Add.build(v[0], v[1])])  # noqa: E731
    return compile_groups([group], options=options).run(0, [a, b, c], [Tensor.of(a)])[0]


def test_a_product_and_a_sum_round_twice_only_when_strict() -> None:
    a, b, c = (RANDOM.standard_normal(1000, np.float32) for _ in range(3))
    fused = (a.astype(np.float64) * b + c).astype(np.float32)
    assert (fused != a * b + c).any()
    np.testing.assert_array_equal(product_and_sum(STRICT, a, b, c), a * b + c)
    np.testing.assert_array_equal(product_and_sum(DEFAULT, a, b, c), fused)


def lane_sums(x: Array) -> np.float32:
    """Add up as the kernel does: 4 vectors side by side, then their lanes from first to last."""
    width = 4 * host_machine().lanes(32)
    padded = np.pad(x, (0, -x.size % width))
    total = np.float32(0)
    for lane in padded.reshape(-1, width).cumsum(0, dtype=np.float32)[-1]:
        total += lane
    return total


@pytest.mark.parametrize("size", [64, 1000, 4096])
def test_a_strict_sum_has_the_order_that_the_docs_state(size: int) -> None:
    x = RANDOM.standard_normal(size, np.float32)
    got = run(Case("", tri.ReduceSum, (x,), {"axes": (0,), "keepdims": False}), STRICT)
    assert got == lane_sums(x)


def test_a_sum_over_other_dimensions_goes_in_order() -> None:
    x = RANDOM.standard_normal((37, 20), np.float32)
    case = Case("", tri.ReduceSum, (x,), {"axes": (0,), "keepdims": False})
    np.testing.assert_array_equal(run(case, STRICT), x.cumsum(0, dtype=np.float32)[-1])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_softmax_of_nothing_is_nan() -> None:
    x = np.array([[-math.inf] * 5, [0, 1, 2, 3, -math.inf]], np.float32)
    case = Case("", tri.Softmax, (x,), {"axis": 1})
    assert np.isnan(run(case, STRICT)[0]).all()
    assert np.isnan(run(case, DEFAULT)[0]).all()
    np.testing.assert_allclose(run(case, STRICT)[1], case.reference()[0][1], rtol=2e-7)


SQUARE = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
HOLE = np.where(SQUARE == 5, np.nan, SQUARE)
WINDOW = {"kernel": (2, 2), "strides": (2, 2), "pads": (0,) * 4, "dilations": (1, 1)}
LINE = np.array([1, np.nan, -3, 8], np.float32)

NAN: list[tuple[type[Op], tuple[Array, ...], dict[str, object], Array]] = [
    (tri.Relu, (LINE,), {}, np.array([1, np.nan, 0, 8])),
    (tri.Clip, (LINE,), {"min": -1.0, "max": 2.0}, np.array([1, np.nan, -1, 2])),
    (tri.Maximum, (LINE, LINE[::-1].copy()), {}, np.array([8, np.nan, np.nan, 8])),
    (tri.Minimum, (LINE, LINE[::-1].copy()), {}, np.array([1, np.nan, np.nan, 1])),
    (tri.ReduceMax, (LINE,), {"axes": (0,), "keepdims": True}, np.array([np.nan])),
    (tri.ReduceMin, (LINE,), {"axes": (0,), "keepdims": True}, np.array([np.nan])),
    (tri.MaxPool, (HOLE,), WINDOW, np.array([[[[np.nan, 7], [13, 15]]]])),
]


@pytest.mark.parametrize("options", [DEFAULT, STRICT], ids=["fast", "strict"])
@pytest.mark.parametrize(("op", "operands", "attributes", "want"), NAN)
def test_nan_goes_through(
    options: CompileOptions,
    op: type[Op],
    operands: tuple[Array, ...],
    attributes: dict[str, object],
    want: Array,
) -> None:
    np.testing.assert_array_equal(run(Case("", op, operands, attributes), options), want)


def erfc(x: Array) -> Array:
    return torch.special.erfc(torch.from_numpy(x)).numpy()


def log_of_power(x: Array) -> Array:
    return np.logaddexp(x, 0)


# Ops that are made of several functions, in f64.
COMPOSED = {
    "gelu": (tri.Gelu, {}, lambda x: x / 2 * erfc(-x * math.sqrt(0.5))),
    "silu": (tri.Silu, {}, lambda x: x / (1 + np.exp(-x))),
    "mish": (tri.Mish, {}, lambda x: x * np.tanh(log_of_power(x))),
    "elu": (tri.Elu, {"alpha": 0.75}, lambda x: np.where(x > 0, x, np.expm1(x) * 0.75)),
    "rsqrt": (tri.Rsqrt, {}, lambda x: 1 / np.sqrt(x)),
    "tan": (tri.Tan, {}, np.tan),
    "atanh": (tri.Atanh, {}, np.arctanh),
}


@pytest.mark.parametrize("name", COMPOSED)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_composed_functions_round_once(name: str) -> None:
    op, attributes, exact = COMPOSED[name]
    x = np.concatenate([np.linspace(-20, 20, 40001), np.linspace(-1, 1, 10001)])
    x = x.astype(np.float32)
    want = exact(x.astype(np.float64)).astype(np.float32)
    got = run(Case("", op, (x,), attributes), STRICT)
    # A result that lies between two neighbours may go to either: f64 itself rounds.
    np.testing.assert_array_max_ulp(got[np.isfinite(want)], want[np.isfinite(want)], 1)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    assert np.mean(got[np.isfinite(want)] != want[np.isfinite(want)]) < 1e-4
