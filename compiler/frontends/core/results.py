"""What rules return, as values; and the names of what they build."""

from collections.abc import Sequence
from typing import Any, cast

from ....dialects.core.errors import Diagnostic, Invalid, NeedsValue, Undecided, Unsupported
from ....dialects.core.location import node_location
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op, view


def flat_results(made: Any) -> list[Any]:
    """List what a rule returned: an op stands for its results, in a tuple for its first one."""
    if isinstance(made, Op):
        return list(made.results)
    results = cast("tuple[Any, ...]", made) if isinstance(made, tuple) else (made,)
    return [r.results[0] if isinstance(r, Op) else r for r in results]


def name_results(node: str, outputs: Sequence[str], results: Sequence[object]) -> None:
    """Give each op that makes outputs of a node the names of the source values it makes.

    Ops that were there before keep their own. Results that are no values are left alone.
    """
    pairs = zip(results, outputs, strict=False)
    named: dict[ir.Value, str] = {r: o for r, o in pairs if isinstance(r, ir.OpResult)}
    for value in named:
        op = view(value.owner)
        if op is not None and _is_unnamed(op, node):
            names = [named.get(result, "") for result in op.results]
            op.operation.location = node_location(node, names)


def _is_unnamed(op: Op, node: str) -> bool:
    location = op.location
    if not isinstance(location, ir.NameLoc):
        return False
    return location.name_str == node and isinstance(location.child_loc, ir.UnknownLoc)


def fault_diagnostic(
    where: str,
    what: str,
    fault: Invalid | Unsupported | MemoryError,
    found_of: Sequence[str] = (),
) -> Diagnostic:
    """Return what is wrong with a node, and, where a value must be known, how to give it.

    `found_of` are the inputs on which sizes that a run finds depend: with these, questions about
    sizes are decided.
    """
    if isinstance(fault, MemoryError):
        return Diagnostic(where, f"{what} needs too much memory at compile time: {fault}")
    message = f"{what} {fault}"
    inputs = fault.inputs if isinstance(fault, NeedsValue) else ()
    if isinstance(fault, Undecided):
        inputs = tuple(found_of)
    if not inputs:
        return Diagnostic(where, message)
    note = f"fix it when compiling: constants={{'{inputs[0]}': …}}"
    return Diagnostic(where, message, (note,), inputs)
