"""The inputs that an ONNX graph declares."""

import onnx

from ....dialects.core.errors import Unsupported
from ..core.inputs import Input, Sizes
from .element_types import element_type


def model_inputs(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """List the inputs that a caller gives, in order: those that no initializer gives."""
    given = {tensor.name for tensor in graph.initializer}
    given |= {tensor.values.name for tensor in graph.sparse_initializer}
    return [value for value in graph.input if value.name not in given]


def declared_input(value: onnx.ValueInfoProto) -> Input:
    """Return what the graph says of an input."""
    if value.type.WhichOneof("value") != "tensor_type":
        return Input(value.name, "", None, "is not a tensor")
    try:
        dtype = element_type(value.type.tensor_type.elem_type)
    except Unsupported as error:
        return Input(value.name, "", _sizes(value), str(error))
    return Input(value.name, dtype, _sizes(value))


def _sizes(value: onnx.ValueInfoProto) -> Sizes | None:
    if not value.type.tensor_type.HasField("shape"):
        return None
    return tuple(
        d.dim_value if d.WhichOneof("value") == "dim_value" else d.dim_param or None
        for d in value.type.tensor_type.shape.dim
    )
