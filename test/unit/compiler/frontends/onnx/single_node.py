"""Models of one node, run by the reference of each op and by ONNX Runtime."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.tensor import Array
from trivium.test.unit.compiler.frontends.onnx.reference_backend import ReferenceBackend

Operands = Sequence[Array | None]


def single_node(
    op_type: str, operands: Operands, opset: int, outputs: int = 1, **attributes: Any
) -> onnx.ModelProto:
    """Make a model of one node whose inputs are the model's; None is an absent input."""
    names = ["" if operand is None else f"x{i}" for i, operand in enumerate(operands)]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op_type, names, results, **attributes)
    inputs = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(operand.dtype), operand.shape
        )
        for name, operand in zip(names, operands, strict=True)
        if operand is not None
    ]
    untyped = [helper.make_empty_tensor_value_info(name) for name in results]
    graph = helper.make_graph([node], "single", inputs, untyped)
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    typed = onnx.shape_inference.infer_shapes(model)
    for name, result in zip(results, typed.graph.output, strict=True):
        if not result.type.tensor_type.elem_type:  # a node that shape inference cannot read
            result.CopyFrom(inputs[0])
            result.name = name
    return typed


def reference(
    op_type: str, operands: Operands, opset: int, outputs: int = 1, **attributes: Any
) -> list[Array]:
    """Run one node by the reference of the ops that it becomes."""
    model = single_node(op_type, operands, opset, outputs, **attributes)
    return ReferenceBackend.prepare(model).run([x for x in operands if x is not None])


def onnxruntime(
    op_type: str, operands: Operands, opset: int, outputs: int = 1, **attributes: Any
) -> list[Array]:
    """Run one node by ONNX Runtime."""
    import onnxruntime as ort

    model = single_node(op_type, operands, opset, outputs, **attributes)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    feeds = {f"x{i}": x for i, x in enumerate(operands) if x is not None}
    return session.run(None, feeds)


def agree(
    op_type: str,
    operands: Operands,
    opset: int,
    outputs: int = 1,
    tolerance: float = 1e-5,
    **attributes: Any,
) -> None:
    """Assert that both compute the same."""
    operands = [None if x is None else np.asarray(x) for x in operands]
    got = reference(op_type, operands, opset, outputs, **attributes)
    want = onnxruntime(op_type, operands, opset, outputs, **attributes)
    for index, (a, b) in enumerate(zip(got, want, strict=True)):
        assert (a.shape, a.dtype) == (b.shape, b.dtype), f"output {index}"
        np.testing.assert_allclose(a, b, tolerance, tolerance, err_msg=f"output {index}")


def refused(message: str, *given: Any, **attributes: Any) -> None:
    """Check that the import of a model of one node fails with a message."""
    with pytest.raises(CompileError, match=message):
        reference(*given, **attributes)
