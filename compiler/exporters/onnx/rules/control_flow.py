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
from .....dialects.core.tensor import Tensor
from .....dialects.tri.control_flow import UNKNOWN, fault_of
from ..graph import RULES, OnnxGraph, exports, type_info

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
    """Write a loop with a count and a condition; its body gathers the elements of scans."""
    count = op.trip_count if op.iterations == UNKNOWN else graph.sizes.scalar(op.iterations)
    condition = np.array(True) if op.condition is None else op.condition
    body = _loop_body(op, graph)
    inputs = [count, condition, *op.carried]
    graph.add("Loop", inputs, list(op.outputs), since=SINCE, body=body)


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
    made = _proto("body", body, inputs, results)
    return made


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
