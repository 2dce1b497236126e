"""Graphs of ONNX before import: order of nodes, undefined values, versions, schemas, functions."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from trivium.compiler.driver import compile
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.frontends.onnx.graph import topological_order
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.test.unit.compiler.frontends.onnx.graphs import array, info, model, node


def graph_model(
    nodes: Sequence[onnx.NodeProto],
    outputs: Sequence[onnx.ValueInfoProto] = (),
    opsets: dict[str, int] | None = None,
    functions: Sequence[onnx.FunctionProto] = (),
) -> onnx.ModelProto:
    """Make a model of one input x, 2 floats, that nothing of onnx has looked at."""
    graph = helper.make_graph(nodes, "g", [info("x", [2])], outputs or [info("y", [2])])
    imports = [helper.make_opsetid(*each) for each in (opsets or {"": 21}).items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=10, functions=functions)


def refusal(made: onnx.ModelProto) -> str:
    with new_context(), pytest.raises(CompileError) as caught:
        import_onnx(made)
    return str(caught.value)


def test_nodes_may_be_in_any_order() -> None:
    nodes = [node("Neg", "b", "y"), node("Abs", "a", "b"), node("Exp", "x", "a")]
    x = array(2)
    np.testing.assert_allclose(
        compile(graph_model(nodes)).run({"x": x})["y"], -np.exp(x), rtol=1e-6
    )


def test_a_node_without_a_name_has_that_of_its_place_in_the_file() -> None:
    nodes = [node("Neg", "a"), node("Wobble", "x", "a", domain="d")]
    assert "Wobble#1: error: 'd::Wobble' version 1" in refusal(graph_model(nodes))


@pytest.mark.parametrize(
    ("needs", "order"),
    [
        ([], []),
        ([[], [0], [1]], [0, 1, 2]),
        ([[1], [2], []], [2, 1, 0]),
        ([[], [3], [], [0]], [0, 2, 3, 1]),
        ([[0], [], [0]], [1]),
        ([[1, 1], []], [1, 0]),
    ],
)
def test_the_order_is_that_of_the_file_where_it_can_be(
    needs: list[list[int]], order: list[int]
) -> None:
    assert topological_order(needs) == order


def test_a_missing_value_names_the_nodes_that_use_it() -> None:
    nodes = [
        node("Add", "x w", "a", name="first"),
        node("Mul", "a nowhere", "b", name="second"),
        node("Neg", "b", "y"),
    ]
    assert refusal(graph_model(nodes)).splitlines() == [
        "first: error: 'Add' node uses value 'w', which nothing defines",
        "second: error: 'Mul' node uses value 'nowhere', which nothing defines",
    ]


def test_a_cycle_names_its_nodes() -> None:
    nodes = [
        node("Add", "x c", "a", name="one"),
        node("Neg", "a", "b", name="two"),
        node("Neg", "b", "c", name="three"),
        node("Neg", "c", "y", name="after"),
    ]
    expected = "cycle: 'one' needs 'three' needs 'two' needs 'one'"
    assert expected in refusal(graph_model(nodes))


def test_a_value_is_defined_once() -> None:
    twice = [node("Neg", "x", "y", name="one"), node("Abs", "x", "y", name="two")]
    expected = "two: error: 'Abs' node makes value 'y', which node 'one' makes too"
    assert refusal(graph_model(twice)) == expected
    text = refusal(graph_model([node("Neg", "x", "x", name="one"), node("Abs", "x", "y")]))
    assert "'Neg' node makes value 'x', which an input or initializer makes too" in text


def test_outputs_are_defined_and_named_once() -> None:
    nodes = [node("Neg", "x", "y")]
    text = refusal(graph_model(nodes, [info("y", [2]), info("z", [2]), info("y", [2])]))
    assert text.splitlines() == [
        "z: error: output is a value that nothing defines",
        "y: error: output is declared twice, must have a name of its own",
    ]


def test_a_subgraph_uses_values_of_the_graphs_around_it() -> None:
    branch = helper.make_graph([node("Neg", "late", "b")], "branch", [], [info("b", [2])])
    nodes = [
        node("If", "c", "y", then_branch=branch, else_branch=branch),
        node("Exp", "x", "late"),
        helper.make_node("Constant", [], ["c"], value=helper.make_tensor("", 9, [], [True])),
    ]
    with new_context():
        import_onnx(graph_model(nodes))
    text = refusal(graph_model([nodes[0], nodes[2]]))
    assert "If#0/then_branch/Neg#0: error: 'Neg' node uses value 'late'" in text


# -- versions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [-1, 0, 1000, 1 << 62])
def test_versions_that_onnx_does_not_define_are_refused(version: int) -> None:
    newest = onnx.defs.onnx_opset_version()
    text = refusal(graph_model([node("Neg", "x")], opsets={"": version}))
    first, note = text.splitlines()
    expected = f"imports version {version} of 'ai.onnx', must be 1 to {newest}"
    assert first == f"model: error: {expected}"
    assert f"onnx {onnx.__version__} is installed" in note


@pytest.mark.parametrize("version", [-1, 0, 1 << 31, 1 << 62])
def test_versions_that_onnx_cannot_look_up_are_refused(version: int) -> None:
    text = refusal(graph_model([node("Neg", "x")], opsets={"": 21, "d": version}))
    assert f"imports version {version} of 'd', must be 1 to 2147483647" in text


def test_the_newest_version_is_taken() -> None:
    newest = onnx.defs.onnx_opset_version()
    with new_context():
        import_onnx(graph_model([node("Neg", "x")], opsets={"": newest}))


def test_an_operator_set_has_one_version() -> None:
    text = refusal(graph_model([node("Neg", "x")], opsets={"": 21, "ai.onnx": 20}))
    assert "imports versions 21 and 20 of 'ai.onnx', must be one" in text


def test_a_domain_that_is_not_imported_is_refused_for_operators_without_a_rule() -> None:
    text = refusal(graph_model([node("Wobble", "x", domain="com.microsoft", name="w")]))
    assert text.startswith("w: error: 'com.microsoft::Wobble' version 1 is not supported")


def test_a_node_that_breaks_its_schema_is_named() -> None:
    nodes = [
        node("Neg", "x x", "a", name="one"),
        node("Concat", "x a", "y", name="two", axis="first"),
    ]
    one, two = refusal(graph_model(nodes)).splitlines()
    assert one.startswith("one: error: 'Neg' node breaks its schema: ")
    assert two.startswith("two: error: 'Concat' node breaks its schema: ")


# -- declared types -------------------------------------------------------------------------------


def test_an_output_has_the_element_type_that_the_model_declares() -> None:
    nodes = [node("Neg", "x", "y"), node("Shape", "x", "z")]
    note = "  note: correct the declaration, or leave it out: types of outputs are inferred"
    assert refusal(graph_model(nodes, [info("y", [2]), info("z", [1])])).splitlines() == [
        "z: error: output is 1 of i64, the model declares 1 of f32",
        note,
    ]


@pytest.mark.parametrize(("declared", "spelt"), [([3], "3"), ([1, 2], "1x2"), (["N", "M"], "NxM")])
def test_another_shape_than_declared_is_a_warning(declared: list[Any], spelt: str) -> None:
    made = graph_model([node("Neg", "x", "y")], [info("y", declared)])
    fault = f"y: output is 2 of f32, the model declares {spelt} of f32: correct the declaration"
    with pytest.warns(UserWarning, match=fault):
        assert compile(made).outputs[0].shape == (2,)


def no_shape(value: onnx.ValueInfoProto) -> None:
    value.type.tensor_type.ClearField("shape")


def no_element_type(value: onnx.ValueInfoProto) -> None:
    value.type.tensor_type.ClearField("elem_type")


def no_type(value: onnx.ValueInfoProto) -> None:
    value.ClearField("type")


def symbols(value: onnx.ValueInfoProto) -> None:
    value.CopyFrom(info(value.name, ["any"]))


def minus_one(value: onnx.ValueInfoProto) -> None:
    value.CopyFrom(info(value.name, [-1]))


@pytest.mark.parametrize("change", [no_shape, no_element_type, no_type, symbols, minus_one])
def test_what_a_declaration_leaves_open_is_inferred(
    change: Callable[[onnx.ValueInfoProto], None],
) -> None:
    made = graph_model([node("Neg", "x", "a"), node("Neg", "a", "y")])
    made.graph.value_info.append(info("a", [2]))
    for value in (made.graph.output[0], made.graph.value_info[0]):
        change(value)
    (output,) = compile(made).outputs
    assert (output.shape, output.dtype) == ((2,), "float32")


def test_names_are_text() -> None:
    data = graph_model([node("Neg", "x")]).SerializeToString()
    for name in (b"\n\x01x", b"\x12\x01y", b"\x12\x01g"):
        assert name in data
        broken = data.replace(name, name[:-1] + b"\xff")
        with new_context(), pytest.raises(CompileError, match=r"the name b'.xff' is not UTF-8"):
            import_onnx(broken)


# -- functions of the model -----------------------------------------------------------------------


def nested(depth: int, calls: int, innermost: str = "Neg") -> onnx.ModelProto:
    """Make a model of functions, of which each calls the one before it several times."""
    functions: list[onnx.FunctionProto] = []
    for level in range(depth):
        op, domain = (f"f{level - 1}", "d") if level else (innermost, "")
        values = ["x", *(f"t{i}" for i in range(calls))]
        pairs = pairwise(values)
        body = [helper.make_node(op, [a], [b], domain=domain) for a, b in pairs]
        imports = [helper.make_opsetid("", 21), helper.make_opsetid("d", 1)]
        functions.append(helper.make_function("d", f"f{level}", ["x"], [values[-1]], body, imports))
    call = node(f"f{depth - 1}", "x", domain="d")
    return graph_model([call], opsets={"": 21, "d": 1}, functions=functions)


def test_functions_that_call_functions_are_inlined() -> None:
    x = array(2)
    np.testing.assert_array_equal(compile(nested(3, 3)).run({"x": x})["y"], -x)


def test_functions_that_would_be_too_many_nodes_are_refused() -> None:
    expected = "model: error: has over 1000000 nodes when its functions are inlined"
    assert refusal(nested(29, 2)).startswith(expected)


def test_functions_that_nest_too_deeply_are_refused() -> None:
    assert "has functions that cannot be inlined: " in refusal(nested(500, 1))


def test_a_function_that_calls_itself_is_refused() -> None:
    body = [helper.make_node("f", ["x"], ["t"], domain="d")]
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("d", 1)]
    function = helper.make_function("d", "f", ["x"], ["t"], body, imports)
    made = graph_model([node("f", "x", domain="d")], opsets={"": 21, "d": 1}, functions=[function])
    assert refusal(made) == "model: error: has function 'f', which calls itself"


def test_a_model_of_the_caller_is_left_as_it_was() -> None:
    made = model([node("Neg", "x"), node("Neg", "x", "z")], {"x": [2]}, ["y", "z"])
    before = made.SerializeToString(deterministic=True)
    with new_context():
        import_onnx(made)
    assert made.SerializeToString(deterministic=True) == before


def test_attributes_that_do_not_decode_are_refused() -> None:
    made = node("DepthToSpace", "x", blocksize=1, mode=b"\xff")
    assert "attribute 'mode', which does not decode" in refusal(graph_model([made]))


def test_a_node_that_needs_too_much_memory_is_refused() -> None:
    attributes = {"ngram_counts": [0], "ngram_indexes": [1 << 44], "pool_int64s": [1]}
    lengths = {"min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0}
    made = node("TfIdfVectorizer", "x", mode="TF", **lengths, **attributes)
    assert "needs too much memory at compile time" in refusal(graph_model([made]))


@pytest.mark.parametrize(
    ("made", "fault"),
    [
        (node("Scatter", "x"), "'Scatter' node lacks input 'indices'"),
        (node("Scatter", "x _ x"), "'Scatter' node lacks input 'indices'"),
        (node("Upsample", ""), "'Upsample' node lacks input 'x'"),
        (
            node("Scatter", "x i x", axis="0"),
            "'Scatter' node has attribute 'axis' of type str, must be int",
        ),
    ],
)
def test_nodes_that_onnx_does_not_check_are_checked(made: onnx.NodeProto, fault: str) -> None:
    model = graph_model([made], opsets={"": 17})
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(1, np.int64), "i"))
    assert fault in refusal(model)


@pytest.mark.parametrize("op_type", ["Loop", "If", "Scan"])
def test_control_flow_without_attributes_is_refused(op_type: str) -> None:
    message, *notes = refusal(graph_model([node(op_type, "x")], opsets={"": 17})).split("\n")
    assert message.startswith(f"{op_type}#0: error: '")
    assert all(note.startswith("  note: ") for note in notes)
