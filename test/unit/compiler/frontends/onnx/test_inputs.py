"""Inputs of a model, and the sizes and values that they are bound to."""

from typing import Any

import numpy as np
import pytest
from graphs import F32, info, model, node
from onnx import TensorProto, helper
from trivium.compiler.frontends.core import bindings
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.frontends.onnx.inputs import declared_input, model_inputs
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.tensor import Tensor

INPUTS = [info("x", ["N", 3]), info("shape", [2], TensorProto.INT64)]
NAMED = {"N": 2}


def input_types(declared: Any, shapes: Any, constants: Any) -> dict[str, Tensor]:
    return bindings.input_types([declared_input(value) for value in declared], shapes, constants)


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


def test_none_leaves_a_size_as_the_model_declares_it() -> None:
    assert input_types(INPUTS, {"x": (2, None)}, {})["x"] == Tensor((2, 3), "f32")
    assert input_types(INPUTS, {"x": (None, 3), "N": 2}, {})["x"] == Tensor((2, 3), "f32")
    assert "x: error: input has shape Nx3, must be static" in str(refusal({"x": (None, 3)}))
    assert "x: error: input has shape Nx3, must be static" in str(refusal({"N": None}))


def test_bindings_agree_with_the_model() -> None:
    assert "x: error: input has axis 1 of size 3 by the model, 4 by shapes['x']" in str(
        refusal({"x": (2, 4)})
    )
    value = np.zeros((3,), np.int64)
    assert "shape: error: input has axis 0 of size 2 by the model, 3 by constants['shape']" in str(
        refusal(NAMED, {"shape": value})
    )


def test_bindings_have_the_rank_of_the_model() -> None:
    expected = "x: error: input has shape Nx3 by the model, 3 by shapes['x']: must have one rank"
    assert expected in str(refusal({"x": (3,)}))
    value = np.zeros((1, 2), np.int64)
    assert "2 by the model, 1x2 by constants['shape']" in str(refusal(NAMED, {"shape": value}))


def test_bindings_agree_with_one_another() -> None:
    value = np.zeros((2, 3), np.float32)
    assert "axis 0 of size 2 by constants['x'], 1 by shapes['N']: must be one size" in str(
        refusal({"N": 1}, {"x": value})
    )
    assert "axis 0 of size 2 by shapes['x'], 1 by shapes['N']" in str(
        refusal({"N": 1, "x": (2, 3)})
    )
    assert "axis 0 of size 2 by shapes['x'], 1 by shapes['x.0']" in str(
        refusal({"x.0": 1, "x": (2, 3)})
    )
    assert "4 by shapes['x'], 3 by constants['x']: must be one size" in str(
        refusal({"x": (2, 4)}, {"x": value})
    )


def test_a_symbol_is_the_same_size_on_all_inputs() -> None:
    declared = [info("a", ["N", "M"]), info("b", ["N", 5])]
    types = input_types(declared, {"a": (2, 7)}, {})
    assert types == {"a": Tensor((2, 7), "f32"), "b": Tensor((2, 5), "f32")}


def test_a_symbol_that_has_two_sizes_gives_none_to_a_third() -> None:
    declared = [info("a", ["N"]), info("b", ["N"]), info("c", ["N"])]
    with pytest.raises(CompileError, match="c: error: input has shape N, must be static"):
        input_types(declared, {"a": (2,), "b": (3,)}, {})


def test_a_question_mark_is_no_name() -> None:
    declared = [info("x", ["?", 3, "?"])]
    assert input_types(declared, {"x.0": 1, "x.2": 8}, {})["x"] == Tensor((1, 3, 8), "f32")
    assert input_types(declared, {"?": 4}, {})["x"] == Tensor((4, 3, 4), "f32")
    with pytest.raises(CompileError, match="input has shape 1x3x\\?, must be static"):
        input_types(declared, {"x.0": 1}, {})


def test_minus_one_is_an_unknown_size() -> None:
    assert input_types([info("x", [-1, 3])], {"x": (2, 3)}, {})["x"] == Tensor((2, 3), "f32")
    with pytest.raises(CompileError, match="x: error: input has size -2, must be at least 0"):
        input_types([info("x", [-2, 3])], {}, {})


def test_all_sizes_to_be_bound_are_in_one_message_that_says_how() -> None:
    declared = [info("x", ["N", 3, "?"]), info("m", ["N", "unk__7"]), info("r", None)]
    with pytest.raises(CompileError) as caught:
        input_types(declared, {}, {})
    assert str(caught.value).splitlines() == [
        "x: error: input has shape Nx3x?, must be static",
        "m: error: input has shape Nxunk__7, must be static",
        "r: error: input has no shape, must be static",
        "  note: N is axis 0 of 'x', axis 0 of 'm'",
        "  note: unk__7 is axis 1 of 'm'",
        "  note: bind them: shapes={'N': …, 'x.2': …, 'unk__7': …, 'r': …}, "
        "or --shape N=… --shape x.2=… --shape unk__7=… --shape r=…",
    ]
    assert caught.value.needs == ("x", "m", "r")
    types = input_types(declared, {"N": 2, "x.2": 5, "unk__7": 4, "r": (6,)}, {})
    assert [types[name].shape for name in "xmr"] == [(2, 3, 5), (2, 4), (6,)]


def test_an_input_that_no_machine_can_hold() -> None:
    with new_context(), pytest.raises(CompileError, match="must have at most 2\\^47 bytes"):
        import_onnx(model([node("Relu", "x")], {"x": [1 << 40, 1 << 40]}))
    with new_context(), pytest.raises(CompileError, match="rank 70, must be at most 64"):
        import_onnx(model([node("Relu", "x")], {"x": [1] * 70}))


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
