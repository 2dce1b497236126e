"""The ONNX rule for maps over sequences: nodes for each element, or a loop that collects."""

from collections.abc import Sequence
from dataclasses import dataclass

import onnx

from ......dialects.core.errors import Invalid
from ......dialects.core.mlir import ir
from ....core.values import number
from ...control_flow.loops import carried_items, loop_op
from ...control_flow.unrolling import Body
from ...element_types import element_type
from ...items import Item, Sequences, TensorList
from ...registry import Node, Value, onnx_op
from .sequence import sequence_at, sequence_insert, size_of


@onnx_op("SequenceMap", since=17)
def sequence_map(
    xs: Sequences,
    *others: Value | Sequences,
    body: onnx.GraphProto,
    node: Node,
) -> tuple[Item, ...]:
    """Apply a graph to each element of sequences, which are as long as the first of them."""
    given = (xs, *others)
    empty = [_empty(output) for output in body.output]
    if all(isinstance(item, TensorList | Value) for item in given):
        lists = [item for item in given if isinstance(item, TensorList)]
        counts = {len(each.tensors) for each in lists}
        if len(counts) > 1:
            raise Invalid(f"maps sequences of {sorted(counts)} tensors, must be equally long")
        return _each(node, body, given, counts.pop(), empty)
    loop = _Map(node, body, len(empty), given)
    return loop_op(loop, None, number(size_of(xs)), None, carried_items(loop, empty))


def _empty(output: onnx.ValueInfoProto) -> TensorList:
    return TensorList((), element_type(output.type.tensor_type.elem_type))


def _each(
    node: Node, body: onnx.GraphProto, given: Sequence[Item], count: int, made: Sequence[Item]
) -> tuple[Item, ...]:
    for i in range(count):
        elements = [item.tensors[i] if isinstance(item, TensorList) else item for item in given]
        results = node.graphs.inline(body, elements, f"[{i}]")
        made = [_insert(xs, x, node) for xs, x in zip(made, results, strict=True)]
    return tuple(made)


@dataclass(frozen=True)
class _Map(Body):
    """Hold the body of a map as that of a loop, which carries the sequences that it collects."""

    given: Sequence[Item]

    def import_once(self, number: ir.Value, inputs: Sequence[Item]) -> tuple[Item, ...]:
        _, going, *made = inputs
        elements = [_element(item, number, self.node) for item in self.given]
        results = super().import_once(number, elements)
        pairs = zip(made, results, strict=True)
        return going, *(_insert(xs, x, self.node) for xs, x in pairs)


def _element(item: Item, at: ir.Value, node: Node) -> Item:
    is_list = isinstance(item, Sequences)
    return sequence_at(item, at, node=node) if is_list else item


def _insert(xs: Item, x: Item, node: Node) -> Item:
    if not isinstance(xs, Sequences) or not isinstance(x, Value):
        raise Invalid("has a body that returns a sequence or an optional, must return tensors")
    return sequence_insert(xs, x, node=node)
