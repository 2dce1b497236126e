"""Control flow that is decided at import, against ONNX Runtime."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.frontends.onnx.registry import RULES
from trivium.dialects.core import interpret
from trivium.dialects.core.location import node_names, value_names
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import ops
from trivium.test.unit.compiler.frontends.onnx.control_flow.control_flow_models import (
    check,
    constant,
    graph,
    refusal,
    results,
)
from trivium.test.unit.compiler.frontends.onnx.graphs import array, info, model, node

# -- If -------------------------------------------------------------------------------------------


def nested_if(outer: bool, inner: bool) -> onnx.ModelProto:
    """Choose between branches that use values of both graphs around them."""
    deep = graph([node("Mul", "x late", "d")], [], ["d"])
    flat = graph([node("Sub", "middle w", "f")], [], ["f"])
    then = graph(
        [
            constant("b_inner", inner),
            node("Add", "x w", "middle"),
            node("If", "b_inner", "t", name="Inner", then_branch=deep, else_branch=flat),
        ],
        [],
        ["t"],
    )
    other = graph([node("Neg", "late", "e")], [], ["e"])
    nodes = [
        node("If", "c", "y", name="Outer", then_branch=then, else_branch=other),
        node("Exp", "x", "late"),
        constant("c", outer),
    ]
    return model(nodes, {"x": [2, 3]}, initializers={"w": array(3, seed=1)}, opset=17)


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("inner", [True, False])
def test_a_branch_captures_values_of_all_graphs_around_it(outer: bool, inner: bool) -> None:
    made = nested_if(outer, inner)
    check(made, {"x": array(2, 3)})


def test_only_the_chosen_branch_is_imported_and_its_nodes_are_named_after_the_if() -> None:
    with new_context():
        module = import_onnx(nested_if(True, False))
        named = {
            node_names(op.location)[0]: value_names(op.location) for op in ops(module.operation)
        }
    assert {n for n in named if n.startswith("Outer")} == {
        "Outer/then_branch/Constant#0",
        "Outer/then_branch/Add#1",
        "Outer/then_branch/Inner/else_branch/Sub#0",
    }
    assert named["Outer/then_branch/Add#1"] == ("Outer/then_branch/middle",)
    assert named["Outer/then_branch/Inner/else_branch/Sub#0"] == ("y",)


def test_what_a_branch_that_is_not_chosen_lacks_does_not_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(RULES, ("", "StringSplit"))
    strings = graph([node("StringSplit", "x", "s n")], [], ["s"])
    fine = graph([node("Neg", "x", "f")], [], ["f"])

    def choose(condition: bool) -> onnx.ModelProto:
        nodes = [constant("c", condition), node("If", "c", then_branch=strings, else_branch=fine)]
        return model(nodes, {"x": [2]}, opset=20)

    np.testing.assert_array_equal(results(choose(False), {"x": array(2)})[0], -array(2))
    text = refusal(choose(True))
    assert "If#1/then_branch/StringSplit#0: error: 'ai.onnx::StringSplit' version 20" in text


def test_faults_of_nested_nodes_have_their_names() -> None:
    wrong = graph([node("Concat", "x w", "c", axis=1)], [], ["c"])
    nodes = [constant("c", True), node("If", "c", then_branch=wrong, else_branch=wrong)]
    text = refusal(model(nodes, {"x": [2, 3]}, initializers={"w": array(3, 3)}))
    assert "If#1/then_branch/Concat#0: error: 'Concat' node" in text


def test_nested_nodes_are_checked_before_anything_is_imported() -> None:
    twice = graph([node("Neg", "x", "a"), node("Exp", "x", "a")], [], ["a", "lost"])
    cycle = graph([node("Neg", "b", "a"), node("Exp", "a", "b")], [], ["a"])
    nodes = [constant("c", True), node("If", "c", then_branch=twice, else_branch=cycle)]
    assert {*refusal(model(nodes, {"x": [2]})).splitlines()} == {
        "If#1/then_branch/Exp#1: error: 'Exp' node makes value 'a', "
        "which node 'If#1/then_branch/Neg#0' makes too",
        "lost: error: output is a value that nothing defines",
        "If#1/else_branch/Neg#0: error: nodes depend on one another in a cycle: "
        "'If#1/else_branch/Neg#0' needs 'If#1/else_branch/Exp#1' needs 'If#1/else_branch/Neg#0'",
    }


def test_unsupported_nodes_of_a_body_are_listed_with_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(RULES, ("", "StringSplit"))
    monkeypatch.delitem(RULES, ("", "Det"))
    body = graph([node("StringSplit", "v", "s n")], ["i_n", "b_c", "v"], ["b_c", "v"])
    nodes = [node("Det", "x", "r"), node("Loop", "_ _ x", "y", body=body)]
    where = [line.partition(":")[0] for line in refusal(model(nodes, {"x": [2]})).splitlines()]
    assert where == ["Det#0", "Loop#1/body/StringSplit#0"]


# -- Loop -----------------------------------------------------------------------------------------


def counting(
    m: str = "m", c: str = "_", condition: onnx.NodeProto | None = None
) -> onnx.ModelProto:
    """Double a value in each iteration, and put out what it was."""
    last = condition or node("Identity", "b_c", "b_next")
    body = graph(
        [
            node("Cast", "i_n", "f", to=onnx.TensorProto.FLOAT),
            node("Add", "v f", "w"),
            node("Identity", "v", "before"),
            last,
        ],
        ["i_n", "b_c", "v"],
        ["b_next", "w", "before"],
    )
    body.output[2].CopyFrom(info("before", [3]))  # or ONNX Runtime does not know it without any
    nodes = [node("Loop", f"{m} {c} x", "y all", name="Count", body=body)]
    constants = {"m": np.int64(4), "c": np.bool_(True), "no": np.bool_(False), "zero": np.int64(0)}
    return model(nodes, {"x": [3]}, ["y", "all"], initializers=constants, opset=17)


@pytest.mark.parametrize("m", ["m", "zero"])
@pytest.mark.parametrize("c", ["c", "no"])
def test_a_loop_of_known_length_is_its_iterations(m: str, c: str) -> None:
    check(counting(m, c), {"x": array(3)})


def test_a_condition_that_is_known_ends_a_loop() -> None:
    condition = helper.make_node("Less", ["i_n", "three"], ["b_next"])
    made = counting("_", "c", condition)
    made.graph.initializer.append(numpy_helper.from_array(np.int64(3), "three"))
    check(made, {"x": array(3)})


def test_nodes_and_values_of_iterations_have_names_of_their_own() -> None:
    with new_context():
        module = import_onnx(counting())
        named = [value_names(op.location) for op in ops(module.operation)]
        nodes = {n for op in ops(module.operation) for n in node_names(op.location)}
    assert ("Count[0]/w",) in named
    assert ("Count[3]/w",) in named
    assert {"Count[0]/Add#1", "Count[3]/Add#1"} <= nodes


# -- Scan -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [(0, 0), (1, 1), (-1, 0)])
@pytest.mark.parametrize("directions", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_a_scan_takes_axes_and_directions(
    axes: tuple[int, int], directions: tuple[int, int]
) -> None:
    body = graph([node("Add", "s e", "t"), node("Mul", "s e", "o")], ["s", "e"], ["t", "o"])
    scanned = {
        "scan_input_axes": axes[:1],
        "scan_input_directions": directions[:1],
        "scan_output_axes": axes[1:],
        "scan_output_directions": directions[1:],
    }
    nodes = [node("Scan", "s0 x", "y all", body=body, num_scan_inputs=1, **scanned)]
    shape = [3, 3]
    check(
        model(nodes, {"s0": [3], "x": shape}, ["y", "all"], opset=17),
        {"s0": array(3), "x": array(3, 3, seed=1)},
    )


def test_a_scan_of_two_lengths_is_refused() -> None:
    body = graph([node("Add", "a b", "o")], ["a", "b"], ["o"])
    made = model([node("Scan", "x z", body=body, num_scan_inputs=2)], {"x": [3], "z": [4]})
    assert "scans along axes of sizes 3, 4, must be of one size" in refusal(made)


# -- sequences and optionals ----------------------------------------------------------------------


def test_a_loop_carries_a_sequence() -> None:
    """Append in each iteration, join them all: what exporters make of lists in Python."""
    body = graph(
        [
            node("Mul", "v v", "w"),
            node("SequenceInsert", "s w", "t"),
            node("Identity", "b_c", "b_d"),
        ],
        ["i_n", "b_c", "v"],
        ["b_d", "w"],
    )
    lists = helper.make_tensor_sequence_value_info("s", onnx.TensorProto.FLOAT, None)
    body.input.append(lists)
    grown = body.output.add()
    grown.CopyFrom(lists)
    grown.name = "t"
    nodes = [
        node("SequenceEmpty", "", "none"),
        node("Loop", "m _ x none", "last found", body=body),
        node("ConcatFromSequence", "found", "y", axis=0, new_axis=1),
        node("SequenceLength", "found", "n"),
    ]
    made = model(nodes, {"x": [3]}, ["last", "y", "n"], initializers={"m": np.int64(3)}, opset=17)
    check(made, {"x": array(3)})


@pytest.mark.parametrize(
    ("split", "keepdims"),
    [(None, 0), (None, 1), (np.int64(2), 1), (np.array([1, 3, 1]), 0), (np.array([1, 3, 1]), 1)],
)
def test_splits_make_sequences(split: Any, keepdims: int) -> None:
    given = {} if split is None else {"split": split}
    nodes = [
        node("SplitToSequence", "x split" if given else "x", "s", axis=1, keepdims=keepdims),
        node("SequenceErase", "s zero", "t"),
        node("SequenceAt", "t last", "y"),
    ]
    given |= {"zero": np.int64(0), "last": np.int64(-1)}
    check(model(nodes, {"x": [2, 5]}, initializers=given, opset=17), {"x": array(2, 5)})


@pytest.mark.parametrize(
    ("nodes", "fault"),
    [
        (
            [node("SequenceAt", "s far", "y")],
            "has position 5 in a sequence of 2, must be in [-2, 2)",
        ),
        (
            [node("SequenceInsert", "s i", "y")],
            "puts tensor<2xi64> into a sequence of f32, must be of one type",
        ),
        ([node("Neg", "s", "y")], "input 'x' ('s') is a sequence, must be a tensor"),
        ([node("SequenceLength", "x", "y")], "('x') is a tensor, must be a sequence"),
    ],
)
def test_faults_of_sequences(nodes: list[onnx.NodeProto], fault: str) -> None:
    given = {"far": np.int64(5), "i": np.zeros(2, np.int64)}
    made = model([node("SequenceConstruct", "x x", "s"), *nodes], {"x": [2]}, initializers=given)
    assert fault in refusal(made)


def test_the_element_of_an_empty_optional_is_refused() -> None:
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(1, [2]))
    nodes = [node("Optional", "", "o", type=kind), node("OptionalGetElement", "o", "y")]
    text = refusal(model(nodes, {"x": [2]}, opset=18))
    assert "takes the element of an optional that has none" in text


def test_presence_decides_between_branches() -> None:
    taken = graph([node("OptionalGetElement", "x", "t")], [], ["t"])
    zero = graph([node("Sub", "x x", "z")], [], ["z"])
    nodes = [
        node("OptionalHasElement", "x", "b_has"),
        node("If", "b_has", then_branch=taken, else_branch=zero),
    ]
    check(model(nodes, {"x": [2]}, opset=18), {"x": array(2)})


def test_the_length_of_a_sequence_of_any_shapes_must_be_bound_for_its_tensors() -> None:
    made = model([node("ConcatFromSequence", "s", axis=0)], {"s": [2, 3]}, opset=17)
    made.graph.input[0].CopyFrom(helper.make_tensor_sequence_value_info("s", 1, ["?", "?"]))
    text = refusal(made)
    assert "the shapes of the tensors in a sequence of any shapes" in text
    assert "constants={'s.shapes': …}" in text
    with new_context():
        module = import_onnx(made, shapes={"s": 2})
        (y,) = interpret.run(module, [array(2, 3), array(2, 3, seed=1)])
    np.testing.assert_array_equal(y, np.concatenate([array(2, 3), array(2, 3, seed=1)]))


def test_an_optional_input_is_there_unless_it_is_fixed_to_nothing() -> None:
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(1, [2]))
    taken = graph([node("OptionalGetElement", "o", "t")], [], ["t"])
    zero = graph([node("Sub", "x x", "z")], [], ["z"])
    nodes = [
        node("OptionalHasElement", "o", "b_has"),
        node("If", "b_has", then_branch=taken, else_branch=zero),
    ]
    made = model(nodes, {"x": [2], "o": helper.make_value_info("o", kind)}, opset=18)
    x, o = array(2), array(2, seed=1)
    with new_context():
        (y,) = interpret.run(import_onnx(made), [x, o])
        fixed = import_onnx(made, constants={"o": np.array(None)})
        (z,) = interpret.run(fixed, [x])
    np.testing.assert_array_equal(y, o)
    np.testing.assert_array_equal(z, np.zeros(2))
    text = refusal(made, constants={"x": np.array(None)})
    assert text == "x: error: input is bound to a value of type object, must be f32"
