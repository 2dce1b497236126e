"""Update states in place: a run writes the new rows of a cache, and copies none."""

from ....dialects import cpu
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.states.declared import states_of
from ....passes.core import Pass
from ...program.in_place import find_scatter

CPU = "cpu"


class ScatterInPlace(Pass):
    """Scatter rows in place where the result is the next value of an input, which is dead by then.

    func.func @main(%past, …) attributes {trivium.state = {present = "past"}} {
      %present = tri.group %past, … { tri.tensor_scatter %past, … }
        =>   %present = tri.group %past, … { cpu.tensor_scatter %past, … }
    """

    def run(self, module: Module) -> None:
        for state in states_of(module):
            found = find_scatter(state)
            if isinstance(found, str):
                continue
            group, scatter = found
            if group.target != CPU:
                continue
            with ir.InsertionPoint(scatter.operation), scatter.location:
                operands = (scatter.x, scatter.updates, scatter.starts, scatter.counts)
                made = cpu.TensorScatter.build(*operands, **scatter.attributes)
            scatter.y.replace_all_uses_with(made.y)
            scatter.operation.erase()
