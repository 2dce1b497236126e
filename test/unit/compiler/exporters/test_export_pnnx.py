"""PNNX files: every op that torch has goes out and comes back the same."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from examples import Example, examples
from examples_factors import FACTORS
from examples_math import MATH
from examples_moves import MOVES
from examples_networks import NETWORKS
from examples_nn import NN
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from single_op import assert_same, computed, peers_agree, single, tamed, usual, variable
from torch_runner import run_by_torch
from trivium.compiler.exporters.pnnx import export_pnnx, save_pnnx
from trivium.compiler.exporters.pnnx.graph import RULES
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.frontends.pnnx import Graph, read_pnnx, write_pnnx
from trivium.compiler.frontends.pnnx.importer import import_pnnx
from trivium.dialects import tri
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array

EXAMPLES = MATH | MOVES | NETWORKS | NN
NOT_IN_TORCH = {
    *FACTORS,
    *(
        tri.BitCast,
        tri.CouplePairs,
        tri.PowerOfTwo,
        tri.Det,
        tri.GatherNd,
        tri.Hardmax,
        tri.Inverse,
        tri.IndexedBlockMatMul,
        tri.IndexedMatMul,
        tri.BlockQuantizedMatMul,
        tri.LinearAttention,
        tri.OneHot,
        tri.TensorScatter,
        tri.CachedAttention,
        tri.TreeEnsemble,
    ),
    *(tri.ReverseSequence, tri.ScatterNd, tri.DeformConv, tri.RoiAlign, tri.MaxRoiPool),
    *(
        tri.Quantize,
        tri.QuantizeRows,
        tri.Dequantize,
        tri.Requantize,
        tri.RequantizeMean,
        tri.QuantizedLstm,
    ),
    *(tri.StringConcat, tri.StringSplit, tri.StringNormalize, tri.RegexFullMatch, tri.Lookup),
    tri.DecodeImage,
}
"""Ops that torch does not have, or not among what PNNX keeps."""

ROUNDED = {
    tri.HardSigmoid: 2,
    tri.LpNormalize: 4,
    tri.Pow: 1,
    tri.ReduceLogSum: 4,
    tri.ReduceSumSquare: 4,
    tri.Swish: 4,
}
"""Ops that torch computes in steps, each of which rounds, and how many units that may make."""

PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
LAW = settings(derandomize=True, deadline=None, max_examples=30, database=None, phases=PHASES)
NOT_IN_STATIC_MODULES = {
    *(tri.If, tri.Loop, tri.Fail, tri.Sizes, tri.Iota, tri.DefineSizes),
    *(tri.Unique, tri.NonMaxSuppression),
}
"""Exporters write modules of static sizes, without control flow."""
FINDERS = {tri.NonZero: "torch.nonzero", tri.Compress: "torch.masked_select"}
"""Ops whose sizes a run finds, which have a test of their own, and torch's words for them."""
FOUND = """7767517
4 3
pnnx.Input in 0 1 x #x=(3,4)f32
torch.gt gt 1 1 x high other=0.5 $input=x #x=(3,4)f32 #high=(3,4)bool
{type} find {slots} #high=(3,4)bool
pnnx.Output last 1 0 out
"""

OPS = [pytest.param(op, id=op.op_name) for op in RULES.functions if op not in FINDERS]


@pytest.fixture(autouse=True)
def context() -> Iterator[ir.Context]:
    with new_context() as context, ir.Location.unknown():
        yield context


def exported(module: Module) -> Graph | None:
    """Export; None for an example that torch cannot say."""
    try:
        return export_pnnx(module)
    except CompileError as error:
        if not any(word in str(error) for word in ("torch", "PNNX")):
            raise
        return None


def test_every_op_has_a_rule_unless_torch_lacks_it() -> None:
    without = {tri.Constant, tri.Weight, tri.Copy, tri.Group, tri.Part, tri.Yield, tri.StorageCast}
    without |= NOT_IN_STATIC_MODULES
    without |= {tri.PaddedNonZero, tri.PaddedNonMaxSuppression}  # forms of a target
    assert {*RULES.functions} | NOT_IN_TORCH == {*tri.TRI.ops.values()} - without
    assert not {*RULES.functions} & NOT_IN_TORCH


