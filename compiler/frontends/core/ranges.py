"""Ranges of numbers whose ends may depend on symbols."""

from ....dialects import tri
from ....dialects.core.errors import Invalid
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.dim import ceildiv, highest
from .values import cast, tensor


def range_of_sizes(
    first: Size, last: Size, step: Size, start: ir.Value, delta: ir.Value
) -> ir.Value:
    """Count from a size to before another; `start` and `delta` are the values of first and step.

    The result has the type of `delta`.
    """
    if not step:
        raise Invalid(f"counts from {first} to {last} in steps of 0, must not be 0")
    count = highest(ceildiv(last - first, step), 0)
    numbers = cast(tri.Iota.build(size=count).y, tensor(delta).dtype)
    scaled = numbers if step == 1 else tri.Mul.build(numbers, delta).y
    return scaled if first == 0 else tri.Add.build(scaled, start).y
