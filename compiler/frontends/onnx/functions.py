"""Function bodies: ONNX defines many operators in terms of simpler ones; expand those."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import onnx
import onnx.defs


@dataclass(frozen=True)
class FunctionBody:
    """Hold the nodes of one expanded node, with attribute references resolved."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[onnx.NodeProto, ...]
    opsets: dict[str, int]


def has_function(domain: str, op_type: str, opset: int) -> bool:
    """Return whether ONNX defines an operator by a function body."""
    schema = find_schema(domain, op_type, opset)
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def expand_function(
    node: onnx.NodeProto, types: Sequence[onnx.TypeProto | None], opset: int
) -> FunctionBody | None:
    """Return the body that ONNX gives for a node with these input types, or None."""
    schema = find_schema(node.domain, node.op_type, opset)
    if schema is None:
        return None
    function = _body(schema, node, types, opset)
    if function is None:
        return None
    given = {a.name: a for a in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in given and attribute.default_value.name:
            given[name] = attribute.default_value
    return FunctionBody(
        tuple(function.input),
        tuple(function.output),
        tuple(_resolve(body, given) for body in function.node),
        {o.domain: o.version for o in function.opset_import},
    )


def find_schema(domain: str, op_type: str, opset: int) -> Any:
    """Return ONNX's schema of an operator at an opset version, None where it has none."""
    # onnx's stubs lack the function accessors of a schema.
    try:
        return onnx.defs.get_schema(op_type, opset, domain)
    except onnx.defs.SchemaError:
        return None


def _body(
    schema: Any,
    node: onnx.NodeProto,
    types: Sequence[onnx.TypeProto | None],
    opset: int,
) -> onnx.FunctionProto | None:
    data: bytes = b""
    if schema.has_context_dependent_function:
        serialized = [(t or onnx.TypeProto()).SerializeToString() for t in types]
        data = schema.get_context_dependent_function_with_opset_version(
            opset, node.SerializeToString(), serialized
        )
    elif schema.has_function:
        data = schema.get_function_with_opset_version(opset)
    return onnx.FunctionProto.FromString(data) if data else None


def _resolve(node: onnx.NodeProto, given: dict[str, onnx.AttributeProto]) -> onnx.NodeProto:
    """Copy a body node with its references to the function's attributes filled in.

    Those of the nodes in its subgraphs are, too.
    """
    resolved = onnx.NodeProto()
    resolved.CopyFrom(node)
    del resolved.attribute[:]
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            resolved.attribute.append(attribute)
            graph = resolved.attribute[-1].g
            inner = [_resolve(each, given) for each in graph.node]
            if inner:
                del graph.node[:]
                graph.node.extend(inner)
        elif attribute.ref_attr_name in given:
            copy = resolved.attribute.add()
            copy.CopyFrom(given[attribute.ref_attr_name])
            copy.name = attribute.name
    return resolved
