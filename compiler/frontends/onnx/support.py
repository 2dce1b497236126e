"""Find every node that cannot be imported, before any work, and report all of them at once."""

import difflib
from collections.abc import Mapping, Sequence

import onnx
import onnx.defs

from ....dialects.core.errors import CompileError, Diagnostic
from .functions import has_function
from .graph import Named, named_nodes, operator_domain, subgraphs
from .registry import HINTS, RULES, find_rule

MISSPELT = 0.85
"""How similar two names must be: `Sigmoidd` is to `Sigmoid`, and `Loop` is not to `LpPool`."""


def check_supported(nodes: Sequence[Named], opsets: Mapping[str, int]) -> None:
    """Raise one CompileError that lists all nodes without a rule and without a function body.

    Those of subgraphs are listed, too. But the branches of an `If` alone are no reason to raise:
    the condition may be known, and only the branch that it chooses is imported.
    """
    surely, perhaps = _unsupported(nodes, opsets)
    if surely:
        raise CompileError([*surely, *perhaps])


def _unsupported(
    nodes: Sequence[Named], opsets: Mapping[str, int]
) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """Return the faults of nodes that are imported, and of those in branches."""
    surely: list[Diagnostic] = []
    perhaps: list[Diagnostic] = []
    for name, node in nodes:
        if fault := _fault(name, node, opsets):
            surely.append(fault)
        for attribute, graph in subgraphs(node):
            inner = _unsupported(named_nodes(graph.node, f"{name}/{attribute}/"), opsets)
            (perhaps if node.op_type == "If" else surely).extend(inner[0])
            perhaps += inner[1]
    return surely, perhaps


def _fault(name: str, node: onnx.NodeProto, opsets: Mapping[str, int]) -> Diagnostic | None:
    domain = operator_domain(node)
    opset = opsets.get(domain, 1)
    if find_rule(domain, node.op_type, opset) or has_function(domain, node.op_type, opset):
        return None
    where = f"'{domain or 'ai.onnx'}::{node.op_type}' version {opset}"
    return Diagnostic(name, f"{where} is not supported", _near(domain, node.op_type))


def _near(domain: str, op_type: str) -> tuple[str, ...]:
    """Return what to use instead of an operator: what is known of it, or a similar name."""
    if hint := HINTS.get((domain, op_type)) or HINTS.get((domain, None)):
        return (hint,)
    if versions := RULES.get((domain, op_type)):
        known = ", ".join(str(rule.since) for rule in versions)
        return (f"supported from opset {known} on; convert the model with onnx.version_converter",)
    if onnx.defs.has(op_type, domain):
        return ()  # the name is right
    close = difflib.get_close_matches(op_type, [name for _, name in RULES], 3, MISSPELT)
    return (f"similar operators that are supported: {', '.join(close)}",) if close else ()
