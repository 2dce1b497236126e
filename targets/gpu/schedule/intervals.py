"""Between which bounds the integers of a kernel are, for the block sizes that it has."""

from collections.abc import Callable, Mapping

from ....dialects import tile
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.limits import Limits, bounds
from ....dialects.core.tensor import is_integer
from ....dialects.tile.types import Tile, plain_type

Interval = tuple[int, int]
"""The least and the greatest number that elements of a tile can be."""

LIMIT = 1 << 31

FUNCTIONS: dict[str, Callable[[Interval, Interval], Interval | None]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": lambda a, b: _hull([x * y for x in a for y in b]),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "quotient": lambda a, b: _quotient(a, b),
    "remainder": lambda a, b: _remainder(a, b),
}


class Intervals:
    """Infer the interval of each integer of a kernel from its arithmetic.

    `blocks` are other block sizes than those that the kernel has. `limits` returns the
    least and the greatest value of a size that depends on symbols.
    """

    def __init__(
        self,
        kernel: tile.Kernel,
        blocks: Mapping[str, int] | None = None,
        limits: Callable[[Size], Limits] = bounds,
    ) -> None:
        self._limits = limits
        self._blocks = dict(kernel.block_sizes if blocks is None else blocks)
        self._counts = [axis.count(self._blocks) for axis in kernel.axes]
        self._known: dict[ir.Value, Interval] = {}
        self._visit(kernel.block)

    def of(self, value: ir.Value) -> Interval | None:
        """Return the interval of a value; None when nothing is known of it."""
        return self._known.get(value)

    def _visit(self, block: ir.Block) -> None:
        for op in tile.body_ops(block):
            if isinstance(op, tile.For):
                self._enter(op)
            elif len(op.results) == 1:
                self._learn(op.results[0], self._result(op))

    def _enter(self, op: tile.For) -> None:
        lower, upper, step = (self.of(v) for v in list(op.operation.operands)[:3])
        if lower and upper and step and step[0] > 0:
            last = upper[1] - 1
            if lower[0] == lower[1] and step[0] == step[1]:
                last = lower[0] + max(last - lower[0], 0) // step[0] * step[0]
            self._learn(op.block.arguments[0], (lower[0], max(last, lower[0])))
        self._visit(op.block)

    def _learn(self, value: ir.Value, interval: Interval | None) -> None:
        if interval and -LIMIT <= interval[0] <= interval[1] < LIMIT:
            self._known[value] = interval

    def _result(self, op: Op) -> Interval | None:
        if isinstance(op, tile.ProgramId):
            most = self._limits(self._counts[op.axis])[1]
            return None if most is None else (0, most - 1)
        if isinstance(op, tile.SizeOf):
            low, high = self._limits(op.size)
            return max(low or 0, 0), LIMIT - 1 if high is None else min(high, LIMIT - 1)
        if isinstance(op, tile.BlockSize):
            return self._blocks[op.block], self._blocks[op.block]
        if isinstance(op, tile.Arange):
            return 0, self._size(op.block) - 1
        if isinstance(op, tile.Full):
            return _constant(op)
        operands = [self.of(v) for v in op.operation.operands]
        if isinstance(op, tile.Binary):
            function, (a, b) = FUNCTIONS.get(op.function), operands
            return function(a, b) if function and a and b else None
        if isinstance(op, tile.Where) and operands[1] and operands[2]:
            return _hull([*operands[1], *operands[2]])
        if isinstance(op, (tile.Expand, tile.Transpose)) or _keeps_integers(op):
            return operands[0]
        return None

    def _size(self, name: str) -> int:
        return self._blocks[name] if name in self._blocks else int(name)


def _constant(op: tile.Full) -> Interval | None:
    number = op.value.item()
    return (number, number) if isinstance(number, int) else None


def _keeps_integers(op: Op) -> bool:
    if not isinstance(op, tile.Cast) or op.to not in ("i32", "i64"):
        return False
    type_ = plain_type(op.x.type)
    return isinstance(type_, Tile) and is_integer(type_.dtype)


def _hull(numbers: list[int]) -> Interval:
    return min(numbers), max(numbers)


def _quotient(a: Interval, b: Interval) -> Interval | None:
    if b[0] <= 0:
        return None
    return _hull([abs(x) // y * (1 if x >= 0 else -1) for x in a for y in b])


def _remainder(a: Interval, b: Interval) -> Interval | None:
    if b[0] <= 0:
        return None
    if b[0] == b[1] and a[0] >= 0 and a[0] // b[0] == a[1] // b[0]:
        return a[0] % b[0], a[1] % b[0]
    most = b[1] - 1
    return max(-most, min(a[0], 0)), min(most, max(a[1], 0))
