"""Build the bodies of an op before the op itself, whose operands and results they decide."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from ....dialects import tri
from ....dialects.core.mlir import ir
from ....dialects.core.op import view
from ....dialects.tri.constant import INLINE_BYTES
from .main_function import MainFunction

CONSTANTS = (tri.Constant, tri.Weight)


class Bodies:
    """Build blocks one by one, close them, and move them into an op.

    Meanwhile they may use all values around them. Each of these becomes an argument of all blocks,
    or a constant in those that use it.
    """

    def __init__(self, main: MainFunction, name: str, count: int) -> None:
        self._main = main
        self._holder = ir.Operation.create(name, regions=count, ip=False)
        self.blocks: list[ir.Block] = []

    @contextmanager
    def body(self, types: Sequence[ir.Type]) -> Generator[ir.Block]:
        """Build the next block, which takes values of some types, at the insertion point."""
        region = self._holder.regions[len(self.blocks)]
        locations = [ir.Location.unknown()] * len(types)
        block = ir.Block.create_at_start(region, list(types), locations)
        self.blocks.append(block)
        try:
            with ir.InsertionPoint(block):
                yield block
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """Erase what was built: it uses values around it, which must not go first."""
        for block in reversed(self.blocks):
            for operation in reversed(list(block.operations)):
                operation.operation.erase()

    def close(self) -> list[ir.Value]:
        """Return the values around the blocks that they use: the last arguments of each."""
        captured: dict[ir.Value, None] = {}
        for block in self.blocks:
            captured |= dict.fromkeys(self._bring_constants(block))
        for block in self.blocks:
            inside = {v: block.add_argument(v.type, v.location) for v in captured}
            _replace(block, inside)
        return list(captured)

    def move_to(self, op: tri.If | tri.Loop) -> None:
        """Make the blocks the bodies of an op, which has none."""
        for block, region in zip(self.blocks, op.operation.regions, strict=True):
            block.append_to(region)

    def _bring_constants(self, block: ir.Block) -> list[ir.Value]:
        """Make the constants that a block uses in it; return the other values around it."""
        captured: list[ir.Value] = []
        constants: dict[ir.Value, ir.Value] = {}
        for value in _outer_values(block):
            maker = view(value.owner) if isinstance(value, ir.OpResult) else None
            if isinstance(maker, CONSTANTS):
                with ir.InsertionPoint.at_block_begin(block):
                    constants[value] = maker.operation.clone().results[0]
                    continue
            array = self._main.evaluate(value)
            if array is None or array.nbytes > INLINE_BYTES:
                captured.append(value)
                continue
            with ir.InsertionPoint.at_block_begin(block):
                constants[value] = tri.Constant.build(value=array, loc=value.location).y
        _replace(block, constants)
        return captured


def _outer_values(block: ir.Block) -> list[ir.Value]:
    """List the values that the ops of a block use and that are not made in it."""
    inside: set[ir.Value] = set(block.arguments)
    used: dict[ir.Value, None] = {}
    for operation in block.operations:
        used |= dict.fromkeys(v for v in operation.operation.operands if v not in inside)
        inside.update(operation.operation.results)
    return list(used)


def _replace(block: ir.Block, values: Mapping[ir.Value, ir.Value]) -> None:
    """Replace values in the ops of a block."""
    for operation in block.operations:
        for index, value in enumerate(operation.operation.operands):
            if value in values:
                operation.operation.operands[index] = values[value]
