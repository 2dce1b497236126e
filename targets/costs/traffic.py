"""Count the bytes that a kernel moves at least."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import ops


def moved_bytes(group: tri.Group) -> int:
    """Count the bytes of each input and output once; of gathers, the elements that they read.

    Sizes that change from run to run are the likely ones.
    """
    values = (*group.operation.operands, *group.results)
    sizes = [tensor_of(value.type).likely.size_bytes for value in values]
    arguments: dict[ir.Value, int] = {v: i for i, v in enumerate(group.block.arguments)}
    for op in ops(group.block):
        if isinstance(op, tri.Gather) and op.x in arguments:
            place = arguments[op.x]
            sizes[place] = min(sizes[place], tensor_of(op.y.type).likely.size_bytes)
    return sum(sizes)
