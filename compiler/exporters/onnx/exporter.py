"""Write a `tri` module as an ONNX model."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
from onnx import helper
from onnx.external_data_helper import set_external_data

from ....dialects.core.attributes import tensor_of
from ....dialects.core.files import replaced_file, write_file
from ....dialects.core.module import Module
from ....dialects.core.tensor import Array, Tensor
from ....version import __version__
from ..flow import Flow
from . import rules as rules
from .graph import RULES, OnnxGraph, element_type, type_info

_ONNX: Any = onnx  # whose types are known in part only

LARGEST_CHECKED = 1 << 12
"""Weights of more bytes have no influence on the shapes of others."""

LARGEST_FILE = 1 << 30
"""Weights of more bytes go to a file of their own: a protobuf cannot hold more than two GB."""


def export_onnx(module: Module) -> onnx.ModelProto:
    """Return the ONNX model of a module, which ONNX's checker has seen.

    Inputs and outputs keep their names, nodes and values those of their sources. Raises
    CompileError with all ops that ONNX does not have.
    """
    flow = Flow(module)
    graph = OnnxGraph(flow)
    RULES.apply(flow, graph)
    for name, value in flow.outputs.items():
        graph.add_output(graph.names.outputs[name], value)
    return _model(flow, graph)


def save_onnx(module: Module, path: str | os.PathLike[str]) -> None:
    """Write the ONNX model of a module; weights of more than 1 GB go to a file beside it.

    Raises CompileError when ONNX lacks ops, or the file cannot be written.
    """
    model = export_onnx(module)
    if _weight_bytes(model) > LARGEST_FILE:
        _save_in_two(model, Path(path))
    else:
        write_file(path, model.SerializeToString())


def _save_in_two(model: onnx.ModelProto, path: Path) -> None:
    """Write the weights to a file beside the model; they are moved out of the model."""
    beside = path.with_name(f"{path.name}.data")
    with replaced_file(beside) as file:
        for tensor in model.graph.initializer:
            size = len(tensor.raw_data)
            set_external_data(tensor, beside.name, offset=file.tell(), length=size)
            file.write(tensor.raw_data)
            tensor.ClearField("raw_data")
        write_file(path, model.SerializeToString())


def _model(flow: Flow, graph: OnnxGraph) -> onnx.ModelProto:
    """Put the model together; the checker sees it with large weights as inputs, which is cheap."""
    large = {n: a for n, a in graph.initializers.items() if a.nbytes > LARGEST_CHECKED}
    skeleton = _without_weights(flow, graph, large)
    model = _without_weights(flow, graph, {})
    for name, array in graph.initializers.items():
        _store(model, name, array)
        if name not in large:
            _store(skeleton, name, array)
    _ONNX.checker.check_model(skeleton, full_check=True)
    return model


def _without_weights(
    flow: Flow, graph: OnnxGraph, more_inputs: Mapping[str, Array]
) -> onnx.ModelProto:
    returned = set(flow.outputs.values())
    inner = [value for op in flow.ops for value in op.results if value not in returned]
    made = helper.make_graph(
        graph.nodes,
        "main",
        [
            *(graph.value_info(value) for value in flow.inputs.values()),
            *(type_info(name, Tensor.of(array)) for name, array in more_inputs.items()),
        ],
        [
            type_info(graph.names.outputs[name], tensor_of(value.type))
            for name, value in flow.outputs.items()
        ],
        value_info=[graph.value_info(value) for value in inner],
    )
    opsets = [helper.make_opsetid(domain, version) for domain, version in graph.opsets.items()]
    return helper.make_model(
        made,
        opset_imports=opsets,
        ir_version=helper.find_min_ir_version_for(opsets, ignore_unknown=True),
        producer_name="trivium",
        producer_version=__version__,
    )


def _store(model: onnx.ModelProto, name: str, array: Array) -> None:
    """Add a weight where it will stay: helpers of ONNX copy it twice more."""
    tensor = model.graph.initializer.add()
    tensor.name = name
    tensor.dims.extend(array.shape)
    tensor.data_type = element_type(Tensor.of(array).dtype)
    if array.dtype == object:
        tensor.string_data.extend(text.encode() for text in array.reshape(-1))
        return
    tensor.raw_data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _weight_bytes(model: onnx.ModelProto) -> int:
    return sum(len(tensor.raw_data) for tensor in model.graph.initializer)
