"""What the importer makes of whole models: good ones, odd ones and broken ones."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import helper, numpy_helper
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.frontends.onnx.registry import RULES
from trivium.dialects.core import interpret
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.location import node_names, value_names
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, declared, ops
from trivium.dialects.core.sizes.symbols import Range
from trivium.test.unit.compiler.frontends.onnx.graphs import array, info, model, node
from trivium.test.unit.compiler.frontends.onnx.reference_backend import ReferenceBackend


@pytest.fixture(autouse=True)
def _context() -> Iterator[None]:
    with new_context():
        yield


def refusal(source: Any, **bindings: Any) -> str:
    with pytest.raises(CompileError) as caught:
        import_onnx(source, **bindings)
    return str(caught.value)


def run(source: Any, *inputs: Any, **bindings: Any) -> Any:
    (result,) = interpret.run(import_onnx(source, **bindings), inputs)
    return result


# -- what is refused --------------------------------------------------------------------------


def lose_rules(monkeypatch: pytest.MonkeyPatch, *op_types: str) -> None:
    """Let operators of ONNX be unsupported, as none is."""
    for op_type in op_types:
        monkeypatch.delitem(RULES, ("", op_type))


def test_all_unsupported_nodes_are_reported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lose_rules(monkeypatch, "Det", "StringNormalizer")
    nodes = [
        node("Det", "x", "a", name="eye"),
        node("Relu", "a", "b"),
        node("StringNormalizer", "b", "c"),
        helper.make_node("Wobble", ["c"], ["y"], domain="com.acme"),
    ]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.acme", 3)]
    text = refusal(model(nodes, {"x": [2]}, opset_imports=opsets))
    assert "eye: error: 'ai.onnx::Det' version 21 is not supported" in text
    assert "StringNormalizer#2: error: 'ai.onnx::StringNormalizer'" in text
    assert "Wobble#3: error: 'com.acme::Wobble' version 3 is not supported" in text
    assert "Relu" not in text


def test_an_operator_that_nearly_exists_gets_a_hint() -> None:
    wrong = helper.make_node("Sigmoidd", ["x"], ["y"], domain="d")
    made = model([wrong], {"x": [2]}, opset_imports=[helper.make_opsetid("d", 1)])
    assert "similar operators that are supported: Sigmoid" in refusal(made)


def test_an_operator_whose_name_is_right_gets_no_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    lose_rules(monkeypatch, "StringSplit")
    split = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
    g (string[2] x) => (string[2, n] y, int64[2] z) {
        y, z = StringSplit (x)
    }""")
    assert (
        refusal(split) == "StringSplit#0: error: 'ai.onnx::StringSplit' version 21 is not supported"
    )


def test_a_name_that_is_like_no_other_gets_no_hint() -> None:
    wrong = helper.make_node("Wobble", ["x"], ["y"], domain="d")
    made = model([wrong], {"x": [2]}, opset_imports=[helper.make_opsetid("d", 1)])
    assert "similar" not in refusal(made)


def test_unbound_dimensions_are_symbols() -> None:
    made = model([node("Add", "a b")], {"a": ["N", 3], "b": ["M", 1, 1]})
    text = str(import_onnx(made, shapes={"N": Range(2, 8, likely=4)}))
    assert '%arg0: tensor<?x3xf32, ["N", ""]>, %arg1: tensor<?x1x1xf32, ["M", "", ""]>' in text
    assert '-> tensor<?x?x3xf32, ["M", "N", ""]>' in text
    assert 'trivium.symbols = {M = "1..:1", N = "2..8:4"}' in text


def test_a_dimension_is_bound_by_name_and_an_input_by_its_own() -> None:
    made = model([node("Add", "a b")], {"a": ["N", 3], "b": ["M", 3]})
    module = import_onnx(made, shapes={"N": 2, "b": (1, 3)})
    assert "tensor<2x3xf32>, %arg1: tensor<1x3xf32>" in str(module)


def test_dimensions_without_a_name_are_called_by_input_and_axis() -> None:
    made = model([node("Relu", "x")], {"x": info("x", [None, 3])})
    assert 'tensor<?x3xf32, ["x_0", ""]>' in str(import_onnx(made))
    assert "tensor<5x3xf32>" in str(import_onnx(made, shapes={"x.0": 5}))


def test_an_attribute_that_the_operator_lacks_is_an_error() -> None:
    assert "slope" in refusal(model([node("LeakyRelu", "x", slope=0.1)], {"x": [2]}))


def test_a_missing_attribute_is_an_error() -> None:
    assert "axis" in refusal(model([node("Concat", "x x")], {"x": [2]}))


def test_a_value_that_nothing_defines_is_an_error() -> None:
    assert "nowhere" in refusal(model([node("Add", "x nowhere")], {"x": [2]}))


def test_too_many_inputs_are_an_error() -> None:
    assert refusal(model([node("Relu", "x x")], {"x": [2]}))


