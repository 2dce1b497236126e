"""Find the groups that depend on no input, and plan the memory of what they compute.

They run once, when the package is loaded.
"""

from collections.abc import Callable, Sequence

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, direct_ops
from ...dialects.core.op import Op
from ...runtime.contents import PROCESS
from ..memory.arena import Interval
from ..memory.values import VIEWS, read_memory
from ..symbolic import has_symbols
from .calls import Call

Root = Callable[[ir.Value], ir.Value]
"""Return the value whose memory a value is a view of."""


def load_groups(module: Module) -> set[Op]:
    """Return the groups of a placed module that depend on constants alone, in the host's memory.

    Those of bodies are among them. What depends on symbols is not known when a package is loaded.
    """
    known: set[ir.Value] = set()
    found: set[Op] = set()
    for op in (op for block in tri.run_blocks(module.main) for op in direct_ops(block)):
        if not known.issuperset(op.operation.operands) or has_symbols(op):
            continue
        if isinstance(op, tri.Group) and read_memory(op) == PROCESS:
            found.add(op)
        elif not isinstance(op, (tri.Constant, tri.Weight, *VIEWS)):
            continue
        known.update(op.results)
    return found


def load_intervals(
    load: Sequence[Call], run: Sequence[Call], outputs: Sequence[ir.Value], root: Root
) -> list[Interval]:
    """Return the intervals of what load calls compute and need; a run finds what it reads."""
    kept = {root(value) for value in (*outputs, *(v for call in run for v in call.operands))}
    last = {root(value): step for step, call in enumerate(load) for value in call.operands}
    intervals: list[Interval] = []
    for step, call in enumerate(load):
        for value in call.results:
            end = len(load) if value in kept else last.get(value, step)
            intervals.append(Interval(value, tensor_of(value.type).size_bytes, step, end))
        for index, scratch in enumerate(call.scratch):
            intervals.append(Interval((step, index), scratch.tensor.size_bytes, step, step))
    return intervals
