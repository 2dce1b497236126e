"""Rules for reductions, searches and running sums along axes."""

import math
from collections.abc import Callable
from typing import Any

from .....dialects import tri
from .....dialects.core.errors import Invalid, Undecided
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.sizes.dim import highest
from .....dialects.core.tensor import broadcast, is_float
from ...core.values import cast, tensor
from ..complex_expressions import apply_any
from ..element_types import torch_type
from ..promotion import as_float, as_type, promote
from ..registry import Complex, Value, torch_op
from ..views import Ints, axis_of, expand, in_line, rank_of, reshape

Tensor = Value | Complex
Axes = int | Ints | None


def axes_of(x: Tensor, dim: Axes) -> Ints:
    """Return axes in order; all of them when none is named."""
    if dim is None:
        return tuple(range(rank_of(x)))
    named = (dim,) if isinstance(dim, int) else dim
    return tuple(sorted({axis_of(x, axis) for axis in named}))


def _reduce(op: type[tri.Reduction], x: Value, dim: Axes, keepdim: bool) -> Value:
    if not tensor(x).rank:
        return op.build(reshape(x, (1,)), axes=(0,), keepdims=False).results[0]
    return op.build(x, axes=axes_of(x, dim), keepdims=keepdim).results[0]


def _parts_reduced(op: type[tri.Reduction], x: Complex, dim: Axes, keepdim: bool) -> Complex:
    """Reduce real and imaginary parts, each alone."""
    axes = axes_of(x, dim)
    made = op.build(x.parts, axes=axes, keepdims=keepdim).results[0] if axes else x.parts
    return Complex(made)


def _summable(x: Value, dtype: str | None) -> Value:
    """Return a tensor in the type that torch sums it in: integers are i64."""
    if dtype is not None:
        return cast(x, torch_type(dtype))
    return x if is_float(tensor(x).dtype) else cast(x, "i64")


@torch_op("torch.sum")
def sum_(
    input: Tensor, dim: Axes = None, *, keepdim: bool = False, dtype: str | None = None
) -> Any:
    if isinstance(input, Complex):
        return _parts_reduced(tri.ReduceSum, input, dim, keepdim)
    if dtype == "torch.bool":
        return any_(input, dim, keepdim=keepdim)
    return _reduce(tri.ReduceSum, _summable(input, dtype), dim, keepdim)


@torch_op("torch.prod")
def prod(
    input: Value, dim: Axes = None, *, keepdim: bool = False, dtype: str | None = None
) -> Value:
    if dtype == "torch.bool":
        return all_(input, dim, keepdim=keepdim)
    return _reduce(tri.ReduceProd, _summable(input, dtype), dim, keepdim)


@torch_op("torch.mean")
def mean(
    input: Tensor, dim: Axes = None, *, keepdim: bool = False, dtype: str | None = None
) -> Any:
    if isinstance(input, Complex):
        return _parts_reduced(tri.ReduceMean, input, dim, keepdim)
    return _reduce(tri.ReduceMean, _summable(input, dtype), dim, keepdim)


@torch_op("torch.amax")
def amax(input: Value, dim: Axes = None, *, keepdim: bool = False) -> Value:
    return _reduce(tri.ReduceMax, input, dim, keepdim)


@torch_op("torch.amin")
def amin(input: Value, dim: Axes = None, *, keepdim: bool = False) -> Value:
    return _reduce(tri.ReduceMin, input, dim, keepdim)


@torch_op("torch.logsumexp")
def logsumexp(input: Value, dim: Axes = None, *, keepdim: bool = False) -> Value:
    return _reduce(tri.ReduceLogSumExp, as_float(input), dim, keepdim)


@torch_op("torch.max")
def max_(
    input: Value, dim: int | None = None, *, keepdim: bool = False
) -> Value | tuple[Value, Value]:
    """Find the greatest of all elements; or those along an axis, and where they are."""
    if dim is None:
        return _reduce(tri.ReduceMax, input, None, False)
    return _reduce(tri.ReduceMax, input, dim, keepdim), argmax(input, dim, keepdim=keepdim)