def test_a_rank_that_depends_on_an_input_names_the_input() -> None:
    made = model(
        [node("Cast", "s", "t", to=onnx.TensorProto.INT64), node("Squeeze", "x t", name="view")],
        {"x": [6, 1, 1], "s": ["K"]},
    )
    text = refusal(made)
    assert text.startswith(
        "view: error: 'Squeeze' node needs the number of elements of a list of sizes"
    )
    np.testing.assert_array_equal(
        run(made, array(6, 1, 1), constants={"s": np.array([2, 1], np.float32)}),
        array(6, 1, 1)[:, 0, 0],
    )


def test_operands_that_do_not_fit_name_the_node() -> None:
    text = refusal(model([node("Add", "a b", name="plus")], {"a": [2], "b": [3]}))
    assert text == "plus: error: 'Add' node shapes 2 and 3 do not broadcast"


def test_element_types_that_tri_lacks_are_named() -> None:
    text = refusal(model([node("Cast", "x", to=onnx.TensorProto.FLOAT6E2M3)], {"x": [2]}))
    assert "Cast#0: error: 'Cast' node uses element type FLOAT6E2M3, must be one of f64" in text


@pytest.mark.parametrize("source", [b"", b"\x08\x07 not a model", "/nonexistent/model.onnx"])
def test_what_is_no_model_is_refused(source: Any) -> None:
    assert refusal(source)


# -- names and places -------------------------------------------------------------------------


def made_names(module: Module) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(node_names(op.location), value_names(op.location)) for op in ops(module.operation)]


def test_ops_are_named_after_their_nodes_and_values() -> None:
    nodes = [node("Relu", "x", "a"), node("Neg", "a", "y", name="minus")]
    assert made_names(import_onnx(model(nodes, {"x": [2]}))) == [
        (("Relu#0",), ("a",)),
        (("minus",), ("y",)),
    ]


def test_only_the_op_that_makes_the_value_carries_its_name() -> None:
    module = import_onnx(model([node("Mean", "a b", "y", name="m")], {"a": [2], "b": [2]}))
    constant, add, divide = made_names(module)
    assert constant == add == (("m",), ())
    assert divide == (("m",), ("y",))


def test_each_result_has_the_name_of_its_output() -> None:
    made = model([node("Split", "x", "a b", num_outputs=2)], {"x": [4]}, ["a", "b"])
    assert made_names(import_onnx(made))[0][1] == ("a", "b")


def test_inputs_and_outputs_keep_their_names() -> None:
    module = import_onnx(model([node("Sub", "p q")], {"p": [2], "q": [2]}))
    assert declared(module.main, "inputs", 2) == ["p", "q"]
    assert declared(module.main, "outputs", 1) == ["y"]


def test_an_input_may_be_an_output() -> None:
    x = array(2)
    np.testing.assert_array_equal(run(model([], {"y": [2]}), x), x)


# -- constants and weights --------------------------------------------------------------------


def test_small_initializers_are_in_the_ir_and_large_ones_beside_it() -> None:
    initializers = {"small": array(8), "large": array(64, 8)}
    nodes = [node("Add", "x small", "a"), node("Add", "a large", "y")]
    made = model(nodes, {"x": [8]}, initializers=initializers)
    module = import_onnx(made)
    assert list(module.weights) == ["large"]
    np.testing.assert_array_equal(run(made, array(8)), array(8) + array(8) + array(64, 8))


def test_large_constants_of_nodes_are_weights() -> None:
    value = numpy_helper.from_array(array(64, 8))
    nodes = [node("Constant", "", "c", value=value), node("Add", "x c")]
    module = import_onnx(model(nodes, {"x": [8]}))
    assert list(module.weights) == ["c"]
    assert made_names(module)[0] == (("Constant#0",), ("c",))


def test_an_initializer_that_is_also_an_input_is_a_constant() -> None:
    made = model([node("Add", "x w")], {"x": [2], "w": [2]}, initializers={"w": array(2, seed=1)})
    module = import_onnx(made)
    assert declared(module.main, "inputs", 1) == ["x"]
    np.testing.assert_array_equal(run(made, array(2)), array(2) + array(2, seed=1))


def test_an_initializer_that_nothing_uses_leaves_no_trace() -> None:
    made = model([node("Relu", "x")], {"x": [2]}, initializers={"idle": array(9999)})
    assert not import_onnx(made).weights


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ({"value_int": 3}, np.array(3)),
        ({"value_ints": [3, 4]}, np.array([3, 4])),
        ({"value_float": 0.5}, np.array(0.5, np.float32)),
        ({"value_floats": [0.5]}, np.array([0.5], np.float32)),
        ({"value": numpy_helper.from_array(np.array([True]))}, np.array([True])),
    ],
)
def test_every_form_of_constant(attribute: dict[str, Any], expected: np.ndarray) -> None:
    got = run(model([node("Constant", "", **attribute)], {}))
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("indices", [np.array([1, 5]), np.array([[0, 1], [1, 2]])])
def test_sparse_constants_are_written_out(indices: np.ndarray) -> None:
    values = numpy_helper.from_array(np.array([3.0, 4.0], np.float32), "v")
    sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(indices, "i"), [2, 3])
    got = run(model([node("Constant", "", sparse_value=sparse)], {}))
    np.testing.assert_array_equal(got, [[0, 3, 0], [0, 0, 4]])


