"""Which operators of a program are supported. No MLIR."""

from collections.abc import Iterator, Sequence

from ....dialects.core.errors import Diagnostic
from ..torch.aten import aten_refusal, aten_rule
from .control_flow import CONTROL_FLOW
from .functional import is_in_place
from .graph import Graph, ProgramNode
from .nodes import IGNORED_NODES
from .size_operators import SIZE_OPERATORS

OF_TORCH = ("aten", "prims", "higher_order", "_operator")
"""The namespaces of torch's own operators."""


def unsupported_nodes(
    nodes: Sequence[ProgramNode], is_decomposed: bool = False
) -> Iterator[Diagnostic]:
    """Yield the fault of each operator without a rule, also of those in branches and loops.

    `is_decomposed` is that of the program.
    """
    for node in nodes:
        if not _is_known(node.type):
            reason = aten_refusal(node.type) or "is not supported"
            what = f"'{node.type}' operator '{node.name}' {reason}"
            notes = [node.source, _advice(node.type, is_decomposed)]
            yield Diagnostic(node.path or node.name, what, tuple(filter(None, notes)))
        for argument in node.arguments.values():
            if isinstance(argument, Graph):
                yield from unsupported_nodes(argument.nodes, is_decomposed)


def _advice(type_: str, is_decomposed: bool) -> str:
    """Return what the user can do about an operator without a rule."""
    if type_.partition("::")[0] not in OF_TORCH:
        return f"write a rule for it, which torch_op('{type_}') registers"
    return "" if is_decomposed else "run_decompositions() of torch takes many operators apart"


def _is_known(type_: str) -> bool:
    known = type_ in SIZE_OPERATORS or type_ in IGNORED_NODES or type_ in CONTROL_FLOW
    return known or (not is_in_place(type_) and aten_rule(type_) is not None)
