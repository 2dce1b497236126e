"""How near a kernel's results must be to the reference, by element type."""

import numpy as np
from groups import Case
from trivium.dialects import cpu, tri
from trivium.dialects.core.tensor import Array, dtype_of, is_float, numpy_dtype

TOLERANCE = {"f64": 1e-12, "f32": 4e-6, "f16": 2e-3, "bf16": 1.6e-2}
"""The largest error, relative to a result or to the largest of the inputs."""

ILL_CONDITIONED = (
    *(tri.BatchNorm, tri.InstanceNorm, tri.GroupNorm),
    *(cpu.WinogradConv, cpu.BlockedWinogradConv),
)
"""Ops that subtract large numbers, or divide by small ones; they get ten times the tolerance."""

COMPUTED_AS_FLOATS = (
    *(tri.Cast, tri.Pow, tri.Shrink, tri.Resize, tri.GridSample),
    *(tri.ReduceL2, tri.ReduceLogSum, tri.ReduceLogSumExp),
)
"""Ops that may make an integer of a float."""


def assert_close(case: Case, got: Array, want: Array, inputs: list[Array]) -> None:
    """Compare results; what is infinite or NaN must be so exactly."""
    assert got.shape == want.shape
    dtype = dtype_of(want.dtype)
    if not is_float(dtype):
        if want.dtype.kind == "V":  # numpy does not know which narrow floats are NaN
            got, want = got.astype(np.float64), want.astype(np.float64)
        np.testing.assert_array_equal(got, want)
        return
    limit = TOLERANCE[dtype] * (10 if case.cls in ILL_CONDITIONED else 1)
    absolute = limit * _scale(case, inputs)
    np.testing.assert_allclose(
        got.astype(np.float64), want.astype(np.float64), rtol=limit, atol=absolute
    )


def _scale(case: Case, inputs: list[Array]) -> float:
    """Return the largest of the inputs, or of the numbers that packed ones stand for."""
    numbers = list(inputs)
    if case.cls is cpu.PackedBlockMatMul:
        product = cpu.PackedBlockMatMul(**case.complete)
        numbers.append(product.layout.unpack(case.inputs[1], product.columns))
    sizes = [np.abs(x.astype(np.float64)) for x in numbers]
    return max((float(s[np.isfinite(s)].max(initial=1)) for s in sizes), default=1.0)


def defined(case: Case, want: Array) -> Array:
    """Say which elements the op defines.

    An integer cannot hold every float; what is there already is not written in place. Eigenvectors
    and singular vectors have any sign.
    """
    everything = np.ones(want.shape, np.bool_)
    if case.cls in (tri.Eigh, tri.Svd) and want.ndim == case.inputs[0].ndim:
        return ~everything
    if case.cls is cpu.Append:
        first = case.inputs[0]
        everything.reshape(-1)[: first.size] = False
    if case.cls is cpu.TensorScatter:
        before, rows, *places = case.inputs
        masks = np.zeros(before.shape, np.bool_), np.ones(rows.shape, np.bool_)
        return cpu.TensorScatter(**case.complete).reference(*masks, *places)
    if case.cls not in COMPUTED_AS_FLOATS or np.issubdtype(want.dtype, np.bool_):
        return everything
    takes_floats = any(is_float(dtype_of(x.dtype)) for x in case.inputs)
    exact = case.cls in (tri.Cast, tri.Pow) and not takes_floats
    if exact or is_float(dtype_of(want.dtype)):
        return everything
    floats = [x.astype(np.float64) for x in case.inputs]
    numbers = floats[0] if case.cls is tri.Cast else case.cls(**case.complete).reference(*floats)
    info = np.iinfo(numpy_dtype(dtype_of(want.dtype)))
    return (numbers > float(info.min) - 1) & (numbers < float(info.max))
