"""ONNX rules for control flow: what is decided at import leaves no trace in the IR."""

import onnx

from .....dialects.core.errors import Invalid, Unsupported
from .....dialects.core.tensor import Array
from ...core.values import single
from ..items import Item
from ..loops import Body, check_unrolled, trip_count, unroll
from ..registry import Node, Value, onnx_op
from ..scans import Scan, scan_batches


@onnx_op("If", since=1)
def if_(
    cond: Value, *, then_branch: onnx.GraphProto, else_branch: onnx.GraphProto, node: Node
) -> tuple[Item, ...]:
    chosen = single(node.graphs.known(cond, "input 'cond'"))
    branch, label = (then_branch, "/then_branch") if chosen else (else_branch, "/else_branch")
    if len(branch.output) != len(node.outputs):
        raise Invalid(f"has {len(node.outputs)} outputs, its branch has {len(branch.output)}")
    results = node.graphs.inline(branch, (), label)
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
    trips = trip_count(node, m)
    unrolled = None if trips is None else unroll(whole, trips, cond, initial)
    if unrolled is not None:
        return unrolled
    for value, what in ((m, "input 'M'"), (cond, "input 'cond'")):
        if value is not None:
            node.graphs.known(value, what)
    check_unrolled(initial)
    raise Unsupported("ends by a condition that its body computes from inputs of the model")


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
