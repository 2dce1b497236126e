"""ONNX rules for operators that work element by element."""

from ....dialects import tri
from .rules import Value, onnx_op


@onnx_op("Relu", since=1)
def relu(x: Value) -> tri.Relu:
    return tri.Relu.build(x)


@onnx_op("Add", since=7)
def add(a: Value, b: Value) -> tri.Add:
    return tri.Add.build(a, b)


@onnx_op("Sqrt", since=1)
def sqrt(x: Value) -> tri.Sqrt:
    return tri.Sqrt.build(x)
