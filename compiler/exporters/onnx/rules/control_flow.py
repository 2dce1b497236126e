"""ONNX rules for branches and loops, whose bodies are graphs."""

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import helper

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import CompileError, Diagnostic
from .....dialects.core.location import describe
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Tensor, numpy_dtype
from .....dialects.tri.control_flow import UNKNOWN, fault_of
from ..graph import RULES, OnnxGraph, element_type, exports, type_info

SINCE = 19
"""The opset whose control flow takes all the element types that ours does."""


@exports(tri.If)
def if_(op: tri.If, graph: OnnxGraph) -> None:
    bodies: dict[str, onnx.GraphProto] = {}
    faults: list[Diagnostic] = []
    for name, block in zip(("then_branch", "else_branch"), op.bodies, strict=True):
        try:
            bodies[name] = _branch(name, op, block, graph)
        except CompileError as error:
            faults += error.diagnostics
    if faults:
        raise CompileError(faults)
    graph.add("If", [op.condition], list(op.outputs), since=SINCE, **bodies)


def _branch(name: str, op: tri.If, block: ir.Block, graph: OnnxGraph) -> onnx.GraphProto:
    if fault := fault_of(block):
        lacks = "has a branch that ends in 'tri.fail', which ONNX lacks"
        message = f"'{op.op_name}' op {lacks}: {fault}"
        raise CompileError([Diagnostic(describe(op.location), message)])
    body = graph.nested(block, _pairs(block.arguments, op.inputs))
    RULES.apply(body.flow, body)
    made = _proto(name, body, [], _results(body))
    return made


@exports(tri.Loop)
def loop(op: tri.Loop, graph: OnnxGraph) -> None:
    """Write a loop with a count and a condition; its body gathers the elements of scans.

    ONNX stacks all that a loop puts out: what is joined becomes what is carried, and grows.
    """
    count = op.trip_count if op.iterations == UNKNOWN else graph.sizes.scalar(op.iterations)
    condition = np.array(True) if op.condition is None else op.condition
    carried, stacked, joined = _outputs(op)
    body = _loop_body(op, graph)
    inputs = [count, condition, *op.carried, *(_empty(value, graph) for value in joined)]
    graph.add("Loop", inputs, [*carried, *joined, *stacked], since=SINCE, body=body)


def _outputs(op: tri.Loop) -> tuple[list[ir.Value], list[ir.Value], list[ir.Value]]:
    """Return the outputs that are carried, those that are stacked, and those that are joined."""
    outputs: list[ir.Value] = list(op.outputs)
    count = len(op.carried)
    last = len(outputs) - op.joined
    return outputs[:count], outputs[count:last], outputs[last:]


def _empty(joined: ir.Value, graph: OnnxGraph) -> str:
    """Add a tensor like one that is joined, of size 0 along its first axis."""
    made = tensor_of(joined.type)
    name = graph.between(joined, "empty")
    zero = np.zeros(1, numpy_dtype(made.dtype))
    shape = graph.sizes.vector((0, *made.shape[1:]))
    graph.add("Expand", [zero, shape], [name])
    return name


def _loop_body(op: tri.Loop, graph: OnnxGraph) -> onnx.GraphProto:
    block, carried, scanned = op.bodies[0], len(op.carried), len(op.scanned)
    number, *arguments = block.arguments
    elements, shared = arguments[carried:][:scanned], arguments[carried + scanned :]
    body = graph.nested(block, _pairs(shared, op.inputs), arguments[:carried])
    going = body.named("going", "i1")
    inputs = [body.value_info(number), type_info(going, Tensor((), "i1"))]
    inputs += [body.value_info(value) for value in arguments[:carried]]
    for element, x in _pairs(elements, op.scanned):
        body.add("Gather", [x, number], [element], axis=0)
    RULES.apply(body.flow, body)
    results = _results(body)
    if op.condition is None:
        still = body.named("still", "i1")
        body.add("Identity", [going], [still])
        results.insert(0, type_info(still, Tensor((), "i1")))
    if op.joined:
        stacked = len(results) - op.joined
        grown = [_grown(body, *pair) for pair in _named_last(op, results)]
        inputs += [taken for taken, _ in grown]
        results[1 + carried :] = [*(made for _, made in grown), *results[1 + carried : stacked]]
    made = _proto("body", body, inputs, results)
    return made


def _named_last(op: tri.Loop, results: Sequence[onnx.ValueInfoProto]) -> list[tuple[str, ir.Value]]:
    """Return the names of what a body puts out to be joined, each with the result."""
    last = [each.name for each in results[len(results) - op.joined :]]
    return list(zip(last, _outputs(op)[2], strict=True))


def _grown(
    body: OnnxGraph, added: str, joined: ir.Value
) -> tuple[onnx.ValueInfoProto, onnx.ValueInfoProto]:
    """Add to what was joined before; return that, and what is joined then."""
    tensor = tensor_of(joined.type)
    unsized = helper.make_tensor_type_proto(element_type(tensor.dtype), [None] * tensor.rank)
    before, after = (body.named(f"{added}.{each}", tensor.dtype) for each in ("before", "after"))
    body.add("Concat", [before, added], [after], axis=0)
    taken, made = (helper.make_value_info(name, unsized) for name in (before, after))
    return taken, made


def _results(body: OnnxGraph) -> list[onnx.ValueInfoProto]:
    """Name what a body returns: each is a value that the body makes, and no other result."""
    body.begin(None)
    made = {value for op in body.flow.ops for value in op.results}
    results: list[onnx.ValueInfoProto] = []
    for value in body.flow.returned:
        name = body.names.of(value)
        if value not in made:
            name = body.between(value, "result")
            body.add("Identity", [value], [name])
        made.discard(value)
        results.append(type_info(name, tensor_of(value.type)))
    return results


def _proto(
    name: str,
    body: OnnxGraph,
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
) -> onnx.GraphProto:
    return helper.make_graph(body.nodes, name, list(inputs), list(outputs))


def _pairs(
    values: Sequence[ir.Value], others: Sequence[ir.Value]
) -> list[tuple[ir.Value, ir.Value]]:
    return list(zip(values, others, strict=True))