def test_constant_strings() -> None:
    assert run(model([node("Constant", "", value_string="a")], {})).tolist() == "a"
    assert run(model([node("Constant", "", value_strings=["a", ""])], {})).tolist() == ["a", ""]


def test_external_data_is_read_from_beside_the_model(tmp_path: Path) -> None:
    made = model([node("Add", "x w")], {"x": [300]}, initializers={"w": array(300)})
    path = tmp_path / "model.onnx"
    onnx.save(made, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    np.testing.assert_array_equal(run(str(path), array(300)), array(300) * 2)


def test_external_data_that_is_missing_is_reported(tmp_path: Path) -> None:
    made = model([node("Add", "x w")], {"x": [300]}, initializers={"w": array(300)})
    path = tmp_path / "model.onnx"
    onnx.save(made, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    (tmp_path / "w.bin").unlink()
    assert "w.bin" in refusal(str(path))


def test_computed_shapes_are_folded_on_the_way() -> None:
    """A shape that a model computes from the shapes of its inputs is known at compile time."""
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s i", "n"),
        node("Unsqueeze", "n zero", "n1"),
        node("Concat", "n1 rest", "target", axis=0),
        node("Reshape", "x target", "y"),
    ]
    constants = {"i": np.array(0), "zero": np.array([0]), "rest": np.array([-1])}
    made = model(nodes, {"x": [2, 3, 4]}, initializers=constants)
    assert run(made, array(2, 3, 4)).shape == (2, 12)


def test_filled_tensors_are_small_in_the_ir() -> None:
    made = model([node("ConstantOfShape", "s")], {}, initializers={"s": np.array([1000, 1000])})
    module = import_onnx(made)
    assert not module.weights
    assert len(str(module)) < 1000
    assert "tri.expand" in str(module)


# -- functions --------------------------------------------------------------------------------


def test_model_local_functions_are_inlined() -> None:
    body = [node("Mul", "a a", "square"), node("Add", "square b", "c")]
    function = helper.make_function(
        "f", "MulAdd", ["a", "b"], ["c"], body, [helper.make_opsetid("", 21)]
    )
    call = helper.make_node("MulAdd", ["x", "x"], ["y"], domain="f")
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("f", 1)]
    made = model([call], {"x": [3]}, opset_imports=opsets, functions=[function])
    np.testing.assert_array_equal(run(made, array(3)), array(3) * array(3) + array(3))


def test_functions_of_functions_are_inlined() -> None:
    opset = helper.make_opsetid("", 21)
    inner = helper.make_function("f", "Twice", ["a"], ["b"], [node("Add", "a a", "b")], [opset])
    twice = helper.make_node("Twice", ["a"], ["b"], domain="f")
    again = helper.make_node("Twice", ["b"], ["c"], domain="f")
    opsets = [opset, helper.make_opsetid("f", 1)]
    outer = helper.make_function("f", "Quad", ["a"], ["c"], [twice, again], opsets)
    call = helper.make_node("Quad", ["x"], ["y"], domain="f")
    made = model([call], {"x": [3]}, opset_imports=opsets, functions=[inner, outer])
    np.testing.assert_array_equal(run(made, array(3)), array(3) * 4)


def test_an_operator_without_a_rule_is_expanded_by_its_definition() -> None:
    made = model([node("SwiGLU", "a b", name="gate")], {"a": [4], "b": [4]}, opset=28)
    made.ir_version = 13
    a, b = array(4), array(4, seed=1)
    got = run(made, a, b)
    np.testing.assert_allclose(got, a / (1 + np.exp(-a)) * b, rtol=1e-5)
    names = made_names(import_onnx(made))
    assert names[-1] == (("gate",), ("y",))


def test_what_a_definition_needs_is_named_when_it_is_unsupported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(RULES, ("", "ReduceMean"))
    made = model([node("MeanVarianceNormalization", "x", name="norm")], {"x": [2, 3, 4, 4]})
    kind = "'MeanVarianceNormalization'"
    assert refusal(made).startswith(f"norm: error: {kind} node consists of 'ReduceMean'")


# -- the test backend ---------------------------------------------------------------------------


def test_the_backend_specialises_on_values_and_notices_new_ones() -> None:
    shape = info("s", [2], onnx.TensorProto.INT64)
    made = ReferenceBackend.prepare(model([node("Reshape", "x s")], {"x": ["N"], "s": shape}))
    for target in ([2, 3], [3, 2], [6, 1]):
        (got,) = made.run([array(6), np.array(target)])
        np.testing.assert_array_equal(got, array(6).reshape(target))
