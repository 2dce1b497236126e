"""Rules for inverses and determinants of matrices.

The inverse of a matrix without one is NaN; torch raises an error there. `inv_ex` says of which
matrix: `info` is the number of the first pivot that is 0.
"""

from typing import Any

import numpy as np

from ......dialects import tri
from ....core.values import cast, constant, tensor
from ...expressions import apply
from ...registry import Value, torch_op


@torch_op("torch.inverse", "torch.linalg.inv", renamed={"A": "input"})
def inverse(input: Value) -> tri.Inverse:
    return tri.Inverse.build(input)


@torch_op("torch.linalg.inv_ex")
def inv_ex(A: Value, *, check_errors: bool = False) -> tuple[Any, ...]:
    return tri.Inverse.build(A), tri.Lu.build(A).info


@torch_op("torch.det", "torch.linalg.det", renamed={"A": "input"})
def det(input: Value) -> tri.Det:
    return tri.Det.build(input)


@torch_op("torch.logdet")
def logdet(input: Value) -> Value:
    """Compute the logarithm of determinants: NaN for those below 0."""
    sign, size = slogdet(input)
    return apply("add(@0,log(@1))", size, sign)


@torch_op("torch.slogdet", "torch.linalg.slogdet", renamed={"A": "input"})
def slogdet(input: Value) -> tuple[Value, Value]:
    """Return the signs of determinants, and the logarithms of their absolute values.

    Rows are divided by their lengths: so the determinants of large matrices are numbers of f64.
    """
    dtype = tensor(input).dtype
    x = cast(input, "f64")
    rank = tensor(x).rank
    length = tri.ReduceL2.build(x, axes=(rank - 1,), keepdims=True).y
    length = tri.Where.build(
        tri.Greater.build(length, constant(np.zeros(()))).y, length, constant(np.ones(()))
    ).y
    part = tri.Det.build(tri.Div.build(x, length).y).y
    logs = tri.ReduceSum.build(tri.Log.build(length).y, axes=(rank - 2, rank - 1), keepdims=False).y
    sign, size = tri.Sign.build(part).y, apply("add(@0,log(abs(@1)))", logs, part)
    return cast(sign, dtype), cast(size, dtype)
