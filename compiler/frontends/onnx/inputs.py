"""The inputs that an ONNX graph declares."""

import onnx

from ....dialects.core.errors import Unsupported
from ..core.inputs import Input, Sizes
from .element_types import element_type
from .graph import given_names

NO_ELEMENT_TYPE = "has no element type"

UNKNOWN = -1
"""What old exporters write for a size that is not known, instead of a symbol."""


def model_inputs(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """List the inputs that a caller gives, in order: those that no initializer gives."""
    given = given_names(graph)
    return [value for value in graph.input if value.name not in given]


def declared_input(value: onnx.ValueInfoProto) -> Input:
    """Return the type that the graph declares for an input or an output."""
    if value.type.WhichOneof("value") != "tensor_type":
        return Input(value.name, "", None, "is not a tensor")
    shape = _sizes(value)
    code = value.type.tensor_type.elem_type
    if not code:
        return Input(value.name, "", shape, NO_ELEMENT_TYPE)
    try:
        dtype = element_type(code)
    except Unsupported as error:
        return Input(value.name, "", shape, str(error))
    negative = [size for size in shape or () if isinstance(size, int) and size < 0]
    fault = f"has size {negative[0]}, must be at least 0, or {UNKNOWN} for any" if negative else ""
    return Input(value.name, dtype, shape, fault)


def _sizes(value: onnx.ValueInfoProto) -> Sizes | None:
    if not value.type.tensor_type.HasField("shape"):
        return None
    return tuple(
        (None if d.dim_value == UNKNOWN else d.dim_value)
        if d.WhichOneof("value") == "dim_value"
        else d.dim_param or None
        for d in value.type.tensor_type.shape.dim
    )
