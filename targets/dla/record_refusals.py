"""Keep what an accelerator says of nodes that it does not take, whatever becomes of their ops."""

from ...dialects.core.location import node_names
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, functions, ops
from ...dialects.core.op import Op
from ...passes.core import Pass
from .select_dla import REFUSAL

REFUSALS = "dla.refusals"
"""The attribute of a function that has, by the names of nodes, why they were refused."""


class RecordRefusals(Pass):
    """Note on the function, by node, why ops were refused: they are about to be taken apart.

    func @f { tri.requantize … {dla.refusal = "vanilla: …"} loc("conv") }
        =>   func @f attributes {dla.refusals = {conv = "vanilla: …"}} { … }
    """

    def run(self, module: Module) -> None:
        with module.operation.context:
            for function in functions(module.operation):
                found: dict[str, ir.Attribute] = {}
                for op in ops(function):
                    if REFUSAL in op.operation.attributes:
                        reason = op.operation.attributes[REFUSAL]
                        found.update(dict.fromkeys(node_names(op.location), reason))
                if found:
                    function.attributes[REFUSALS] = ir.DictAttr.get(found)


def recorded_refusal(op: Op) -> str | None:
    """Return why an op was refused, or the node that it is of; None where nobody said so."""
    if REFUSAL in op.operation.attributes:
        return str(op.operation.attributes[REFUSAL].value)
    function = op.operation.parent
    while function is not None and function.name != "func.func":
        function = function.operation.parent
    if function is None or REFUSALS not in function.operation.attributes:
        return None
    known = ir.DictAttr(function.operation.attributes[REFUSALS])
    found = [str(known[node].value) for node in node_names(op.location) if node in known]
    return found[-1] if found else None