@torch_op("torch.min")
def min_(
    input: Value, dim: int | None = None, *, keepdim: bool = False
) -> Value | tuple[Value, Value]:
    if dim is None:
        return _reduce(tri.ReduceMin, input, None, False)
    return _reduce(tri.ReduceMin, input, dim, keepdim), argmin(input, dim, keepdim=keepdim)


def _ordered(x: Value) -> Value:
    """Return bools, which have no order, as integers."""
    return cast(x, "ui8") if tensor(x).dtype == "i1" else x


def _search(
    op: type[tri.ArgMax] | type[tri.ArgMin], x: Value, dim: int | None, keepdim: bool
) -> Value:
    """Search along an axis, or among all elements in order."""
    rank, x = tensor(x).rank, _ordered(x)
    if dim is None or not rank:
        y = op.build(reshape(x, (tensor(x).size,)), axis=0, keepdims=False).y
        return reshape(y, (1,) * rank) if keepdim else y
    return op.build(x, axis=axis_of(x, dim), keepdims=keepdim).y


@torch_op("torch.argmax")
def argmax(input: Value, dim: int | None = None, *, keepdim: bool = False) -> Value:
    return _search(tri.ArgMax, input, dim, keepdim)


@torch_op("torch.argmin")
def argmin(input: Value, dim: int | None = None, *, keepdim: bool = False) -> Value:
    return _search(tri.ArgMin, input, dim, keepdim)


@torch_op("torch.all")
def all_(input: Value, dim: Axes = None, *, keepdim: bool = False) -> Value:
    return _reduce(tri.ReduceMin, cast(input, "i1"), dim, keepdim)


@torch_op("torch.any")
def any_(input: Value, dim: Axes = None, *, keepdim: bool = False) -> Value:
    return _reduce(tri.ReduceMax, cast(input, "i1"), dim, keepdim)


@torch_op("torch.var", "aten::var.default", "aten::var.dim", "aten::var.correction")
def var(
    input: Value,
    dim: Axes = None,
    *,
    unbiased: bool | None = None,
    correction: float | None = None,
    keepdim: bool = False,
) -> Value:
    """Divide the sum of squared distances from the mean by the count less the correction, 1."""
    if not tensor(input).rank:
        input = reshape(input, (1,))
    less = correction if correction is not None else 0 if unbiased is False else 1
    axes = axes_of(input, dim)
    center = tri.ReduceMean.build(input, axes=axes, keepdims=True).y
    apart = tri.Sub.build(input, center).y
    total = tri.ReduceSumSquare.build(apart, axes=axes, keepdims=keepdim).y
    count = math.prod(tensor(input).shape[axis] for axis in axes)
    return tri.Div.build(total, as_type(_divisor(count, less), tensor(input).dtype)).y


def _divisor(count: Size, less: float) -> float:
    """Return a count less a correction; a size where the count is one."""
    if not is_symbolic(count):
        return float(max(count - less, 0))
    if less != int(less):
        raise Undecided(f"divides by {count} less {less}, must be an integer: bind the symbols")
    return highest(count - int(less), 0)


@torch_op("torch.std")
def std(
    input: Value,
    dim: Axes = None,
    *,
    unbiased: bool | None = None,
    correction: float | None = None,
    keepdim: bool = False,
) -> tri.Sqrt:
    made = var(input, dim, unbiased=unbiased, correction=correction, keepdim=keepdim)
    return tri.Sqrt.build(made)


@torch_op("torch.norm", "torch.linalg.vector_norm", renamed={"ord": "p"})
def norm(
    input: Tensor,
    dim: Axes = None,
    *,
    p: float | str = 2.0,
    keepdim: bool = False,
    dtype: str | None = None,
) -> Value:
    x: Value = apply_any("abs(@0)", input) if isinstance(input, Complex) else input
    x = x if dtype is None else cast(x, torch_type(dtype))
    if isinstance(p, str) and p != "fro":
        raise Invalid(f"has p '{p}', must be fro or a number")
    return vector_norm(x, 2.0 if isinstance(p, str) else p, dim, keepdim)


