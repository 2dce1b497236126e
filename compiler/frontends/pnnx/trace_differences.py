"""Constants in which two traces of a module differ: sizes that tracing took for numbers.

    aten::arange(8) of one example is aten::arange(12) of another: int(x.shape[1]) was computed

Nothing here imports torch: graphs of TorchScript are walked node by node.
"""

from collections.abc import Iterator
from typing import Any

from ....dialects.core.errors import CompileError, Diagnostic

MOST = 8
"""No more differences than this are listed."""

ADVICE = (
    "a trace has numbers for int(), float(), item() and shapes of numpy: compute with x.shape, or "
    "give the axis one size"
)


def refuse_differences(first: Any, second: Any) -> None:
    """Raise CompileError that lists the nodes whose constants differ between two traced graphs."""
    faults: dict[Diagnostic, None] = {}
    pairs = zip(_nodes(first), _nodes(second), strict=False)
    for one, other in pairs:
        if one.kind() != other.kind():
            message = f"'{one.kind()}' node is '{other.kind()}' for other sizes, must be the same"
            raise CompileError([_diagnostic(one, message)])
        if one.kind() == "prim::Constant" and not _same(one, other):
            user = _user(one)
            both = f"{_spelled(one)}, and with {_spelled(other)} for other sizes"
            message = f"'{user.kind()}' node is traced with {both}, must be the same"
            faults[_diagnostic(user, message)] = None
    if faults:
        raise CompileError(list(faults)[:MOST])
    if len(list(_nodes(first))) != len(list(_nodes(second))):
        raise CompileError("the module has more nodes for other sizes, must have the same")


def _nodes(graph: Any) -> Iterator[Any]:
    for node in graph.nodes():
        yield node
        for block in node.blocks():
            yield from _nodes(block)


def _same(one: Any, other: Any) -> bool:
    a, b = _value(one), _value(other)
    if hasattr(a, "numpy") and hasattr(b, "numpy"):
        return a.dtype == b.dtype and a.shape == b.shape and bool(((a == b) | (a != a)).all())
    return type(a) is type(b) and (a == b or a != a)


def _value(node: Any) -> Any:
    return node.output().toIValue()


def _spelled(node: Any) -> str:
    value = _value(node)
    if not hasattr(value, "numpy"):
        return str(value)
    return str(value.item()) if not value.shape else f"a tensor of shape {list(value.shape)}"


def _user(node: Any) -> Any:
    """Return the node that computes with a constant, beyond lists that it is in."""
    while True:
        uses: list[Any] = node.output().uses() if node.outputsSize() == 1 else []
        if not uses:
            return node
        user: Any = uses[0].user
        if user.kind() != "prim::ListConstruct":
            return user
        node = user


def _diagnostic(node: Any, message: str) -> Diagnostic:
    """Name a node by the module that it is in and by its line, where the trace has them."""
    line = next(iter(node.sourceRange().strip().splitlines()), "")
    scope = node.scopeName().rpartition("__module.")[2]
    notes = tuple(f"at {place}" for place in (line,) if place)
    return Diagnostic(scope, message, (*notes, ADVICE))
