"""The axes of a `Resize` whose scales are known when the model runs."""

from collections.abc import Sequence

import numpy as np

from ....dialects import tri
from ....dialects.core.errors import Invalid
from ....dialects.core.mlir import ir
from ....dialects.core.op import view
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.checks import need_if_any
from ..core.reals import Real, real
from ..core.resampling import Resampled, Sampling
from ..core.values import cast, constant, number, tensor
from .registry import Node, Value


def computed_parts(roi: Value, axes: Sequence[int]) -> tuple[Real, ...]:
    """Return the part of each of some axes that is resized: all starts, then all ends."""
    _check_count("entries in roi", roi, 2 * len(axes))
    return tuple(_element(roi, number) for number in range(2 * len(axes)))


def _check_count(what: str, values: Value, count: int) -> None:
    if tensor(values).shape != (count,):
        raise Invalid(f"has {tensor(values).size} {what}, must have {count}")


def _element(values: Value, number: int) -> Real:
    taken = tri.Gather.build(values, constant(np.array(number)), axis=0).y
    return Real(cast(taken, "f64"))


def scaled_axes(
    x: Value,
    scales: Value,
    axes: Sequence[int],
    parts: Sequence[Real],
    how: Sampling,
    node: Node,
) -> list[Resampled]:
    """Return the axes that change, for scales that a run computes."""
    shape = tensor(x).shape
    _check_count("scales", scales, len(axes))
    known = _known_elements(scales, node)
    places = [at for at, scale in enumerate(known) if scale != 1 or parts]
    sizes = [_new_size(_element(scales, at), shape[axes[at]], at, parts) for at in places]
    listed = tri.Concat.build([tri.Reshape.build(v, shape=(1,)).y for v in sizes], axis=0).y
    made = node.found.compute(listed)
    factors = [_element(scales, at) for at in places]
    return [
        Resampled(axes[at], size, scale, *_part(at, parts), reach=_reach(scale, how, node))
        for at, size, scale in zip(places, made, factors, strict=True)
    ]


def _reach(scale: Real, how: Sampling, node: Node) -> Size:
    """Return how many old elements count on each side of a sample, by a computed scale."""
    if not how.stretches:
        return how.radius
    exact = Real.of(how.radius) / scale.at_most(1)
    listed = tri.Reshape.build(exact.ceil().cast("i64"), shape=(1,)).y
    (reach,) = node.found.compute(listed)
    return reach


def _known_elements(values: Value, node: Node) -> list[float | None]:
    """List the elements of a value, None for those that a run computes."""
    known = node.evaluate(values)
    if known is not None:
        return [float(each) for each in known.reshape(-1)]
    op = view(values.owner) if isinstance(values, ir.OpResult) else None
    if isinstance(op, tri.Concat):
        return [each for part in op.xs for each in _known_elements(part, node)]
    return [None] * tensor(values).size


def _new_size(scale: Real, size: Size, at: int, parts: Sequence[Real]) -> Value:
    """Return the size of an axis times a scale, rounded down; in f32, as ONNX Runtime has it.

    For a scale that is not above 0, return -1, which is no size.
    """
    start, end = _part(at, parts)
    exact = scale * (end - start) * real(size)
    rounded = cast(tri.Floor.build(exact.cast("f32")).y, "i64")
    return tri.Where.build(Real.of(0.0).less(scale), rounded, number(-1)).y


def _part(at: int, parts: Sequence[Real]) -> tuple[Real, Real]:
    return (parts[at], parts[len(parts) // 2 + at]) if parts else (Real.of(0.0), Real.of(1.0))


def sized_axes(
    x: Value,
    sizes: Value,
    axes: Sequence[int],
    policy: str,
    parts: Sequence[Real],
    how: Sampling,
    node: Node,
) -> list[Resampled]:
    """Return the axes that change, for sizes that a run computes, or of unknown ratio."""
    shape = tensor(x).shape
    _check_count("sizes", sizes, len(axes))
    wanted = node.found.compute(sizes)
    for size, axis in zip(wanted, axes, strict=True):
        fault = f"resizes axis {axis} of {tensor(x)} to {size} elements, must be above 0"
        need_if_any(shape[axis], size, 1, fault)
    scales = [real(size) / real(shape[axis]) for size, axis in zip(wanted, axes, strict=True)]
    reaches = [how.reach(shape[axis], size) for size, axis in zip(wanted, axes, strict=True)]
    if policy != "stretch":
        least = policy == "not_larger"
        scale = scales[0]
        for other in scales[1:]:
            scale = scale.at_most(other) if least else scale.at_least(other)
        rounded = [(real(shape[axis]) * scale + 0.5).floor().cast("i64") for axis in axes]
        listed = [tri.Reshape.build(each, shape=(1,)).y for each in rounded]
        wanted = node.found.compute(tri.Concat.build(listed, axis=0).y)
        scales, reaches = [scale] * len(axes), [_reach(scale, how, node)] * len(axes)
    return [
        Resampled(axis, size, scale, *_part(at, parts), reach)
        for at, (axis, size, scale, reach) in enumerate(
            zip(axes, wanted, scales, reaches, strict=True)
        )
        if parts or size != shape[axis]
    ]
