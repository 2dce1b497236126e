"""Write a `tri` module as an ONNX model."""

import os
from typing import Any

import onnx
from onnx import helper

from .... import __version__
from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import CompileError
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ..flow import Flow
from .graph import RULES, OnnxGraph, element_type

_ONNX: Any = onnx  # whose types are known in part only

LARGEST_FILE = 1 << 30
"""Weights of more bytes go to a file of their own: a protobuf cannot hold more than two GB."""


def export_onnx(module: Module) -> onnx.ModelProto:
    """Return the ONNX model of a module, checked by ONNX's checker unless it is large.

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
    large = _weight_bytes(model) > LARGEST_FILE
    weights = f"{os.path.basename(path)}.data"
    try:
        _ONNX.save(model, os.fspath(path), save_as_external_data=large, location=weights)
    except OSError as error:
        raise CompileError(f"'{os.fspath(path)}' cannot be written: {error.strerror}") from None


def _model(flow: Flow, graph: OnnxGraph) -> onnx.ModelProto:
    returned = set(flow.outputs.values())
    made = helper.make_graph(
        graph.nodes,
        "main",
        [_value_info(graph.names.of(value), value) for value in flow.inputs.values()],
        [_value_info(graph.names.outputs[name], value) for name, value in flow.outputs.items()],
        list(graph.initializers.values()),
        value_info=[
            _value_info(graph.names.of(value), value)
            for op in flow.ops
            for value in op.results
            if value not in returned
        ],
    )
    opset = helper.make_opsetid("", graph.opset)
    model = helper.make_model(
        made,
        opset_imports=[opset],
        ir_version=helper.find_min_ir_version_for([opset]),
        producer_name="trivium",
        producer_version=__version__,
    )
    if _weight_bytes(model) <= LARGEST_FILE:
        _ONNX.checker.check_model(model, full_check=True)
    return model


def _weight_bytes(model: onnx.ModelProto) -> int:
    return sum(len(tensor.raw_data) for tensor in model.graph.initializer)


def _value_info(name: str, value: ir.Value) -> onnx.ValueInfoProto:
    tensor = tensor_of(value.type)
    return helper.make_tensor_value_info(name, element_type(tensor.dtype), tensor.shape)
