"""ONNX rules for control flow: what is decided at import leaves no trace in the IR."""

import onnx

from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.tensor import Array
from ....core.values import single
from ...control_flow.branches import branch
from ...control_flow.loops import carried_items, loop_op, need_iterations
from ...control_flow.scans import Scan, scan_batches
from ...control_flow.sinking import BranchesDiffer
from ...control_flow.unrolling import MOST_NODES, MOST_TRIPS, Body, trip_count, unroll
from ...items import EmptyOptional, Item
from ...registry import Node, Value, onnx_op


@onnx_op("If", since=1)
def if_(
    cond: Value, *, then_branch: onnx.GraphProto, else_branch: onnx.GraphProto, node: Node
) -> tuple[Item, ...]:
    branches = (then_branch, "/then_branch"), (else_branch, "/else_branch")
    for graph, _ in branches:
        if len(graph.output) != len(node.outputs):
            raise Invalid(f"has {len(node.outputs)} outputs, a branch has {len(graph.output)}")
    known = node.evaluate(cond)
    with node.graphs.draft() as draft:
        try:
            if known is None:
                return branch(node, cond, branches)
            graph, label = branches[0 if single(known) else 1]
            results = node.graphs.inline(graph, (), label, branch=True)
        except BranchesDiffer:
            draft.undo()
            raise
    node.graphs.name_outputs(results)
    return results


@onnx_op("Loop", since=1)
def loop(
    m: Value | None = None,
    cond: Value | None = None,
    *initial: Item,
    body: onnx.GraphProto,
    node: Node,
) -> tuple[Item | Array, ...]:
    whole = Body(node, body, len(initial))
    if len(body.output) <= len(initial):
        raise Invalid(f"has a body of {len(body.output)} outputs, and carries {len(initial)}")
    trips = trip_count(node, m)
    if trips is not None and (m is None or whole.fits(trips)):
        unrolled = unroll(whole, trips, cond, initial)
        if unrolled is not None:
            return unrolled
    if any(isinstance(value, EmptyOptional) for value in initial):
        need_iterations(whole, m, cond, "as it carries an optional")
        raise Unsupported(
            f"carries an optional through more than {MOST_TRIPS} iterations or {MOST_NODES} nodes, "
            "or through iterations that are decided at run time"
        )
    try:
        items = carried_items(whole, initial)
    except Unsupported as error:
        need_iterations(whole, m, cond, f"as it {error}")
        raise
    return loop_op(whole, trips, m, cond, items)


@onnx_op("Scan", since=8)
def scan_8(
    sequence_lens: Array | None = None,
    *given: Value,
    body: onnx.GraphProto,
    num_scan_inputs: int,
    directions: tuple[int, ...] = (),
    node: Node,
) -> tuple[Value, ...]:
    """Scan each sample of a batch by itself, along its first axis."""
    if sequence_lens is not None:
        raise Unsupported("scans sequences of several lengths, must be of one")
    scan = Scan(node, body, num_scan_inputs, (), directions)
    return scan_batches(scan, given)


@onnx_op("Scan", since=9)
def scan(
    *given: Value,
    body: onnx.GraphProto,
    num_scan_inputs: int,
    scan_input_axes: tuple[int, ...] = (),
    scan_input_directions: tuple[int, ...] = (),
    scan_output_axes: tuple[int, ...] = (),
    scan_output_directions: tuple[int, ...] = (),
    node: Node,
) -> tuple[Value, ...]:
    inputs = scan_input_axes, scan_input_directions
    outputs = scan_output_axes, scan_output_directions
    return Scan(node, body, num_scan_inputs, *inputs, *outputs).run(given)
