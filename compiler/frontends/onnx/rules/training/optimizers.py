"""ONNX rules for one step of an optimiser: tensors X, their gradients G, and what it remembers."""

from collections.abc import Callable, Sequence

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import numpy_dtype
from ....core.values import cast, constant, tensor
from ...registry import Value, onnx_op
from . import DOMAIN

Step = Callable[..., tuple[Value, ...]]
"""Returns the tensor after the step, and what is remembered of it."""


@onnx_op("Adagrad", since=1, domain=DOMAIN)
def adagrad(
    r: Value,
    t: Value,
    *tensors: Value,
    decay_factor: float = 0.0,
    epsilon: float = 0.0,
    norm_coefficient: float = 0.0,
) -> tuple[Value, ...]:
    """Scale a gradient by the root of the sum of its squares. Source: Duchi et al., 2011."""

    def step(x: Value, g: Value, h: Value) -> tuple[Value, ...]:
        count = tri.Mul.build(cast(t, _type(x)), _real(decay_factor, x)).y
        rate = tri.Div.build(cast(r, _type(x)), tri.Add.build(count, _real(1, x)).y).y
        g = _regularized(x, g, norm_coefficient)
        squares = tri.Add.build(h, tri.Mul.build(g, g).y).y
        root = tri.Add.build(tri.Sqrt.build(squares).y, _real(epsilon, x)).y
        change = tri.Div.build(tri.Mul.build(rate, g).y, root).y
        return tri.Sub.build(x, change).y, squares

    return _each(step, tensors, 3)


@onnx_op("Adam", since=1, domain=DOMAIN)
def adam(
    r: Value,
    t: Value,
    *tensors: Value,
    alpha: float = 0.9,
    beta: float = 0.999,
    epsilon: float = 0.0,
    norm_coefficient: float = 0.0,
    norm_coefficient_post: float = 0.0,
) -> tuple[Value, ...]:
    """Step by means of gradients and of their squares. Source: Kingma and Ba, 2014."""

    def step(x: Value, g: Value, v: Value, h: Value) -> tuple[Value, ...]:
        g = _regularized(x, g, norm_coefficient)
        mean = _mixed(v, g, alpha)
        square = _mixed(h, tri.Mul.build(g, g).y, beta)
        root = tri.Add.build(tri.Sqrt.build(square).y, _real(epsilon, x)).y
        rate = _later(t, _unbiased(r, t, x, alpha, beta), cast(r, _type(x)))
        change = tri.Div.build(tri.Mul.build(rate, mean).y, root).y
        stepped = tri.Sub.build(x, change).y
        return tri.Mul.build(stepped, _real(1 - norm_coefficient_post, x)).y, mean, square

    return _each(step, tensors, 4)


def _unbiased(r: Value, t: Value, x: Value, alpha: float, beta: float) -> Value:
    """Return the rate with what means of few steps lack."""
    count = cast(t, _type(x))
    powers = (tri.Pow.build(_real(each, x), count).y for each in (alpha, beta))
    first, second = (tri.Sub.build(_real(1, x), power).y for power in powers)
    scaled = tri.Mul.build(cast(r, _type(x)), tri.Sqrt.build(second).y).y
    return tri.Div.build(scaled, first).y


@onnx_op("Momentum", since=1, domain=DOMAIN)
def momentum(
    r: Value,
    t: Value,
    *tensors: Value,
    alpha: float,
    beta: float,
    mode: str,
    norm_coefficient: float,
) -> tuple[Value, ...]:
    """Step by a decaying sum of gradients. Source: Sutskever et al., 2013."""
    if mode not in ("standard", "nesterov"):
        raise Invalid(f"has mode '{mode}', must be 'standard' or 'nesterov'")

    def step(x: Value, g: Value, v: Value) -> tuple[Value, ...]:
        g = _regularized(x, g, norm_coefficient)
        part = tri.Mul.build(_later(t, _real(beta, x), _real(1, x)), g).y
        kept = tri.Add.build(tri.Mul.build(_real(alpha, x), v).y, part).y
        change = kept
        if mode == "nesterov":
            change = tri.Add.build(g, tri.Mul.build(_real(alpha, x), kept).y).y
        return tri.Sub.build(x, tri.Mul.build(cast(r, _type(x)), change).y).y, kept

    return _each(step, tensors, 3)


def _each(step: Step, tensors: Sequence[Value], kinds: int) -> tuple[Value, ...]:
    """Step with each tensor; ONNX lists all X, then all G, and so on, and results as well."""
    if len(tensors) % kinds:
        raise Invalid(f"has {len(tensors)} tensors, must have {kinds} for each that is optimised")
    count = len(tensors) // kinds
    made = [step(*tensors[number::count]) for number in range(count)]
    return tuple(value for kind in zip(*made, strict=True) for value in kind)


def _regularized(x: Value, g: Value, coefficient: float) -> Value:
    """Return the gradient of the loss and of half the squared norm of `x`, times a coefficient."""
    return g if not coefficient else _sum(_scaled(x, coefficient), g)


def _mixed(old: Value, new: Value, keep: float) -> Value:
    return _sum(_scaled(old, keep), _scaled(new, 1 - keep))


def _later(t: Value, value: Value, first: Value) -> Value:
    """Return one value in the first step, which is number 0, and another one later."""
    started = tri.Greater.build(t, constant(np.zeros((), numpy_dtype(tensor(t).dtype)))).y
    return tri.Where.build(started, value, first).y


def _scaled(x: Value, factor: float) -> Value:
    return tri.Mul.build(x, _real(factor, x)).y


def _sum(a: Value, b: Value) -> Value:
    return tri.Add.build(a, b).y


def _real(value: float, like: Value) -> Value:
    return constant(np.array(value, numpy_dtype(_type(like))))


def _type(x: Value) -> str:
    return tensor(x).dtype
