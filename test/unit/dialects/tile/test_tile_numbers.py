"""What ops on tiles compute, where it could be something else."""

import re
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trivium.dialects import tile
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import DTYPES, numpy_dtype
from trivium.dialects.tile.arithmetic import BINARY, BITWISE, UNARY
from trivium.dialects.tile.contraction import ACCUMULATORS, REDUCTIONS, SCANS


@given(st.integers(-128, 127), st.integers(-128, 127).filter(bool))
def test_quotients_are_those_of_c(a: int, b: int) -> None:
    one, other = np.array([a], np.int16), np.array([b], np.int16)
    (quotient,) = tile.Binary(function="quotient").reference(one, other)
    (remainder,) = tile.Binary(function="remainder").reference(one, other)
    assert quotient == abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    assert quotient * b + remainder == a


def test_extremes_and_nan() -> None:
    x = np.array([1, np.nan, -2], np.float32)
    assert np.isnan(tile.Binary(function="max").reference(x, np.flip(x))).tolist() == [0, 1, 0]
    assert tile.Reduce(kind="max", axis=0).reference(x) == 1
    assert tile.Reduce(kind="min", axis=0).reference(x) == -2


@pytest.mark.parametrize("dtype", ["i8", "ui8", "i32"])
def test_integers_wrap_around(dtype: str) -> None:
    x = np.full((1, 300), 100, numpy_dtype(dtype))
    modulus = 1 << DTYPES[dtype].bits
    total = int(tile.Reduce(kind="sum", axis=1).reference(x)[0])
    assert (total - 30000) % modulus == 0
    product = int(tile.Scan(kind="prod", axis=1).reference(x)[0, 9])
    assert (product - 100**10) % modulus == 0
    if dtype in ACCUMULATORS:
        acc = np.array([[2**31 - 1]], np.int32)
        got = int(tile.Dot().reference(x, x.T, acc)[0, 0])
        assert (got - (2**31 - 1 + 300 * 10000)) % (1 << 32) == 0


def test_reverse_scans_begin_at_the_end() -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]], np.int32)
    assert tile.Scan(kind="sum", axis=1, reverse=True).reference(x).tolist() == [
        [6, 5, 3],
        [15, 11, 6],
    ]
    assert tile.Scan(kind="sum", axis=0).reference(x).tolist() == [[1, 2, 3], [5, 7, 9]]


def test_tf32_keeps_ten_bits_of_fraction() -> None:
    """What lies halfway goes to the even neighbour; other types are left as they are."""
    step = 2.0**-10
    x = np.array([[1 + step / 2], [1 + 1.5 * step], [1 + 0.6 * step], [np.inf], [3e38]], np.float32)
    one, acc = np.ones((1, 1), np.float32), np.zeros((5, 1), np.float32)
    rounded = tile.Dot(precision="tf32").reference(x, one, acc)[:, 0]
    assert rounded[:4].tolist() == [1, 1 + 2 * step, 1 + step, np.inf]
    assert abs(rounded[4] / 3e38 - 1) < step
    exact = tile.Dot(precision="tf32").reference(
        x.astype(float), one.astype(float), acc.astype(float)
    )
    assert np.array_equal(exact, x.astype(float))


def test_halves_are_multiplied_exactly_and_added_in_f32() -> None:
    x = np.array([[2.0**-10 + 1, 2.0**-10]], np.float16)
    got = tile.Dot().reference(x, x.T, np.zeros((1, 1), np.float32))
    assert got[0, 0] == (2.0**-10 + 1) ** 2 + 2.0**-20


@given(st.sampled_from(sorted(BITWISE)), st.booleans(), st.booleans())
def test_logic_of_bools(function: str, a: bool, b: bool) -> None:
    x, y = np.array([a]), np.array([b])
    if function == "not":
        assert tile.Unary(function=function).reference(x)[0] == (not a)
        return
    want = {"and": a and b, "or": a or b, "xor": a != b}[function]
    assert tile.Binary(function=function).reference(x, y)[0] == want


def test_casts() -> None:
    x = np.array([-1.7, 2.5, 0.3], np.float32)
    assert tile.Cast(to="i8").reference(x).tolist() == [-1, 2, 0]
    assert tile.Cast(to="i1").reference(x).tolist() == [True, True, True]
    assert tile.Cast(to="ui8").reference(np.array([257, -1], np.int32)).tolist() == [1, 255]
    assert tile.BitCast(to="i32").reference(np.float32([1.5])).tolist() == [0x3FC00000]


@pytest.mark.parametrize(
    ("op", "names"),
    [(tile.Unary, UNARY), (tile.Binary, BINARY), (tile.Reduce, REDUCTIONS), (tile.Scan, SCANS)],
)
def test_functions_are_documented(op: type[Op], names: Mapping[str, object]) -> None:
    words = set(re.findall(r"\w+", op.__doc__ or ""))
    assert set(names) <= words
