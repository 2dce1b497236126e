"""A case that rounds f32 to bf16, and what ml_dtypes makes of it."""

import ml_dtypes
import numpy as np
from groups import Case
from trivium.dialects import tri
from trivium.dialects.core.tensor import Array, Tensor

LEAST_NORMAL = 2.0**-126
WANTED = Tensor((3, 1003), "bf16")


def numbers() -> Array:
    """Return numbers of all sizes, ties, those beside them and limits."""
    random = np.random.default_rng(71)
    bits = random.integers(0, 1 << 32, WANTED.size, np.uint32)
    bits[:900] = bits[:900] & 0xFFFF0000 | random.choice([0x8000, 0x7FFF, 0x8001], 900)
    x = bits.view(np.float32)
    x[-6:] = [np.inf, -np.inf, 0.0, -0.0, np.finfo(np.float32).max, LEAST_NORMAL]
    x[::50] = np.nan
    return x.reshape(WANTED.shape)


def case() -> Case:
    return Case("round", tri.Cast, (numbers(),), {"to": "bf16"})


def compare(made: Array, exact: bool) -> None:
    x = numbers()
    with np.errstate(invalid="ignore"):
        want = x.astype(ml_dtypes.bfloat16).astype(np.float32)
    made = made.astype(np.float32)
    if not exact:
        tiny = np.abs(x) < LEAST_NORMAL
        assert tiny.any()
        assert (np.abs(made[tiny]) <= LEAST_NORMAL).all()
        want, made = want[~tiny], made[~tiny]
    np.testing.assert_array_equal(made, want)
