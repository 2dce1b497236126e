"""Every function of expressions against torch: types and values, of tensors and numbers."""

import itertools
import operator
from typing import Any

import numpy as np
import pytest
import torch
from torch_functions import (
    BINARY,
    DIVIDING,
    HALVES,
    KINDS,
    OURS,
    TOLERANCE,
    TORCH,
    UNARY,
    Oracle,
    array,
    theirs,
    values,
    whole,
)
from trivium.dialects import expression
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.tensor import Array, Tensor, dtype_of
from trivium.dialects.expression import FUNCTIONS, SIZE

NUMBERS = (True, 3, -2, 1.5, -0.75)


def test_all_functions_are_here() -> None:
    assert {*UNARY, *BINARY, SIZE.name} == set(FUNCTIONS)


def ours(name: str, arguments: list[Any]) -> Array:
    """Compute, and check that the inferred type is that of the result."""
    given = [array(a) if isinstance(a, torch.Tensor) else a for a in arguments]
    types = [Tensor.of(a) if isinstance(a, np.ndarray) else a for a in given]
    inferred = expression.infer(FUNCTIONS[name], types)
    made = expression.compute(FUNCTIONS[name], given)
    assert Tensor.of(made) == inferred
    return made


def compare(name: str, function: Oracle, arguments: list[Any]) -> None:
    want = theirs(function, arguments)
    if want is None:
        with pytest.raises(Invalid):
            ours(name, arguments)
        return
    made = ours(name, arguments)
    assert dtype_of(made.dtype) == OURS[want.dtype]
    assert made.shape == tuple(want.shape)
    dtype = OURS[want.dtype]
    if name == "floor_divide" and dtype in HALVES:
        same = [a.to(want.dtype).float() if isinstance(a, torch.Tensor) else a for a in arguments]
        want = function(*same).to(want.dtype)
    if KINDS.get(dtype) != "float":
        defined = whole(arguments)
        np.testing.assert_array_equal(made[defined], array(want)[defined])
        return
    limit = TOLERANCE[dtype]
    wide = [x.astype(np.float64) for x in (made, array(want))]
    np.testing.assert_allclose(*wide, rtol=limit, atol=limit / 8)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", TORCH)
def test_functions_of_one_tensor(name: str, dtype: str) -> None:
    for shape in ((40,), ()):
        compare(name, UNARY[name], [values(dtype, 1, shape)])


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_tensors(name: str) -> None:
    shapes = [((40,), (40,)), ((40,), ()), ((), (40,)), ((), ()), ((40, 1), (40,))]
    for a, b in itertools.product(TORCH, TORCH):
        for left, right in shapes:
            divisor = values(b, 2, right)
            if name in DIVIDING and b == "i1":
                divisor = torch.ones_like(divisor)
            compare(name, BINARY[name], [values(a, 1, left), divisor])


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_a_tensor_and_a_number(name: str) -> None:
    for dtype, number, shape in itertools.product(TORCH, NUMBERS, ((40,), ())):
        if name == "pow" and dtype == "i1" and isinstance(number, bool):
            continue  # torch raises bools to a power that is a number, and to none that is not
        compare(name, BINARY[name], [values(dtype, 1, shape), number])
        if name not in DIVIDING or dtype != "i1":
            compare(name, BINARY[name], [number, values(dtype, 1, shape)])


@pytest.mark.parametrize("name", DIVIDING)
def test_integers_are_not_divided_by_the_number_zero(name: str) -> None:
    compare(name, BINARY[name], [values("i32", 1), 0])
    compare(name, BINARY[name], [values("f32", 1), 0])


def test_integers_that_do_not_fit_wrap_around() -> None:
    for name in ("add", "sub", "mul", "floor_divide", "and", "lshift", "maximum"):
        for number in (300, -1000, 2**40 + 1):
            compare(name, BINARY[name], [values("i8", 1), torch.tensor(number)])
            if name != "maximum":
                compare(name, BINARY[name], [values("i8", 1), number])


def test_shifts_by_more_bits_than_there_are() -> None:
    for name, dtype in itertools.product(("lshift", "rshift"), ("i8", "ui8", "i32", "i64")):
        shifts = torch.tensor([0, 1, 7, 8, 31, 32, 63, 64, 100] * 4).to(TORCH[dtype])
        compare(name, BINARY[name], [values(dtype, 1, (36,)), shifts])
        compare(name, BINARY[name], [-values(dtype, 1, (36,)), -shifts])


@pytest.mark.parametrize("exponent", [0.5, -0.5, 2, 3, -1.0, 2.0, 0.0])
def test_powers_that_are_numbers(exponent: float) -> None:
    for dtype in ("f64", "f32", "f16", "bf16"):
        x = values(dtype, 1)
        if dtype == "f16":  # which torch alone takes no roots of
            x = x[(x != 0) & torch.isfinite(x)]
        compare("pow", operator.pow, [x, exponent])


NUMBER_CASES = [
    ("add", operator.add),
    ("sub", operator.sub),
    ("mul", operator.mul),
    ("div", operator.truediv),
    ("floor_divide", operator.floordiv),
    ("remainder", operator.mod),
    ("maximum", max),
    ("min", min),
]


@pytest.mark.parametrize(("name", "function"), NUMBER_CASES)
def test_functions_of_numbers_are_those_of_python(name: str, function: Oracle) -> None:
    for a, b in itertools.product((7, -7, 2.5, -0.5), (2, -3, 0.75, 4.0)):
        made = expression.infer(FUNCTIONS[name], [a, b])
        assert made == function(a, b)
        floats = name == "div" or isinstance(a, float) or isinstance(b, float)
        assert type(made) is (float if floats else int)
