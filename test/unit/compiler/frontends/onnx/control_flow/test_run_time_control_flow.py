"""Control flow that is decided at run time, against ONNX Runtime."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from trivium.compiler.driver import compile
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects import tri
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import ops
from trivium.runtime.cpu.part import CpuPart
from trivium.runtime.errors import RunError
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.test.unit.compiler.frontends.onnx.control_flow.control_flow_models import (
    I64,
    check,
    constant,
    graph,
    refusal,
)
from trivium.test.unit.compiler.frontends.onnx.graphs import array, info, model, node

BOOL = onnx.TensorProto.BOOL


def runs(made: onnx.ModelProto, kind: type) -> bool:
    """Return whether an op of a class decides at run time."""
    with new_context():
        return any(isinstance(op, kind) for op in ops(import_onnx(made).operation))


def branches(*, inner: Any = None) -> onnx.ModelProto:
    """Choose by inputs; both branches use values of the graphs around them, two levels out."""
    deep = graph([node("Mul", "x late", "d")], [], ["d"])
    flat = graph([node("Sub", "middle w", "f"), node("Add", "f big", "g")], [], ["g"])
    then = graph(
        [
            node("Add", "x w", "middle"),
            node("If", "b_d", "t", name="Inner", then_branch=deep, else_branch=flat),
        ],
        [],
        ["t"],
    )
    other = graph([node("Identity", "late", "e")], [], ["e"])
    nodes = [
        node("Exp", "x", "late"),
        node("If", "b_c", "y", name="Outer", then_branch=then, else_branch=other),
    ]
    inputs = {"x": [20, 30], "b_c": info("b_c", [], BOOL), "b_d": info("b_d", [], BOOL)}
    weights = {"w": array(30, seed=1), "big": array(20, 30, seed=2)}
    made = model(nodes, inputs, initializers=weights, opset=17)
    if inner is not None:
        made.graph.initializer.append(numpy_helper.from_array(np.bool_(inner), "b_d"))
        del made.graph.input[2]
    return made


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("inner", [True, False])
def test_branches_capture_values_of_all_graphs_around_them(outer: bool, inner: bool) -> None:
    made = branches()
    assert runs(made, tri.If)
    given = {"b_c": np.array(outer), "b_d": np.array(inner)}
    check(made, {"x": array(20, 30), **given}, compiled=True)


def test_a_known_condition_inside_of_a_branch_leaves_one_if() -> None:
    with new_context():
        found = ops(import_onnx(branches(inner=True)).operation)
    assert sum(isinstance(op, tri.If) for op in found) == 1
    check(branches(inner=True), {"x": array(20, 30), "b_c": np.array(True)}, compiled=True)


def test_branches_of_two_types_need_the_condition() -> None:
    made = branches()
    made.graph.node[1].attribute[0].g.node[0].CopyFrom(node("ReduceMax", "late", "e", keepdims=0))
    text = refusal(made)
    assert "needs the value of input 'cond', as branches return" in text
    assert "constants={'b_c': …}" in text


def while_loop() -> onnx.ModelProto:
    """Double a vector until its largest element is large enough, at most n times."""
    body = graph(
        [
            node("Mul", "v two", "w"),
            node("ReduceMax", "w", "most", keepdims=0),
            node("Less", "most limit", "b_next"),
            node("Add", "i_s i_n", "i_t"),
        ],
        ["i_n", "b_c", "v", "i_s"],
        ["b_next", "w", "i_t"],
    )
    nodes = [node("Loop", "i_m b_g x i_0", "y z", name="Grow", body=body)]
    inputs = {"x": [5], "i_m": info("i_m", [], I64), "b_g": info("b_g", [], BOOL), "limit": []}
    given = {"two": np.float32(2), "i_0": np.int64(0)}
    return model(nodes, inputs, ["y", "z"], initializers=given, opset=17)


@pytest.mark.parametrize("trips", [0, 1, 3, 100])
@pytest.mark.parametrize("going", [True, False])
def test_a_loop_ends_by_its_condition_or_its_count(trips: int, going: bool) -> None:
    feeds = {"x": abs(array(5)), "i_m": np.array(trips), "b_g": np.array(going)}
    assert runs(while_loop(), tri.Loop)
    check(while_loop(), feeds | {"limit": np.array(50, np.float32)}, compiled=True)


def long_loop(trips: int) -> onnx.ModelProto:
    """Add up the numbers of many iterations, and put out each sum."""
    body = graph(
        [
            node("Cast", "i_n", "f", to=onnx.TensorProto.FLOAT),
            node("Add", "v f", "w"),
            node("Mul", "w x", "o"),
            node("Identity", "b_c", "b_d"),
        ],
        ["i_n", "b_c", "v"],
        ["b_d", "w", "o"],
    )
    nodes = [node("Loop", "m _ x", "y all", body=body)]
    return model(nodes, {"x": [3]}, ["y", "all"], initializers={"m": np.int64(trips)}, opset=17)


def test_a_long_loop_of_known_length_puts_out_a_tensor_in_each_iteration() -> None:
    assert runs(long_loop(200), tri.Loop)
    check(long_loop(200), {"x": array(3)}, compiled=True)


@pytest.mark.parametrize("axes", [(0, 0), (1, 1), (-1, 0)])
@pytest.mark.parametrize("directions", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_a_long_scan_is_a_loop(axes: tuple[int, int], directions: tuple[int, int]) -> None:
    body = graph([node("Add", "s e", "t"), node("Mul", "s e", "o")], ["s", "e"], ["t", "o"])
    ways = {
        "scan_input_axes": axes[:1],
        "scan_input_directions": directions[:1],
        "scan_output_axes": axes[1:],
        "scan_output_directions": directions[1:],
    }
    nodes = [node("Scan", "s0 x", "y all", body=body, num_scan_inputs=1, **ways)]
    shape = (150, 3) if axes[0] == 0 else (3, 150)
    made = model(nodes, {"s0": [3], "x": shape}, ["y", "all"], opset=17)
    assert runs(made, tri.Loop)
    check(made, {"s0": array(3), "x": array(*shape, seed=1)}, compiled=True)


def test_what_a_loop_carries_keeps_its_rank() -> None:
    made = while_loop()
    axes = helper.make_node("Constant", [], ["zero"], value_ints=[0])
    body = made.graph.node[0].attribute[0].g
    body.node[0].CopyFrom(node("Unsqueeze", "v zero", "w"))
    body.node.insert(0, axes)
    text = refusal(made)
    assert "carries tensor<5xf32> into an iteration and tensor<1x5xf32> into the next one" in text
    assert "must be of one rank and element type where iterations are decided at run time" in text


def test_branches_return_sequences_of_one_length() -> None:
    one = graph([node("SequenceConstruct", "x z", "s")], [], [])
    two = graph([node("SequenceConstruct", "z x", "t")], [], [])
    for made, name in ((one, "s"), (two, "t")):
        made.output.append(helper.make_tensor_sequence_value_info(name, 1, None))
    nodes = [
        node("If", "b_c", "s", then_branch=one, else_branch=two),
        node("ConcatFromSequence", "s", "y", axis=0),
    ]
    made = model(nodes, {"x": [2], "z": [2], "b_c": info("b_c", [], BOOL)}, opset=17)
    for condition in (True, False):
        check(
            made, {"x": array(2), "z": array(2, seed=1), "b_c": np.array(condition)}, compiled=True
        )


def invalid_branch(condition: str = "b_c") -> onnx.ModelProto:
    """Choose between a branch that fits the sizes of the model and one that does not."""
    wrong = graph([node("MatMul", "x w", "d")], [], ["d"])
    fine = graph([node("Neg", "x", "e")], [], ["e"])
    nodes = [node("If", condition, "y", name="Pick", then_branch=wrong, else_branch=fine)]
    inputs = {"x": [2, 3], "b_c": info("b_c", [], BOOL)}
    return model(nodes, inputs, initializers={"w": array(4, 3), "b_no": np.bool_(False)}, opset=17)


def test_a_branch_that_cannot_run_is_an_error_of_the_runs_that_take_it() -> None:
    session = compile(invalid_branch())
    x = array(2, 3)
    for _ in range(2):
        np.testing.assert_array_equal(session.run({"x": x, "b_c": np.array(False)})["y"], -x)
        with pytest.raises(RunError, match="Pick/then_branch/MatMul#0: error: 'MatMul' node") as e:
            session.run({"x": x, "b_c": np.array(True)})
        assert str(e.value).startswith("Pick: the branch that this run takes cannot run: ")


def test_a_branch_that_cannot_run_is_an_error_where_no_other_can() -> None:
    made = invalid_branch()
    for attribute in made.graph.node[0].attribute:
        attribute.g.node[0].CopyFrom(node("MatMul", "x w", attribute.g.output[0].name))
    assert "Pick/then_branch/MatMul#0: error: 'MatMul' node" in refusal(made)


def crossing_loop() -> onnx.ModelProto:
    """Exchange what is carried in each iteration, and hand on an input and a constant."""
    body = graph(
        [
            node("Identity", "b_c", "b_d"),
            node("Identity", "q", "p2"),
            node("Identity", "p", "q2"),
            node("Add", "r one", "r2"),
            node("Identity", "x", "s2"),
            constant("t2", np.float32([7, 8, 9])),
        ],
        ["i_n", "b_c", "p", "q", "r", "s", "t"],
        ["b_d", "p2", "q2", "r2", "s2", "t2"],
    )
    nodes = [node("Loop", "i_m _ x z x z x", "a b c d e", body=body)]
    inputs = {"x": [3], "z": [3], "i_m": info("i_m", [], I64)}
    weights = {"one": np.float32(1)}
    return model(nodes, inputs, list("abcde"), initializers=weights, opset=17)


@pytest.mark.parametrize("trips", [0, 1, 2, 5])
def test_a_loop_exchanges_what_it_carries(trips: int) -> None:
    feeds = {"x": array(3), "z": array(3, seed=1), "i_m": np.array(trips)}
    check(crossing_loop(), feeds, compiled=True)


def nested() -> onnx.ModelProto:
    """Put a branch in a loop in a branch; all of them capture values from the outside."""
    small = graph([node("Mul", "v half", "s")], [], ["s"])
    large = graph([node("MatMul", "v w", "d0"), node("Add", "d0 late", "d")], [], ["d"])
    body = graph(
        [
            node("ReduceMax", "v", "most", keepdims=0),
            node("Less", "limit most", "b_big"),
            node("If", "b_big", "w2", name="Inner", then_branch=small, else_branch=large),
            node("Identity", "b_g", "b_h"),
        ],
        ["i_n", "b_g", "v"],
        ["b_h", "w2"],
    )
    then = graph([node("Loop", "i_m _ x", "t", name="Loop", body=body)], [], ["t"])
    other = graph([node("Exp", "late", "o")], [], ["o"])
    nodes = [
        node("Tanh", "x", "late"),
        node("If", "b_c", "r", name="Outer", then_branch=then, else_branch=other),
        node("Add", "r late", "y"),
    ]
    inputs = {"x": [8, 64], "b_c": info("b_c", [], BOOL), "i_m": info("i_m", [], I64), "limit": []}
    weights = {"half": np.float32(0.5), "w": array(64, 64, seed=3) / 4}
    return model(nodes, inputs, initializers=weights, opset=17)


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("trips", [0, 1, 7])
def test_bodies_stand_in_bodies(outer: bool, trips: int) -> None:
    given = {"b_c": np.array(outer), "i_m": np.array(trips), "limit": np.array(3, np.float32)}
    check(nested(), {"x": array(8, 64), **given}, compiled=True)


def test_what_a_body_computes_of_constants_is_computed_once() -> None:
    """Weights that are stored narrow become wide when a package is loaded, not in iterations."""
    body = graph(
        [
            node("Cast", "w8", "w", to=onnx.TensorProto.FLOAT),
            node("MatMul", "v w", "u"),
            node("Identity", "b_c", "b_d"),
        ],
        ["i_n", "b_c", "v"],
        ["b_d", "u"],
    )
    nodes = [node("Loop", "i_m _ x", "y", body=body)]
    narrow = np.eye(64, dtype=np.int8)[::-1].copy()
    inputs = {"x": [40, 64], "i_m": info("i_m", [], I64)}
    made = model(nodes, inputs, initializers={"w8": narrow}, opset=17)
    session = compile(made)
    assert session.manifest.load_steps
    assert session.manifest.memory.weight_bytes < 2 * narrow.size
    kernels = session.manifest.part(CpuPart).kernels
    calls = {kernel.ops[0]: (kernel.calls, kernel.load_calls) for kernel in kernels}
    assert calls == {"tri.cast": (0, 1), "cpu.packed_mat_mul": (1, 0)}
    check(made, {"x": array(40, 64), "i_m": np.array(3)}, compiled=True)


def test_a_clone_and_a_package_take_branches_of_their_own(tmp_path: Path) -> None:
    session = compile(nested())
    session.save(tmp_path / "nested.trv")
    given = {"i_m": np.array(3), "limit": np.array(3, np.float32), "x": array(8, 64)}
    expected = {c: session.run({**given, "b_c": np.array(c)})["y"] for c in (True, False)}
    assert not np.array_equal(expected[True], expected[False])
    rebuilt = compile(str(tmp_path / "nested.trv"))
    for other in (session.clone(), Session(Package.open(tmp_path / "nested.trv")), rebuilt):
        for choice, y in expected.items():
            np.testing.assert_array_equal(other.run({**given, "b_c": np.array(choice)})["y"], y)
