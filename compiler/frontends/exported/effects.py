"""Drop the tokens that order operators with effects in a decomposed program. No MLIR.

with_effects(token, operator, …) -> token, result   =>   operator(…) -> result
"""

from collections.abc import Iterator
from dataclasses import replace

from .graph import Program, ProgramNode, Result

TOKEN = "token"
"""The kind of inputs and outputs that are tokens."""

CALL = "higher_order::with_effects"
"""The operator that calls another one: it takes a token, the operator, and its operands."""


def without_effects(program: Program) -> Program:
    """Return a program without tokens; one that has none is returned as it is.

    An operator with an effect is in its place, as any other: nodes are in order. Those of its
    arguments that torch does not name there have numbers in the place of names.
    """
    if not any(node.type == CALL for node in program.nodes):
        return program
    return replace(
        program,
        inputs=[port for port in program.inputs if port.kind != TOKEN],
        outputs=[port for port in program.outputs if port.kind != TOKEN],
        nodes=[_called(node) if node.type == CALL else node for node in program.nodes],
    )


def _called(node: ProgramNode) -> ProgramNode:
    """Return the operator that a node calls for its effect."""
    (_, operator), operands = list(node.arguments.values())[:2], list(node.arguments.items())[2:]
    arguments = {_key(key): each for key, each in operands}
    results = list(_results(node))
    return replace(node, type=str(operator), arguments=arguments, results=results)


def _key(key: str) -> str:
    """Return a name as it is, and the number of an operand without those of token and operator."""
    return str(int(key) - 2) if key.isdecimal() else key


def _results(node: ProgramNode) -> Iterator[Result]:
    """Yield the results of an operator, without the token and without those that are none."""
    for result in node.results[1:]:
        if any(result.names):
            yield result
