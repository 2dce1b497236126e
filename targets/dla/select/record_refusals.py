"""Keep what an accelerator says of nodes that it does not take, whatever becomes of their ops."""

from ....dialects import tri
from ....dialects.core.location import node_names
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, functions, ops
from ....dialects.core.op import Op
from ....dialects.dla.dialect import TensorOp
from ....passes.core import Pass
from .select_dla import REFUSAL

REFUSALS = "dla.refusals"
"""The attribute of a function that has, by the names of nodes, why they were refused."""

UNQUANTIZED = "dla.unquantized"
"""The attribute of a function that has no quantised numbers."""

QUANTIZED = (TensorOp, tri.Quantize, tri.Dequantize, tri.Requantize, tri.StorageCast)
"""Ops that only a quantised model has."""


class RecordRefusals(Pass):
    """Note on the function, by node, why ops were refused: they are about to be taken apart.

    func @f { tri.requantize … {dla.refusal = "vanilla: …"} loc("conv") }
        =>   func @f attributes {dla.refusals = {conv = "vanilla: …"}} { … }

    A function of floats alone gets the attribute `dla.unquantized`.
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
                if not any(isinstance(op, QUANTIZED) for op in ops(function)):
                    function.attributes[UNQUANTIZED] = ir.UnitAttr.get()


def recorded_refusal(op: Op) -> str | None:
    """Return why an op was refused, or the node that it is of; None where nobody said so."""
    if REFUSAL in op.operation.attributes:
        return str(op.operation.attributes[REFUSAL].value)
    function = _function_of(op)
    if function is None or REFUSALS not in function.attributes:
        return None
    known = ir.DictAttr(function.attributes[REFUSALS])
    found = [str(known[node].value) for node in node_names(op.location) if node in known]
    return found[-1] if found else None


def is_unquantized(op: Op) -> bool:
    """Report whether an op is of a model that is not quantised at all."""
    function = _function_of(op)
    return function is not None and UNQUANTIZED in function.attributes


def _function_of(op: Op) -> ir.Operation | None:
    function = op.operation.parent
    while function is not None and function.name != "func.func":
        function = function.operation.parent
    return None if function is None else function.operation
