"""Rules for random numbers: each run draws others, the same ones in each new session.

They are not those of torch.
"""

import math

from .....dialects import tri
from .....dialects.core.errors import Invalid, Unsupported
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.sizes.checks import need
from .....dialects.core.tensor import Shape, is_float
from ...core.random_numbers import RandomNumbers
from ...core.values import cast, tensor
from ..element_types import torch_type
from ..expressions import apply
from ..promotion import Operand, as_type
from ..registry import Value, torch_op
from ..views import Ints
from . import reduce

_MOST_OF_F32 = 1 << 16
"""The number of integers that are drawn from numbers in f32: each is as likely as the others."""

_MOST = 1 << 53
"""The number of integers that can be drawn at all, from numbers in f64."""

_LEAST = 2.0**-25
"""What stands for 0 among exponential numbers: half of the least distance of uniform ones."""


def wide_type(dtype: str) -> str:
    """Return the type that numbers are drawn in for an element type."""
    return "f64" if dtype == "f64" else "f32"


def _real(dtype: str | None, default: str = "f32") -> str:
    name = default if dtype is None else torch_type(dtype)
    if not is_float(name):
        raise Unsupported(f"draws real numbers of {name}, must be floats")
    return name


def _uniform(random: RandomNumbers, shape: Shape, dtype: str, low: float, high: float) -> Value:
    drawn = random.uniform(shape, dtype, None)
    if (low, high) != (0, 1):
        drawn = apply("add(mul(@0,@1),@2)", drawn, float(high - low), float(low))
    return cast(drawn, dtype)


def _normal(random: RandomNumbers, shape: Shape, dtype: str, mean: Operand, std: Operand) -> Value:
    drawn = random.normal(shape, dtype, None)
    if (mean, std) != (0, 1):
        mean, std = (as_type(each, tensor(drawn).dtype) for each in (mean, std))
        drawn = apply("add(mul(@0,@1),@2)", drawn, std, mean)
    return cast(drawn, dtype)


@torch_op("torch.rand")
def rand(size: Ints | None = None, *, dtype: str | None = None, random: RandomNumbers) -> Value:
    return _uniform(random, size or (), _real(dtype), 0, 1)


@torch_op("torch.rand_like")
def rand_like(input: Value, *, dtype: str | None = None, random: RandomNumbers) -> Value:
    return _uniform(random, tensor(input).shape, _real(dtype, tensor(input).dtype), 0, 1)


@torch_op("prims::uniform")
def uniform_of_shape(
    shape: Ints | None = None,
    *,
    low: float,
    high: float,
    dtype: str,
    stride: Ints | None = None,
    random: RandomNumbers,
) -> Value:
    return _uniform(random, shape or (), _real(dtype), low, high)


@torch_op("aten::uniform", renamed={"from": "low", "to": "high"})
def uniform(input: Value, low: float = 0.0, high: float = 1.0, *, random: RandomNumbers) -> Value:
    """Draw as many numbers as a tensor has elements."""
    return _uniform(random, tensor(input).shape, _real(None, tensor(input).dtype), low, high)


@torch_op("torch.randn")
def randn(size: Ints | None = None, *, dtype: str | None = None, random: RandomNumbers) -> Value:
    return _normal(random, size or (), _real(dtype), 0, 1)


@torch_op("torch.randn_like")
def randn_like(input: Value, *, dtype: str | None = None, random: RandomNumbers) -> Value:
    return _normal(random, tensor(input).shape, _real(dtype, tensor(input).dtype), 0, 1)


@torch_op("prims::normal")
def normal_of_shape(
    shape: Ints | None = None,
    *,
    mean: float,
    std: float,
    dtype: str,
    random: RandomNumbers,
) -> Value:
    return _normal(random, shape or (), _real(dtype), mean, std)


@torch_op("aten::normal_functional")
def normal_like(
    input: Value, mean: float = 0.0, std: float = 1.0, *, random: RandomNumbers
) -> Value:
    return _normal(random, tensor(input).shape, _real(None, tensor(input).dtype), mean, std)


@torch_op("torch.normal")
def normal(
    mean: Operand = 0.0,
    std: Operand = 1.0,
    size: Ints | None = None,
    *,
    dtype: str | None = None,
    random: RandomNumbers,
) -> Value:
    """Draw numbers of means and deviations, which broadcast, or of one of each."""
    given = [each for each in (mean, std) if isinstance(each, Value)]
    shape, type_ = size or (), "f32"
    if given:
        together = apply("add(@0,@1)", mean, std)
        shape, type_ = tensor(together).shape, tensor(given[0]).dtype
    return _normal(random, shape, _real(dtype, type_), mean, std)