def vector_norm(x: Value, p: float, dim: Axes, keepdim: bool) -> Value:
    """Compute a norm over axes; that of order 0 counts nonzero elements."""
    whole: dict[float, type[tri.Reduction]] = {1.0: tri.ReduceL1, 2.0: tri.ReduceL2}
    if p in whole:
        return _reduce(whole[p], x, dim, keepdim)
    sizes = tri.Abs.build(x).y
    if math.isinf(p):
        return _reduce(tri.ReduceMax if p > 0 else tri.ReduceMin, sizes, dim, keepdim)
    dtype = tensor(x).dtype
    if p == 0:
        counted = cast(cast(x, "i1"), dtype)
        return _reduce(tri.ReduceSum, counted, dim, keepdim)
    # Powers may be too large for types of 16 bits.
    wide = "f64" if dtype == "f64" else "f32"
    powers = tri.Pow.build(cast(sizes, wide), as_type(p, wide)).y
    total = _reduce(tri.ReduceSum, powers, dim, keepdim)
    return cast(tri.Pow.build(total, as_type(1 / p, wide)).y, dtype)


@torch_op("F.pairwise_distance", "nn.PairwiseDistance")
def pairwise_distance(
    x1: Value, x2: Value, *, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Value:
    apart = as_float(tri.Sub.build(*promote(x1, x2)).y)
    shifted = tri.Add.build(apart, as_type(eps, tensor(apart).dtype)).y
    return vector_norm(shifted, p, -1, keepdim)


@torch_op("F.cosine_similarity", "nn.CosineSimilarity")
def cosine_similarity(x1: Value, x2: Value, *, dim: int = 1, eps: float = 1e-8) -> tri.Div:
    """Divide products of vectors by their lengths, after they are broadcast to each other."""
    shape = broadcast(tensor(x1).shape, tensor(x2).shape)
    x1, x2 = expand(x1, shape), expand(x2, shape)
    product = _reduce(tri.ReduceSum, tri.Mul.build(x1, x2).y, dim, False)
    least = as_type(eps, tensor(x1).dtype)
    lengths = [tri.Maximum.build(_reduce(tri.ReduceL2, x, dim, False), least).y for x in (x1, x2)]
    return tri.Div.build(product, tri.Mul.build(*lengths).y)


def _scan(op: type[tri.Scan]) -> Callable[..., Value]:
    def run(input: Value, dim: int, *, dtype: str | None = None) -> Value:
        x = _summable(input, dtype)
        return op.build(x, axis=axis_of(x, dim)).results[0] if tensor(x).rank else x

    return run


torch_op("torch.cumsum")(_scan(tri.CumSum))
torch_op("torch.cumprod")(_scan(tri.CumProd))


@torch_op("torch.topk")
def topk(
    input: Value, k: int, dim: int = -1, *, largest: bool = True, sorted: bool = True
) -> tuple[Value, Value]:
    x = in_line(_ordered(input))
    values, places = tri.TopK.build(x, k=k, axis=axis_of(x, dim), largest=largest).results
    shape = tensor(values).shape if tensor(input).rank else ()
    return reshape(cast(values, tensor(input).dtype), shape), reshape(places, shape)


@torch_op("torch.sort", "aten::sort.default", "aten::sort.stable")
def sort(
    input: Value, dim: int = -1, *, descending: bool = False, stable: bool = False
) -> tuple[Value, Value]:
    size = tensor(input).shape[axis_of(input, dim)] if tensor(input).rank else 1
    return topk(input, size, dim, largest=descending)


@torch_op("torch.argsort", "aten::argsort.default", "aten::argsort.stable")
def argsort(
    input: Value, dim: int = -1, *, descending: bool = False, stable: bool = False
) -> Value:
    return sort(input, dim, descending=descending)[1]
