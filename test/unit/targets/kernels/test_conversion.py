"""The bounds of conversions from floats to integers."""

import pytest
from trivium.targets.kernels.conversion import float_below


@pytest.mark.parametrize(
    ("value", "dtype", "below"),
    [
        (127, "f32", 127.0),
        (2**31 - 1, "f32", 2147483520.0),  # 2^31 - 2^7: the spacing of f32 there is 2^7
        (2**31 - 1, "f64", 2147483647.0),
        (2**63 - 1, "f64", 9223372036854774784.0),  # 2^63 - 2^10
    ],
)
def test_the_float_below_an_integer_is_not_above_it(value: int, dtype: str, below: float) -> None:
    assert float_below(value, dtype) == below
