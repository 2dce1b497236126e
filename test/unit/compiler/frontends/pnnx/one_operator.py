"""Run one operator of PNNX, and compare what comes out with torch's tensors."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from trivium.compiler.frontends.pnnx import Attribute, Graph, Parameter
from trivium.compiler.frontends.pnnx.importer import import_pnnx
from trivium.dialects.core import interpret
from trivium.dialects.core.mlir import new_context

WORDS = {"float32": "f32", "int64": "i64", "bool": "bool", "uint8": "u8", "int32": "i32"}


def call(
    type_: str,
    inputs: Sequence[Any],
    weights: Mapping[str, Any] | None = None,
    outputs: int = 1,
    slots: Sequence[str] = (),
    **parameters: Any,
) -> list[Any]:
    """Run one operator by the reference of the ops that it becomes."""
    graph = graph_of(type_, inputs, weights, outputs, slots, **parameters)
    with new_context():
        return list(interpret.run(import_pnnx(graph), [np.asarray(array) for array in inputs]))


def graph_of(
    type_: str,
    inputs: Sequence[Any],
    weights: Mapping[str, Any] | None = None,
    outputs: int = 1,
    slots: Sequence[str] = (),
    **parameters: Any,
) -> Graph:
    """Return a graph of one operator, with inputs in0, in1, … and outputs out0, out1, …"""
    graph = Graph()
    operator = graph.add_operator(type_, "op")
    for index, array in enumerate(inputs):
        operand = graph.add_operand(f"x{index}")
        operand.dtype, operand.shape = WORDS[str(np.asarray(array).dtype)], tuple(array.shape)
        graph.insert_operator_before("pnnx.Input", f"in{index}", operator).add_output(operand)
        operator.add_input(operand, slots[index] if slots else "")
    for name, array in (weights or {}).items():
        operator.attributes[name] = Attribute.of(np.asarray(array))
    for name, value in parameters.items():
        operator.parameters[name] = Parameter.of(value)
    for index in range(outputs):
        operand = graph.add_operand(f"y{index}")
        operator.add_output(operand)
        graph.add_operator("pnnx.Output", f"out{index}").add_input(operand)
    return graph


def normal(*shape: int, seed: int = 0) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def close(got: Sequence[Any], wanted: Any) -> None:
    wanted = wanted if isinstance(wanted, (tuple, list)) else [wanted]
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        want = other.detach().numpy()
        assert (one.shape, one.dtype) == (want.shape, want.dtype)
        if want.dtype.kind == "f":
            np.testing.assert_allclose(one, want, rtol=1e-4, atol=1e-5)
        else:
            np.testing.assert_array_equal(one, want)


X1, X2, X3 = normal(2, 4, 9), normal(2, 4, 9, 8), normal(2, 4, 9, 8, 7)
