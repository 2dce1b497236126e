"""What the PNNX importer makes of graphs: good ones, odd ones and broken ones."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trivium
from pnnx_files import linear, write_pair
from texts import text, unary
from trivium.compiler.frontends.pnnx import Attribute, Graph, Parameter, read_pnnx
from trivium.compiler.frontends.pnnx.importer import import_pnnx
from trivium.compiler.frontends.torch.registry import RULES, Value, torch_op
from trivium.dialects import tri
from trivium.dialects.core import interpret
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.location import node_names, value_names
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, declared, ops

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(autouse=True)
def _context() -> Iterator[None]:
    with new_context():
        yield


def imported(source: str, **bindings: Any) -> Module:
    return import_pnnx(read_pnnx(source), **bindings)


def run(source: str, *inputs: Any, **bindings: Any) -> tuple[Any, ...]:
    return interpret.run(imported(source, **bindings), inputs)


def refusal(source: str, **bindings: Any) -> str:
    with pytest.raises(CompileError) as caught:
        imported(source, **bindings)
    return str(caught.value)


def op_names(module: Module) -> list[str]:
    return [op.op_name for op in ops(module.operation)]


# -- names ------------------------------------------------------------------------------------


def test_inputs_and_outputs_are_numbered_and_ops_keep_the_names_of_the_file() -> None:
    module = imported(
        text(
            "pnnx.Input a 0 1 x #x=(2)f32",
            "pnnx.Input b 0 1 y #y=(2)f32",
            "pnnx.Expression sum 2 1 x y z expr=add(@0,@1)",
            "F.relu clip 1 1 z w",
            "prim::TupleConstruct pair 2 1 w z both",
            "pnnx.Output out 1 0 both",
        )
    )
    assert declared(module.main, "inputs", 2) == ["in0", "in1"]
    assert declared(module.main, "outputs", 2) == ["out0", "out1"]
    first, second = ops(module.operation)
    assert (node_names(first.location), value_names(first.location)) == (("sum",), ("z",))
    assert (node_names(second.location), value_names(second.location)) == (("clip",), ("w",))


def test_outputs_may_be_nested_repeated_and_inputs() -> None:
    source = text(
        "pnnx.Input a 0 1 0 #0=(2)f32",
        "F.relu r 1 1 0 1",
        "prim::TupleConstruct inner 2 1 1 0 2",
        "prim::TupleConstruct outer 2 1 2 1 3",
        "pnnx.Output first 1 0 3",
        "pnnx.Output second 1 0 1",
    )
    x = np.array([-1, 1], np.float32)
    results = run(source, x)
    assert [r.tolist() for r in results] == [[0, 1], [-1, 1], [0, 1], [0, 1]]


def test_tuples_are_unpacked() -> None:
    source = text(
        "pnnx.Input a 0 1 0 #0=(4)f32",
        "torch.chunk halves 1 1 0 1 chunks=2 dim=0",
        "prim::TupleUnpack both 1 2 1 2 3",
        "pnnx.Output out 1 0 3",
    )
    (result,) = run(source, np.arange(4, dtype=np.float32))
    assert result.tolist() == [2, 3]


# -- weights ----------------------------------------------------------------------------------


def test_weights_stay_in_the_file_that_they_are_mapped_from(tmp_path: Path) -> None:
    weight = np.arange(1024, dtype=np.float32).reshape(512, 2)
    line = "nn.Linear fc 1 1 0 1 bias=False @weight=(512,2)f32"
    source = text("pnnx.Input a 0 1 0 #0=(1,2)f32", line, "pnnx.Output out 1 0 1")
    path = write_pair(tmp_path, source, {"fc.weight": weight.tobytes()})
    module = import_pnnx(path)
    (kept,) = module.weights.values()
    assert np.array_equal(kept, weight)
    assert not kept.flags.owndata
    assert not kept.flags.writeable
    (result,) = interpret.run(module, [np.array([[2, 3]], np.float32)])
    assert np.array_equal(result[0], weight @ np.array([2, 3], np.float32))


def test_weights_that_nobody_uses_are_left_out(tmp_path: Path) -> None:
    source = text(
        "pnnx.Input a 0 1 0 #0=(1,2)f32",
        "pnnx.Attribute free 0 1 1 @data=(1024)f32",
        "pnnx.Output out 1 0 0",
    )
    module = import_pnnx(write_pair(tmp_path, source, {"free.data": bytes(4096)}))
    assert not module.weights
    assert op_names(module) == []


def test_a_free_weight_is_one_constant_with_its_own_name(tmp_path: Path) -> None:
    source = text(
        "pnnx.Input a 0 1 0 #0=(1024)f32",
        "pnnx.Attribute w 0 1 1 @data=(1024)f32",
        "torch.gt g 2 1 0 1 2 $input=0 $other=1",
        "torch.lt l 2 1 0 1 3 $input=0 $other=1",
        "prim::TupleConstruct t 2 1 2 3 4",
        "pnnx.Output out 1 0 4",
    )
    module = import_pnnx(write_pair(tmp_path, source, {"w.data": bytes(4096)}))
    (weight,) = (op for op in ops(module.operation) if isinstance(op, tri.Weight))
    assert (node_names(weight.location), value_names(weight.location)) == (("w",), ("1",))
    assert list(module.weights) == ["1"]


def test_a_weight_of_a_module_that_is_an_input_as_well_is_read_once(tmp_path: Path) -> None:
    weight = np.arange(6, dtype=np.float32).reshape(2, 3)
    source = text(
        "pnnx.Input a 0 1 0 #0=(2,3)f32",
        "pnnx.Attribute w 0 1 1 @data=(2,3)f32",
        "nn.Linear head 2 1 1 0 2 bias=False @weight=(2,3)f32",
        "pnnx.Output out 1 0 2",
    )
    data = {"w.data": weight.tobytes(), "head.weight": weight.tobytes()}
    (result,) = interpret.run(import_pnnx(write_pair(tmp_path, source, data)), [X])
    assert np.array_equal(result, X @ weight.T)
    # Other bytes are another tensor, and a layer has no place for it.
    data["w.data"] = bytes(24)
    with pytest.raises(CompileError, match=r"'nn\.Linear' operator 'head' "):
        import_pnnx(write_pair(tmp_path, source, data))


def test_a_graph_made_by_code_is_compiled() -> None:
    graph = Graph()
    x, y = graph.add_operand("x"), graph.add_operand("y")
    x.dtype, x.shape = "f32", (2, 3)
    graph.add_operator("pnnx.Input", "input").add_output(x)
    norm = graph.add_operator("nn.LayerNorm", "norm")
    norm.add_input(x)
    norm.add_output(y)
    norm.parameters["normalized_shape"] = Parameter.of((3,))
    norm.attributes["weight"] = Attribute.of(np.array([1, 2, 3], np.float32))
    graph.add_operator("pnnx.Output", "output").add_input(y)
    wide = X.astype(np.float64)
    want = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(trivium.compile(graph)(X), want * [1, 2, 3], rtol=1e-5)


# -- sizes ------------------------------------------------------------------------------------


def test_sizes_are_bound_by_symbol_by_place_and_by_input() -> None:
    source = unary("F.relu", "(%N,?,3)f32")
    assert "tensor<4x5x3xf32>" in str(imported(source, shapes={"N": 4, "in0.1": 5}))
    assert "tensor<1x2x3xf32>" in str(imported(source, shapes={"in0": (1, 2, 3)}))
    assert 'tensor<?x?x3xf32, ["N", "in0_1", ""]>' in str(imported(source))
    assert "axis 2 of size 3 by the model, 4 by shapes['in0']" in refusal(
        source, shapes={"in0": (1, 2, 4)}
    )


def test_an_input_without_a_type() -> None:
    source = text("pnnx.Input a 0 1 0", "F.relu r 1 1 0 1", "pnnx.Output out 1 0 1")
    assert "in0: error: input has no element type in the file" in refusal(source)


def test_shapes_that_the_file_leaves_out_are_inferred_and_those_in_it_are_checked() -> None:
    assert "tensor<3x2xf32>" in str(imported(unary("torch.t", "(2,3)f32")))
    assert "tensor<3x2xf32>" in str(imported(unary("torch.t", "(2,3)f32", "(?,2)f32")))
    wrong = refusal(unary("torch.t", "(2,3)f32", "(2,3)f32"))
    assert "'torch.t' operator 'op' makes (3,2)f32, the file says (2,3)f32" in wrong
    typed = refusal(unary("torch.t", "(2,3)f32", "(3,2)f64"))
    assert "makes (3,2)f32, the file says (3,2)f64" in typed


def test_sizes_are_computed_while_importing() -> None:
    source = text(
        "pnnx.Input a 0 1 0 #0=(?,3,4)f32",
        "Tensor.size rows 1 1 0 1 dim=0",
        "pnnx.Expression shape 2 1 1 0 2 expr=[mul(@0,3),size(@1,-1)]",
        "Tensor.reshape flat 2 1 0 2 3 $input=0 $shape=2",
        "pnnx.Output out 1 0 3",
    )
    module = imported(source, shapes={"in0.0": 2})
    assert op_names(module) == ["tri.reshape"]
    assert "tensor<6x4xf32>" in str(module)


def test_slices_take_indices_that_are_computed() -> None:
    source = text(
        "pnnx.Input a 0 1 0 #0=(6)f32",
        "pnnx.Expression half 1 1 0 1 expr=floor_divide(size(@0,0),2)",
        "pnnx.SliceIndexes ends 1 1 1 2 indexes=(@0)",
        "Tensor.slice part 2 1 0 2 3 dims=(0) selects=(2147483647) starts=(0) steps=(1) "
        "$input=0 $ends=2",
        "pnnx.Output out 1 0 3",
    )
    (result,) = run(source, np.arange(6, dtype=np.float32))
    assert result.tolist() == [0, 1, 2]


def test_an_element_may_decide_a_size() -> None:
    source = text(
        "pnnx.Input a 0 1 0 #0=(2)i64",
        "Tensor.select n 1 1 0 1 dim=0 index=0",
        "torch.arange count 1 1 1 2 $end=1 #2=(4)i64",
        "pnnx.Output out 1 0 2",
    )
    # With other values than those of the file, shapes may be others, too.
    for (result,) in (
        run(source, np.array([3, 0])),
        run(source, constants={"in0": np.array([3, 0])}),
    ):
        assert result.tolist() == [0, 1, 2]


def test_an_axis_must_be_known() -> None:
    source = text(
        "pnnx.Input a 0 1 0 #0=(2)i64",
        "Tensor.select n 1 1 0 1 dim=0 index=0",
        "torch.unsqueeze wide 2 1 0 1 2 $input=0 $dim=1",
        "pnnx.Output out 1 0 2",
    )
    with pytest.raises(CompileError) as caught:
        imported(source)
    assert "needs the value of input 'dim' at compile time" in str(caught.value)
    assert caught.value.needs == ("in0",)
    (result,) = run(source, constants={"in0": np.array([1, 0])})
    assert result.tolist() == [[1], [0]]


# -- faults -----------------------------------------------------------------------------------


def test_all_unsupported_operators_are_reported_at_once_by_line() -> None:
    message = refusal(
        text(
            "pnnx.Input a 0 1 0 #0=(2)f32",
            "F.reluu first 1 1 0 1",
            "F.relu fine 1 1 1 2",
            "torch.dequantize second 0 1 3",
            "pnnx.Output out 1 0 2",
        )
    )
    assert "<text>:4: error: 'F.reluu' operator 'first' is not supported" in message
    assert "note: similar types that are supported: F.relu" in message
    assert (
        "<text>:6: error: 'torch.dequantize' operator 'second' is of torch's quantised" in message
    )
    assert "fine" not in message


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("F.leaky_relu negative_slope=0.1 wobble=1", "has parameter 'wobble', which its rule does"),
        ("F.leaky_relu negative_slope=steep", "has negative_slope 'steep', must be a number"),
        ("torch.flatten start_dim=1.5", "has start_dim 1.5, must be an integer"),
        ("torch.unsqueeze", "has no dim"),
        ("nn.Linear bias=True", "has no weight"),
        (
            "F.dropout2d training=True",
            "drops features at random (training=True), must be inference",
        ),
        ("pnnx.Expression expr=add(@0", "expression ends at column 7"),
        ("pnnx.Expression expr=add(@0,@1)", "expression names @1, there are 1 operands"),
        ("prim::TupleUnpack", "has operands a tensor, must be a list"),
        ("torch.imag", "has input a tensor, must be a complex tensor"),
        ("F.softmax dim=2", "axis 2 is outside [-2, 2) of a rank-2 tensor"),
    ],
)
def test_a_fault_names_the_line_and_the_operator(line: str, fault: str) -> None:
    message = refusal(unary(line))
    type_ = line.split(" ")[0]
    assert message.startswith(f"<text>:4: error: '{type_}' operator 'op' ")
    assert fault in message


def test_a_weight_that_a_rule_has_no_place_for() -> None:
    graph = read_pnnx(unary("nn.ReLU"))
    graph.operator("op").attributes["gain"] = Attribute.of(X)
    with pytest.raises(CompileError, match="has a weight 'gain', which its rule does not take"):
        import_pnnx(graph)


def test_inputs_that_a_rule_has_no_place_for() -> None:
    two = text(
        "pnnx.Input a 0 1 0 #0=(2)f32",
        "F.relu r 2 1 0 0 1 {}",
        "pnnx.Output out 1 0 1",
    )
    assert "has 2 inputs, must have at most 1" in refusal(two.format(""))
    assert "has input 'other', which its rule does not know" in refusal(
        two.format("$input=0 $other=0")
    )


def test_the_only_input_of_an_operator_may_have_any_slot() -> None:
    (result,) = run(unary("Tensor.reshape shape=(6) $mask=0"), X)
    assert result.tolist() == X.reshape(6).tolist()


def test_outputs_that_cannot_be_computed() -> None:
    source = text("pnnx.Input a 0 1 0 #0=(2)f32", "F.relu r 1 2 0 1 2", "pnnx.Output out 1 0 2")
    assert "has 2 outputs, 1 can be computed" in refusal(source)


# -- rules from outside -----------------------------------------------------------------------


def test_a_user_registers_a_rule_for_a_module_of_his_own() -> None:
    @torch_op("models.Scale")
    def scale(x: Value, gain: Value, *, times: int = 1) -> Value:
        for _ in range(times):
            x = tri.Mul.build(x, gain).y
        return x

    try:
        graph = read_pnnx(unary("models.Scale times=2"))
        graph.operator("op").attributes["gain"] = Attribute.of(np.float32([2, 3, 4]))
        (result,) = interpret.run(import_pnnx(graph), [X])
    finally:
        del RULES["models.Scale"]
    assert np.array_equal(result, X * [4, 9, 16])
    assert "'models.Scale' operator 'op' is not supported" in refusal(unary("models.Scale"))


# -- the frontend as a whole ------------------------------------------------------------------


def test_paths_that_end_in_param_are_pnnx(tmp_path: Path) -> None:
    path = linear(tmp_path)
    session = trivium.compile(str(path))
    assert session.manifest.source == "net.pnnx.param"
    placements = trivium.check(path)
    assert {placement.target for placement in placements} == {"cpu"}
    with pytest.raises(CompileError, match=r"nowhere\.param: error: cannot be read"):
        trivium.compile(tmp_path / "nowhere.param")


def test_complex_numbers_go_in_and_out_as_such() -> None:
    source = text(
        "pnnx.Input a 0 1 0 #0=(3)c64",
        "pnnx.Expression e 1 1 0 1 expr=mul(@0,sub(1.5+2.0j,@0))",
        "torch.view_as_real parts 1 1 1 2",
        "prim::TupleConstruct both 2 1 1 2 3",
        "pnnx.Output out 1 0 3",
    )
    session = trivium.compile(read_pnnx(source))
    assert [(p.name, p.dtype, p.shape) for p in session.inputs] == [("in0", "complex64", (3,))]
    assert [(p.dtype, p.shape) for p in session.outputs] == [
        ("complex64", (3,)),
        ("float32", (3, 2)),
    ]
    x = np.array([1 + 2j, -0.5j, 3], np.complex64)
    y, parts = session(x)
    want = x.astype(np.complex128) * (1.5 + 2j - x.astype(np.complex128))
    np.testing.assert_allclose(y, want, rtol=1e-6)
    np.testing.assert_allclose(parts, np.stack([want.real, want.imag], 1), rtol=1e-6)
    target = np.empty(3, np.complex64)
    results = session.run({"in0": x}, {"out0": target})
    assert results["out0"] is target
    np.testing.assert_array_equal(target, y)