@pytest.mark.parametrize("op", OPS)
@LAW
@given(data=st.data(), constant=st.lists(st.booleans(), max_size=4))
def test_an_op_comes_back_as_the_same(
    op: type[Op], data: st.DataObject, constant: list[bool], tmp_path_factory
) -> None:
    example = data.draw(examples(EXAMPLES[op]))
    if example.attributes.get("expr", "").startswith("["):
        return  # lists of numbers are sizes for others, not tensors
    check(op, example, constant, tmp_path_factory.getbasetemp())


def judged(array: Array) -> bool:
    """Say whether torch can judge a number: halves it rounds at each step."""
    return usual(array) and array.dtype.itemsize > 2


def check(op: type[Op], example: Example, constant: list[bool], folder: Path) -> bool:
    """Write and read an op, and compare; say whether torch has it."""
    inputs = variable(example, constant)
    module = single(op, example, constant)
    graph = exported(module)
    if graph is None:
        return False
    write_pnnx(graph, folder / "op.pnnx.param", folder / "op.pnnx.bin")
    again = import_pnnx(read_pnnx(folder / "op.pnnx.param"))
    expected = computed(module, inputs)
    assert_same(computed(again, inputs), expected, ROUNDED.get(op, 0))
    if issubclass(op, MODULES) and all(map(judged, (*inputs, *expected))):
        for got, want in zip(run_by_torch(graph, inputs), expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    return True


NOT_JUDGED = {
    tri.Expression: "comes from PNNX",
    tri.GroupNorm: "groups of nearly equal elements, of which torch loses digits",
    tri.GridSample: "points reflected to between two elements, of which torch takes the other one",
}


@pytest.mark.parametrize("op", [p for p in OPS if p.values[0] not in NOT_JUDGED])
@LAW
@given(data=st.data(), constant=st.lists(st.booleans(), max_size=4))
def test_torch_computes_the_same(op: type[Op], data: st.DataObject, constant: list[bool]) -> None:
    example = tamed(data.draw(examples(EXAMPLES[op])))
    assume(peers_agree(op, example))
    inputs = variable(example, constant)
    try:
        module = single(op, example, constant)
    except Invalid:
        return  # the op takes no f32
    expected = computed(module, inputs)
    graph = exported(module)
    if graph is None or not all(usual(a) for a in (*inputs, *expected)):
        return
    for got, want in zip(run_by_torch(graph, inputs), expected, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("type", FINDERS.values())
def test_torch_finds_the_same(type: str, tmp_path: Path) -> None:
    slots = "1 1 high out" if type == "torch.nonzero" else "2 1 x high out $input=x $mask=high"
    path = tmp_path / "found.pnnx.param"
    path.write_text(FOUND.format(type=type, slots=slots))
    graph = export_pnnx(import_pnnx(path))
    assert any(each.type == type for each in graph.operators)
    x = np.random.default_rng(0).random((3, 4), np.float32)
    (got,) = run_by_torch(graph, [x])
    want = np.argwhere(x > 0.5) if type == "torch.nonzero" else x[x > 0.5]
    np.testing.assert_array_equal(got, want)


MODULES = (tri.Rnn, tri.Gru, tri.Lstm, tri.RecurrentStack, tri.MultiheadAttention)
RECURRENT = {tri.Rnn: 1, tri.Gru: 3, tri.Lstm: 4}


@pytest.mark.parametrize("op", RECURRENT)
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize("extras", ["nothing", "bias", "bias and state"])
def test_recurrent_layers(op: type[Op], direction: str, extras: str, tmp_path: Path) -> None:
    random = np.random.default_rng(0)

    def draw(*shape: int) -> np.ndarray:
        return random.normal(size=shape).astype(np.float32)

    directions, gates, hidden = 1 + (direction == "bidirectional"), RECURRENT[op], 3
    rows = gates * hidden
    weights = draw(directions, rows, 2), draw(directions, rows, hidden)
    bias = None if extras == "nothing" else draw(directions, 2 * rows)
    state = draw(directions, 4, hidden) if "state" in extras else None
    states = [state] if op is not tri.Lstm else [state, state, None, None]
    attributes = {"hidden_size": hidden, "direction": direction}
    if op is tri.Gru:
        attributes["linear_before_reset"] = True
    example = Example((draw(5, 4, 2), *weights, bias, None, *states), attributes)
    assert check(op, example, [False, True, True, True], tmp_path)


def test_a_projected_lstm(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    shapes = [(5, 4, 2), (2, 12, 2), (2, 12, 2), (2, 24), None, None, None, None, (2, 2, 3)]
    operands = [s and random.normal(size=s).astype(np.float32) for s in shapes]
    example = Example(tuple(operands), {"hidden_size": 3, "direction": "bidirectional"})
    assert check(tri.Lstm, example, [False, True, True, True, True], tmp_path)


@pytest.mark.parametrize("cell", ["lstm", "gru", "relu"])
def test_a_stack_of_recurrent_layers_is_one_module(cell: str, tmp_path: Path) -> None:
    random = np.random.default_rng(0)

    def draw(*shapes: tuple[int, ...]) -> list[np.ndarray]:
        return [random.normal(size=shape).astype(np.float32) for shape in shapes]

    rows = {"lstm": 12, "gru": 9}.get(cell, 3)
    shown = 2 if cell == "lstm" else 3
    projection = draw((2, 2, 3), (2, 2, 3)) if cell == "lstm" else []
    states = draw((4, 4, shown), *([(4, 4, 3)] if cell == "lstm" else []))
    (x,) = draw((4, 5, 6))
    w, r = draw((2, rows, 6), (2, rows, 2 * shown)), draw((2, rows, shown), (2, rows, shown))
    b = draw((2, 2 * rows), (2, 2 * rows))
    attributes = {"cell": cell, "hidden_size": 3, "bidirectional": True, "batch_first": True}
    example = Example((x, w, r, b, projection, states), attributes)
    constant = [False, *[True] * (6 + len(projection))]
    assert check(tri.RecurrentStack, example, constant, tmp_path)


@pytest.mark.parametrize("size", [4, 6])
@pytest.mark.parametrize("mask", [None, np.bool_, np.float32])
@pytest.mark.parametrize("batch_first", [True, False])
def test_attention_modules(size: int, mask: type | None, batch_first: bool, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    shapes = [(3, 2, 4), (3, 2, size), (3, 2, size)]
    x = [random.normal(size=shape).astype(np.float32) for shape in shapes]
    w = [random.normal(size=(4, n)).astype(np.float32) for n in (4, size, size)]
    b, out_w = (random.normal(size=n).astype(np.float32) for n in (12, (4, 4)))
    seen = random.normal(size=(2, 2) if batch_first else (3, 3)) > -1
    np.fill_diagonal(seen, True)
    given = None if mask is None else seen.astype(mask)
    kept = [*x, w, out_w, b, None, None, None, given]
    constant = [False] * 3 + [True] * 5
    example = Example(tuple(kept), {"heads": 2, "batch_first": batch_first})
    assert check(tri.MultiheadAttention, example, constant, tmp_path)


def test_selu_has_torchs_constants(tmp_path: Path) -> None:
    x = np.array([-1, 2], np.float32)
    assert check(tri.Selu, Example((x,)), [], tmp_path)
    assert not check(tri.Selu, Example((x,), {"alpha": 2.0}), [], tmp_path)


def conv(pads: tuple[int, ...], weight: str = "%w") -> str:
    return f"""
      func.func @main(%x: tensor<1x2x5x5xf32>, %v: tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32> {{
        %w = "tri.weight"() {{name = "w", type = tensor<3x2x3x3xf32>}} : () -> tensor<3x2x3x3xf32>
        %y = "tri.conv"(%x, {weight}) {{strides = array<i64: 2, 2>,
            pads = array<i64: {", ".join(map(str, pads))}>, dilations = array<i64: 1, 1>}}
          : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
        return %y : tensor<1x3x3x3xf32>
      }}"""


def types(text: str) -> list[str]:
    module = Module.parse(text, {"w": np.zeros((3, 2, 3, 3), np.float32)})
    return [operator.type for operator in export_pnnx(module).operators]


def test_a_layer_is_torchs_module_with_its_weights() -> None:
    inputs = ["pnnx.Input"] * 2
    assert types(conv((1, 1, 1, 1))) == [*inputs, "nn.Conv2d", "pnnx.Output"]


def test_weights_that_are_computed_are_operands() -> None:
    inputs = ["pnnx.Input"] * 2
    assert types(conv((1, 1, 1, 1), "%v")) == [*inputs, "F.conv2d", "pnnx.Output"]


def test_uneven_padding_is_an_operator_of_its_own() -> None:
    inputs = ["pnnx.Input"] * 2
    assert types(conv((2, 0, 0, 2))) == [*inputs, "F.pad", "nn.Conv2d", "pnnx.Output"]


def test_weights_are_not_copied() -> None:
    w = np.zeros((3, 2, 3, 3), np.float32)
    graph = export_pnnx(Module.parse(conv((1, 1, 1, 1)), {"w": w}))
    (layer,) = (operator for operator in graph.operators if operator.type == "nn.Conv2d")
    assert np.shares_memory(layer.attributes["weight"].array(), w)


ELEMENTWISE = """
  func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
      attributes {trivium.inputs = ["the x"], trivium.outputs = ["a=b", "x"]} {
    %c = "tri.constant"() {value = dense<0.1> : tensor<f32>} : () -> tensor<f32>
    %y = "tri.mul"(%x, %c) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> loc("scale it")
    return %y, %x : tensor<2xf32>, tensor<2xf32>
  }"""


def test_numbers_stand_in_expressions_and_names_have_no_blanks(tmp_path: Path) -> None:
    save_pnnx(Module.parse(ELEMENTWISE), tmp_path / "net.param")
    lines = [line.split() for line in (tmp_path / "net.param").read_text().splitlines()[2:]]
    tensor = "(2)f32"
    assert lines == [
        ["pnnx.Input", "the_x", "0", "1", "the_x", f"#the_x={tensor}"],
        [
            *("pnnx.Expression", "scale_it", "1", "1", "the_x", "a_b"),
            "expr=mul(@0,0.10000000149011612)",
            *(f"#the_x={tensor}", f"#a_b={tensor}"),
        ],
        [
            *("prim::TupleConstruct", "outputs", "2", "1", "a_b", "the_x", "outputs"),
            *(f"#a_b={tensor}", f"#the_x={tensor}"),
        ],
        ["pnnx.Output", "a_b", "1", "0", "outputs"],
    ]
    x = np.array([1, -2], np.float32)
    again = import_pnnx(read_pnnx(tmp_path / "net.param"))
    assert_same(computed(again, [x]), [x * np.float32(0.1), x])


def test_a_model_comes_back_with_as_many_ops() -> None:
    module = Module.parse(conv((1, 1, 1, 1)), {"w": np.ones((3, 2, 3, 3), np.float32)})
    again = import_pnnx(export_pnnx(module))
    assert [op.op_name for op in ops(again.operation)] == ["tri.constant", "tri.conv"]


def test_all_ops_without_equivalent_are_reported_at_once() -> None:
    module = Module.parse(
        """func.func @main(%x: tensor<2xi64>, %y: tensor<2x2xf32>)
            -> (tensor<2xi64>, tensor<2x2xf32>, tensor<f32>) {
          %a = "tri.div"(%x, %x) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64> loc("one")
          %b = "tri.hardmax"(%y) : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("two")
          %c = "tri.det"(%y) : (tensor<2x2xf32>) -> tensor<f32> loc("three")
          return %a, %b, %c : tensor<2xi64>, tensor<2x2xf32>, tensor<f32>
        }"""
    )
    with pytest.raises(CompileError) as error:
        export_pnnx(module)
    assert str(error.value).splitlines() == [
        "one: error: 'tri.div' op takes i64, of which torch makes floats or refuses them",
        "two: error: 'tri.hardmax' op has no equivalent in PNNX",
        "three: error: 'tri.det' op has no equivalent in PNNX",
    ]


def test_an_input_of_a_type_that_pnnx_lacks() -> None:
    module = Module.parse(
        "func.func @main(%x: tensor<2xui64>) -> tensor<2xui64> { return %x : tensor<2xui64> }"
    )
    with pytest.raises(CompileError, match="makes elements of ui64, which PNNX does not have"):
        export_pnnx(module)


LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
NETS = ("light_densenet121", "light_inception_v2", "light_resnet50", "light_shufflenet")


@pytest.mark.slow
@pytest.mark.parametrize("net", NETS)
def test_torch_computes_networks_from_onnx(net: str) -> None:
    path = LIGHT / f"{net}.onnx"
    graph = export_pnnx(import_onnx(path))
    x = np.random.default_rng(0).normal(size=graph.operators[0].outputs[0].shape).astype(np.float32)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {session.get_inputs()[0].name: x})
    (got,) = run_by_torch(graph, [x])
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())
