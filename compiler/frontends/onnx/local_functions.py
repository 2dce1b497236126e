"""Inline the functions that a model brings along, within a budget of nodes."""

from collections.abc import Iterator, Sequence

import onnx
import onnx.checker
import onnx.inliner

from ....dialects.core.errors import CompileError, Diagnostic
from .graph import operator_domain, subgraphs, topological_order

MOST_NODES = 1_000_000
"""Calls of calls multiply: functions that call one another twice, 30 deep, are 2^30 nodes."""

_Key = tuple[str, str, str]


def inline_functions(model: onnx.ModelProto, origin: str) -> onnx.ModelProto:
    """Return a model with the bodies of its functions in place of the calls.

    Raises CompileError for functions that call themselves, and where there would be more than
    MOST_NODES nodes.
    """
    if not model.functions:
        return model
    count = _expanded_size(model, origin)
    if count > MOST_NODES:
        message = f"has over {MOST_NODES} nodes when its functions are inlined, must have fewer"
        raise CompileError([Diagnostic(origin, message)])
    try:
        return onnx.inliner.inline_local_functions(model)
    except (onnx.checker.ValidationError, ValueError, RuntimeError) as error:
        first = str(error).strip().partition("\n")[0]
        message = f"has functions that cannot be inlined: {first}"
        raise CompileError([Diagnostic(origin, message)]) from None


def _expanded_size(model: onnx.ModelProto, origin: str) -> int:
    """Return how many nodes the graph has once all calls are inlined; counts to MOST_NODES + 1."""
    index = {_key(each.domain, each.name, each): i for i, each in enumerate(model.functions)}
    called = [_called(each.node, index) for each in model.functions]
    order = topological_order([sorted({i for i in each if i is not None}) for each in called])
    if len(order) < len(called):
        name = next(each.name for i, each in enumerate(model.functions) if i not in set(order))
        raise CompileError([Diagnostic(origin, f"has function '{name}', which calls itself")])
    sizes = [0] * len(called)
    for i in order:
        sizes[i] = _sum(called[i], sizes)
    return _sum(_called(model.graph.node, index), sizes)


def _sum(called: Sequence[int | None], sizes: Sequence[int]) -> int:
    return min(sum(1 if i is None else sizes[i] for i in called), MOST_NODES + 1)


def _called(nodes: Sequence[onnx.NodeProto], index: dict[_Key, int]) -> list[int | None]:
    """Return for each node, those of subgraphs included, the function it calls, or None."""
    return [
        index.get(_key(operator_domain(node), node.op_type, node)) for node in _all_nodes(nodes)
    ]


def _all_nodes(nodes: Sequence[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    pending = list(nodes)
    while pending:
        node = pending.pop()
        yield node
        for _, graph in subgraphs(node):
            pending += graph.node


def _key(domain: str, name: str, proto: onnx.NodeProto | onnx.FunctionProto) -> _Key:
    return domain, name, proto.overload