@torch_op("aten::exponential")
def exponential(input: Value, lambd: float = 1.0, *, random: RandomNumbers) -> Value:
    drawn = _exponential(random, tensor(input).shape, _real(None, tensor(input).dtype))
    return cast(apply("div(@0,@1)", drawn, lambd), tensor(input).dtype)


@torch_op("aten::geometric")
def geometric(input: Value, p: float, *, random: RandomNumbers) -> Value:
    """Draw how many attempts it takes, each of which succeeds with probability `p`."""
    if not 0 < p < 1:
        raise Invalid(f"succeeds with probability {p}, must be between 0 and 1")
    dtype = tensor(input).dtype
    drawn = _exponential(random, tensor(input).shape, wide_type(dtype))
    return cast(apply("ceil(div(@0,@1))", drawn, -math.log1p(-p)), dtype)


def _exponential(random: RandomNumbers, shape: Shape, dtype: str) -> Value:
    drawn = random.uniform(shape, dtype, None)
    return apply(f"max(neg(log(sub(1.0,@0))),{_LEAST})", drawn)


@torch_op("torch.randint")
def randint(
    low: int = 0,
    high: int | None = None,
    size: Ints | None = None,
    *,
    dtype: str | None = None,
    random: RandomNumbers,
) -> Value:
    """Draw integers that are at least `low`, which is 0 where there is one limit, below `high`."""
    name = "i64" if dtype is None else torch_type(dtype)
    return _integers(random, size or (), name, low, high)


@torch_op("torch.randint_like", renamed={"self": "input"})
def randint_like(
    input: Value,
    low: int = 0,
    high: int | None = None,
    *,
    dtype: str | None = None,
    random: RandomNumbers,
) -> Value:
    name = tensor(input).dtype if dtype is None else torch_type(dtype)
    return _integers(random, tensor(input).shape, name, low, high)


@torch_op("aten::random.from", "aten::random.to", renamed={"from": "low", "to": "high"})
def random_like(
    input: Value, low: int = 0, high: int | None = None, *, random: RandomNumbers
) -> Value:
    return _integers(random, tensor(input).shape, tensor(input).dtype, low, high)


def _integers(random: RandomNumbers, shape: Shape, dtype: str, low: int, high: int | None) -> Value:
    if high is None:
        low, high = 0, low
    count = high - low
    if not 0 < count <= _MOST:
        raise Invalid(f"draws integers from {low} to {high}, must be from 1 to {_MOST} of them")
    wide = "f32" if count <= _MOST_OF_F32 else "f64"
    drawn = apply("mul(@0,@1)", random.uniform(shape, wide, None), float(count))
    return cast(apply("add(torch.long(@0),@1)", drawn, low), dtype)


@torch_op("torch.randperm")
def randperm(n: Size, *, dtype: str | None = None, random: RandomNumbers) -> Value:
    """Return the numbers below `n` in an order of which all are alike likely."""
    places = reduce.argsort(random.uniform((n,), "f64", None), 0)
    return cast(places, "i64" if dtype is None else torch_type(dtype))


@torch_op("torch.bernoulli")
def bernoulli(input: Value, *, p: Operand | None = None, random: RandomNumbers) -> Value:
    """Draw 1 with the probability `p`, or the one that each element has, and else 0."""
    type_ = tensor(input)
    drawn = random.uniform(type_.shape, wide_type(type_.dtype), None)
    part = as_type(input if p is None else p, tensor(drawn).dtype)
    return cast(tri.Less.build(drawn, part).y, type_.dtype)


@torch_op("torch.multinomial")
def multinomial(
    input: Value, num_samples: int, *, replacement: bool = False, random: RandomNumbers
) -> Value:
    """Draw classes by weights, in the last axis; each once, unless there is `replacement`.

    Without it, the classes are those of the first of exponential numbers whose rates are weights:
    P. Efraimidis, P. Spirakis, "Weighted random sampling with a reservoir", 2006.
    """
    *outer, classes = tensor(input).shape
    need(num_samples, 1, f"draws {num_samples} classes, must draw one")
    wide = cast(input, wide_type(tensor(input).dtype))
    rows = tri.Reshape.build(wide, shape=(outer[0] if outer else 1, classes)).y
    if replacement:
        total = tri.ReduceSum.build(rows, axes=(1,), keepdims=True).y
        drawn = random.classes(tri.Div.build(rows, total).y, num_samples, None)
    else:
        fault = f"draws {num_samples} of {classes} classes, must have as many"
        need(classes, num_samples, fault)
        times = _exponential(random, tensor(rows).shape, tensor(rows).dtype)
        drawn = reduce.topk(tri.Div.build(rows, times).y, num_samples, 1)[1]
    return tri.Reshape.build(drawn, shape=(*outer, num_samples)).y
