"""How near a kernel's results must be to the reference, by element type."""

import numpy as np
from kernels import Case
from trivium.dialects import tri
from trivium.dialects.core.tensor import Array, dtype_of, is_float, numpy_dtype

TOLERANCE = {"f64": 1e-12, "f32": 4e-6, "f16": 2e-3, "bf16": 1.6e-2}
"""The largest error, relative to a result or to the largest of the inputs."""

ROUNDED_TO_INTEGERS = (
    *(tri.Cast, tri.Pow, tri.Shrink, tri.Resize, tri.GridSample),
    *(tri.ReduceL2, tri.ReduceLogSum, tri.ReduceLogSumExp),
)


def assert_close(got: Array, want: Array, inputs: list[Array]) -> None:
    """Compare results; what is infinite or NaN must be so exactly."""
    assert got.shape == want.shape
    dtype = dtype_of(want.dtype)
    if not is_float(dtype):
        np.testing.assert_array_equal(got, want)
        return
    limit = TOLERANCE[dtype]
    np.testing.assert_allclose(
        got.astype(np.float64), want.astype(np.float64), rtol=limit, atol=limit * _scale(inputs)
    )


def _scale(inputs: list[Array]) -> float:
    sizes = [np.abs(x.astype(np.float64)) for x in inputs]
    return max((float(s[np.isfinite(s)].max(initial=1)) for s in sizes), default=1.0)


def defined(case: Case, want: Array) -> Array:
    """Say which elements the op defines: an integer cannot hold every number."""
    everything = np.ones(want.shape, np.bool_)
    if case.cls not in ROUNDED_TO_INTEGERS or is_float(dtype_of(want.dtype)) or want.dtype == bool:
        return everything
    if case.cls is tri.Cast:
        numbers = case.operands[0].astype(np.float64)
        if not is_float(dtype_of(case.operands[0].dtype)):
            return everything
    else:
        floats = [x.astype(np.float64) for x in case.operands]
        integers = not any(is_float(dtype_of(x.dtype)) for x in case.operands)
        if case.cls is tri.Pow and integers:
            return everything
        numbers = case.cls.reference(*floats, **case.complete)
    info = np.iinfo(numpy_dtype(dtype_of(want.dtype)))
    with np.errstate(invalid="ignore"):
        return (numbers > float(info.min) - 1) & (numbers < float(info.max))
