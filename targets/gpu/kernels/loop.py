"""Emit loops with carried values."""

from collections.abc import Callable, Sequence

from ....dialects import tile
from ....dialects.core.mlir import ir
from .value import Value, scalar

Body = Callable[..., "Value | Sequence[Value]"]


def loop(
    lower: Value | int,
    upper: Value | int,
    step: Value | int,
    carried: Sequence[Value],
    body: Body,
    name: str = "i",
) -> list[Value]:
    """Emit a loop; `body` maps the index and the carried values to the next carried values.

    Returns the values after the last iteration.
    """
    bounds = [b if isinstance(b, Value) else scalar(b) for b in (lower, upper, step)]
    values = [number.value for number in carried]
    groups = [*(bound.value for bound in bounds), values]
    op = tile.For.create(groups, [v.type for v in values], {"stages": 0})
    unknown = ir.Location.unknown()
    types = [bounds[0].value.type, *(value.type for value in values)]
    locations = [ir.Location.name(name), *(_location(value) for value in values)]
    block = ir.Block.create_at_start(op.operation.regions[0], types, locations)
    with ir.InsertionPoint(block), unknown:
        left = body(*map(Value, block.arguments))
        numbers = [left] if isinstance(left, Value) else list(left)
        tile.Yield.build([number.value for number in numbers])
    return [Value(value) for value in op.results]


def _location(value: ir.Value) -> ir.Location:
    return value.location
