"""Inputs of a model, and the sizes and values that they are bound to."""

from typing import Any

import numpy as np
import pytest
from graphs import F32, info
from onnx import TensorProto, helper
from trivium.compiler.frontends.core import inputs
from trivium.compiler.frontends.onnx.inputs import declared_input, model_inputs
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.tensor import Tensor

INPUTS = [info("x", ["N", 3]), info("shape", [2], TensorProto.INT64)]
NAMED = {"N": 2}


def input_types(declared: Any, shapes: Any, constants: Any) -> dict[str, Tensor]:
    return inputs.input_types([declared_input(value) for value in declared], shapes, constants)


def refusal(shapes: Any = NAMED, constants: Any = None) -> CompileError:
    with pytest.raises(CompileError) as caught:
        input_types(INPUTS, shapes, constants or {})
    return caught.value


def test_sizes_come_by_the_name_of_a_dimension_or_of_an_input() -> None:
    expected = {"x": Tensor((2, 3), "f32"), "shape": Tensor((2,), "i64")}
    assert input_types(INPUTS, {"N": 2}, {}) == expected
    assert input_types(INPUTS, {"x": (2, 3)}, {}) == expected
    assert input_types([info("x", ["N"])], {"x": 5}, {}) == {"x": Tensor((5,), "f32")}


def test_an_input_without_a_shape_takes_any() -> None:
    assert input_types([info("x", None)], {"x": (4, 5)}, {}) == {"x": Tensor((4, 5), "f32")}


def test_a_dimension_without_a_name_has_that_of_its_place() -> None:
    assert input_types([info("x", [3, None])], {"x.1": 7}, {}) == {"x": Tensor((3, 7), "f32")}


def test_a_constant_gives_the_shape() -> None:
    types = input_types(INPUTS, {}, {"x": np.zeros((4, 3), np.float32)})
    assert types["x"] == Tensor((4, 3), "f32")


def test_an_unbound_dimension_is_something_to_be_known() -> None:
    error = refusal({})
    assert "x: error: input has shape Nx3, must be static" in str(error)
    assert error.needs == ("x",)


def test_names_that_the_model_does_not_have() -> None:
    error = refusal({"N": 2, "Shape": (2,)}, {"y": np.zeros(2)})
    assert "the model has no input or dimension 'Shape', did you mean 'shape'" in str(error)
    assert "the model has no input 'y', it has: x, shape" in str(error)
    assert error.needs == ()


def test_a_bound_shape_agrees_with_the_declared_one() -> None:
    assert "x: error: input is bound to shape 2x4, the model declares Nx3" in str(
        refusal({"x": (2, 4)})
    )
    assert "bound to shape 3, the model declares Nx3" in str(refusal({"x": (3,)}))
    value = np.zeros((1, 2), np.int64)
    assert "bound to shape 1x2, the model declares 2" in str(refusal(NAMED, {"shape": value}))


def test_a_dimension_is_one_size() -> None:
    assert "N: error: dimension is bound to [1, 2], must be a size" in str(refusal({"N": (1, 2)}))


def test_a_constant_has_the_declared_type() -> None:
    text = str(refusal(NAMED, {"shape": np.zeros(2, np.int32)}))
    assert "shape: error: input is bound to a value of type int32, must be" in text


def test_initializers_are_no_inputs() -> None:
    weight = helper.make_tensor("w", F32, [1], [0.0])
    graph = helper.make_graph([], "g", [info("x", [1]), info("w", [1])], [], [weight])
    assert [value.name for value in model_inputs(graph)] == ["x"]


def test_a_type_that_trivium_does_not_have() -> None:
    with pytest.raises(CompileError, match="x: error: input uses element type FLOAT8E5M2, must be"):
        input_types([info("x", [1], TensorProto.FLOAT8E5M2)], {}, {})
