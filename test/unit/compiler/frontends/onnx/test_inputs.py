"""Inputs of a model, and the sizes and values that they are bound to."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from trivium.compiler.frontends.core import bindings
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.frontends.onnx.inputs import declared_input, model_inputs
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.sizes.dim import symbol
from trivium.dialects.core.sizes.symbols import Range
from trivium.dialects.core.tensor import Tensor
from trivium.test.unit.compiler.frontends.onnx.graphs import F32, info, model, node

INPUTS = [info("x", ["N", 3]), info("shape", [2], TensorProto.INT64)]
NAMED = {"N": 2}
BATCH = Range(likely=1)


def input_types(declared: Any, shapes: Any, constants: Any) -> dict[str, Tensor]:
    found = bindings.input_types([declared_input(value) for value in declared], shapes, constants)
    return found.types


def spelled(declared: Any, shapes: Any) -> str:
    """Spell the shapes of inputs, each given as it is declared or by its sizes."""
    infos = [info(n, d) if isinstance(d, list) else d for n, d in declared.items()]
    types = input_types(infos, shapes, {}).values()
    return ", ".join(" x ".join(map(str, each.shape)) for each in types)


def ranges(declared: Any, shapes: Any) -> dict[str, str]:
    infos = [declared_input(info(name, sizes)) for name, sizes in declared.items()]
    found = bindings.input_types(infos, shapes, {}).ranges
    return {name: str(range) for name, range in found.items()}


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


def test_names_that_the_model_does_not_have() -> None:
    error = refusal({"N": 2, "Shape": (2,)}, {"y": np.zeros(2)})
    assert "the model has no input or dimension 'Shape', did you mean 'shape'" in str(error)
    assert "the model has no input 'y', it has: x, shape" in str(error)
    assert error.needs == ()


def test_none_leaves_a_size_as_the_model_declares_it() -> None:
    assert input_types(INPUTS, {"x": (2, None)}, {})["x"] == Tensor((2, 3), "f32")
    assert input_types(INPUTS, {"x": (None, 3), "N": 2}, {})["x"] == Tensor((2, 3), "f32")
    assert spelled({"x": INPUTS[0]}, {"x": (None, 3)}) == "N x 3"
    assert spelled({"x": INPUTS[0]}, {"N": None}) == "N x 3"


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
    assert list(input_types(declared, {"a": (2,), "b": (3,)}, {}).values()) == [
        Tensor((2,), "f32"),
        Tensor((3,), "f32"),
        Tensor((symbol("N", BATCH),), "f32"),
    ]


def test_a_question_mark_is_no_name() -> None:
    declared = [info("x", ["?", 3, "?"])]
    assert input_types(declared, {"x.0": 1, "x.2": 8}, {})["x"] == Tensor((1, 3, 8), "f32")
    assert input_types(declared, {"?": 4}, {})["x"] == Tensor((4, 3, 4), "f32")
    assert input_types(declared, {"x.0": 1}, {})["x"] == Tensor((1, 3, symbol("x_2")), "f32")


def test_minus_one_is_an_unknown_size() -> None:
    assert input_types([info("x", [-1, 3])], {"x": (2, 3)}, {})["x"] == Tensor((2, 3), "f32")
    with pytest.raises(CompileError, match="x: error: input has size -2, must be at least 0"):
        input_types([info("x", [-2, 3])], {}, {})


def test_inputs_of_unknown_rank_are_in_one_message_that_says_how() -> None:
    declared = [info("x", ["N", 3, "?"]), info("q", None), info("r", None)]
    with pytest.raises(CompileError) as caught:
        input_types(declared, {}, {})
    assert str(caught.value).splitlines() == [
        "q: error: input has no shape, must have a rank",
        "r: error: input has no shape, must have a rank",
        "  note: bind them: shapes={'q': (…), 'r': (…)}, or --shape q=… --shape r=…",
    ]
    assert caught.value.needs == ("q", "r")


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
    with pytest.raises(CompileError, match="x: error: input uses element type COMPLEX64, must be"):
        input_types([info("x", [1], TensorProto.COMPLEX64)], {}, {})


# -- symbols --------------------------------------------------------------------------------------


def test_a_dimension_that_nothing_binds_is_a_symbol() -> None:
    assert spelled({"x": ["N", 3, "?", -1, None]}, {}) == "N x 3 x x_2 x x_3 x x_4"
    assert spelled({"a": ["N", 3], "b": ["M", "N"]}, {"M": 2}) == "N x 3, 2 x N"


def test_names_that_are_no_identifiers_are_made_so() -> None:
    named = {"input.1": ["batch-size", "2nd", "max", "for", "?", "DynamicDimension.0"]}
    expected = "batch_size x _2nd x max_ x for_ x input_1_4 x DynamicDimension_0"
    assert spelled(named, {}) == expected


def test_names_of_words_and_places_are_made_others_and_long_ones_are_cut() -> None:
    assert spelled({"x": ["_0", "_12", "at", "at_3", "_x", "at_x"]}, {}) == (
        "_0_ x _12_ x at_ x at_3_ x _x x at_x"
    )
    assert spelled({"x": ["N" * 300, "N" * 301]}, {}) == f"{'N' * 100} x {'N' * 100}_2"


def test_names_that_are_made_are_no_others() -> None:
    named = {"x": ["a-b", "a_b", "a.b", "?", "x_3"]}
    assert spelled(named, {}) == "a_b_2 x a_b x a_b_3 x x_3_2 x x_3"
    assert spelled(named, {"a-b": 1, "a_b": 2, "a.b": 3}) == "1 x 2 x 3 x x_3_2 x x_3"
    assert spelled(named, {"a_b_2": 1, "x_3": 2}) == "1 x a_b x a_b_3 x x_3_2 x 2"


def test_names_that_are_expressions_of_symbols() -> None:
    named = {"past": ["P", 4], "ids": ["S"], "mask": ["P + S"], "half": ["(S + 1)//2"]}
    assert spelled(named, {}) == "P x 4, S, P + S, (S + 1)//2"
    assert spelled(named, {"S": 1}) == "P x 4, 1, P + 1, 1"
    assert spelled(named, {"P + S": 9}) == "P x 4, S, 9, (S + 1)//2"


def test_names_with_unknown_symbols_are_names() -> None:
    assert spelled({"mask": ["P + S"], "ids": ["S"]}, {}) == "P_S, S"
    assert spelled({"x": ["floor(S/2)"], "ids": ["S"]}, {}) == "floor_S_2, S"


def test_the_range_of_a_symbol() -> None:
    declared = {"x": ["N", 3, "H", "W"], "ids": ["N", "T"]}
    expected = {"N": "1..:1", "H": "1..:224", "W": "1..:224", "T": "1.."}
    assert ranges(declared, {}) == expected
    given = {"N": 1, "H": Range(32, 64), "T": Range(0, 512, likely=128), "x.3": Range(8, 800, 9)}
    expected = {"H": "32..64", "W": "8..800:9", "T": "0..512:128"}
    assert ranges(declared, given) == expected


def test_sizes_of_a_range_with_a_step_are_multiples() -> None:
    assert spelled({"x": ["T"]}, {"T": Range(8, 512, step=8)}) == "8*T_8"


def test_a_range_of_one_size_is_that_size() -> None:
    declared = {"x": ["N", "T"]}
    assert spelled(declared, {"N": Range(3, 3), "T": Range(5, 9, step=4)}) == "3 x 8"
    assert ranges(declared, {"N": Range(3, 3), "T": Range(5, 9, step=4)}) == {}


def test_sizes_and_ranges_agree() -> None:
    assert "x: error: input has axis 0 of size 9, must be from 1 to 8" in str(
        refusal({"x": (9, 3), "N": Range(1, 8)})
    )
    assert "x: error: input has axis 0 of ranges 1..8 and 1..9: must be one range" in str(
        refusal({"x.0": Range(1, 8), "N": Range(1, 9)})
    )


def test_a_whole_shape_names_sizes() -> None:
    declared = {"a": ["batch", "?"], "b": ["batch", None]}
    assert spelled(declared, {"a": ("N", "T"), "b": (None, "T")}) == "N x T, N x T"
    assert spelled(declared, {"a": ("N", None), "N": 4}) == "4 x a_1, 4 x b_1"
    assert spelled(declared, {"a": ("N", None), "batch": 4}) == "4 x a_1, 4 x b_1"
    assert spelled({"a": info("a", None)}, {"a": ("N", 3, None)}) == "N x 3 x a_2"
    assert spelled({"a": [7], "b": ["?"]}, {"a": ("N",), "b": ("N",)}) == "7, 7"


def test_a_symbol_has_one_name() -> None:
    declared = [info("a", ["batch"]), info("b", ["batch"])]
    with pytest.raises(CompileError, match="batch: error: dimension is named N and M, must have"):
        input_types(declared, {"a": ("N",), "b": ("M",)}, {})
