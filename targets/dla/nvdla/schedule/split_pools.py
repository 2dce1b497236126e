"""Split pools of which a row of results does not fit into the buffer of PDP."""

from typing import Any

from .....dialects.core.attributes import tensor_of
from .....dialects.core.location import inner_location
from .....dialects.core.mlir import ir
from .....dialects.core.module import Module, ops
from .....passes.core import Pass
from ...schedule.group_members import groups_of
from ..choice import NAME, Choice
from ..dialect.moves import COLUMNS, Join
from ..dialect.pools import Pdp
from .line_buffer import most_columns
from .parts import Windows, even

FULL = Choice()


class SplitPools(Pass):
    """Make several pools of one that is too wide: each computes some columns.

    %y = nvdla.pdp %x   =>   %y = nvdla.join (nvdla.pdp (nvdla.window %x)), …
    """

    target: Choice = FULL

    def run(self, module: Module) -> None:
        with module.operation.context:
            for group in groups_of(module, NAME):
                for pool in [op for op in ops(group.block) if isinstance(op, Pdp)]:
                    most = most_columns(pool, self.target.configuration)
                    if tensor_of(pool.y.type).shape[COLUMNS] > most:
                        _split(pool, most)


def _split(pool: Pdp, most: int) -> None:
    windows = Windows(pool.kernel, pool.strides, pool.pads)
    columns = tensor_of(pool.y.type).shape[COLUMNS]
    with ir.InsertionPoint(pool.operation), inner_location(pool.location):
        parts: list[ir.Value] = []
        for first, last in even(columns, most):
            x, pads = windows.part(pool.x, COLUMNS, first, last)
            attributes: dict[str, Any] = {**pool.attributes, "pads": pads}
            parts.append(Pdp.build(x, **attributes).y)
        joined = Join.build(parts, axis=COLUMNS)
    joined.operation.location = pool.location
    pool.y.replace_all_uses_with(joined.y)
    pool.operation.erase()
