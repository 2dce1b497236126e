"""ONNX files: every op goes out and comes back the same, and ONNX Runtime computes the same."""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

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
from onnxruntime.capi import onnxruntime_pybind11_state as runtime
from single_op import assert_same, computed, peers_agree, single, tamed, usual, variable
from trivium.compiler.exporters.onnx import export_onnx, exporter, save_onnx
from trivium.compiler.exporters.onnx.graph import RULES
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects import cpu as cpu
from trivium.dialects import tri
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array
from trivium.passes.default import WHOLE

EXAMPLES = {op: make for op, make in (MATH | MOVES | NETWORKS | NN).items()}
WHOLE_OPS = {cls for cls in tri.TRI.ops.values() if cls.op_name.removeprefix("tri.") in WHOLE}
NOT_IN_ONNX = {
    *(tri.CachedAttention, tri.CouplePairs, tri.IndexedBlockMatMul),
    *(tri.IndexedMatMul, tri.Inverse),
    *(tri.Atan2, tri.Expm1, tri.Lgamma, tri.Log1p),
    *(tri.QuantizeRows, tri.Requantize, tri.RequantizeMean),
    *FACTORS,
    *WHOLE_OPS,
}
"""What ONNX has in parts is taken apart before, the others it lacks."""


OPS = [pytest.param(op, id=op.op_name) for op in EXAMPLES if op not in NOT_IN_ONNX]
PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
LAW = settings(derandomize=True, deadline=None, max_examples=25, database=None, phases=PHASES)

ILL_CONDITIONED = (tri.BatchNorm, tri.InstanceNorm, tri.GroupNorm)
"""Ops that divide by small numbers; they get ten times the tolerance, as in closeness.py."""

ROUNDED = (tri.QuantizedLstm,)
"""Ops that round floats to integers, which NaN and infinities have none of."""

NOT_JUDGED = {
    tri.Dft: "onesided inverse transforms, of which it makes other lengths",
    tri.GroupNorm: "groups of nearly equal elements, of which it loses digits",
    tri.Gru: "sequences of length 0, of which it gives other states",
    tri.Rnn: "sequences of length 0, of which it gives other states",
    tri.RoiAlign: "negative batch indices",
    tri.ReverseSequence: "lengths of 0, which it takes for 1",
}
"""Where ONNX Runtime departs from the cases of ONNX's own suite, by which `reference` goes."""


@pytest.fixture(autouse=True)
def context() -> Iterator[ir.Context]:
    with new_context() as context, ir.Location.unknown():
        yield context


def halved(value: Any) -> Any:
    """Round the floats of an attribute to f32, which is what ONNX keeps."""
    if isinstance(value, tuple):
        return tuple(map(halved, value))
    return float(np.float32(value)) if isinstance(value, float) else value


def rounded(op: type[Op], example: Example) -> Example:
    complete = {f.name: f.default for f in op.fields.attributes if not f.required}
    attributes = {k: halved(v) for k, v in (complete | example.attributes).items()}
    return dataclasses.replace(example, attributes=attributes)


def exported(module: Module) -> onnx.ModelProto | None:
    """Export; None for an example that ONNX cannot say."""
    try:
        return export_onnx(module)
    except CompileError as error:
        if "ONNX" not in str(error):
            raise
        return None


def test_every_op_has_a_rule_unless_onnx_lacks_it() -> None:
    without = {tri.Constant, tri.Weight, tri.Copy, tri.Group, tri.Part, tri.Yield, tri.StorageCast}
    without |= {tri.Fail}  # which ends branches that cannot run
    without |= {tri.PaddedNonZero, tri.PaddedNonMaxSuppression}  # forms of a target
    assert {*RULES.functions} | NOT_IN_ONNX == {*tri.TRI.ops.values()} - without
    assert not {*RULES.functions} & NOT_IN_ONNX


@pytest.mark.parametrize("op", OPS)
@LAW
@given(data=st.data(), constant=st.lists(st.booleans(), max_size=4))
def test_an_op_comes_back_as_the_same(
    op: type[Op], data: st.DataObject, constant: list[bool]
) -> None:
    example = rounded(op, data.draw(examples(EXAMPLES[op])))
    example = tamed(example) if op in ROUNDED else example
    inputs = variable(example, constant)
    module = single(op, example, constant)
    if model := exported(module):
        assert_same(computed(import_onnx(model), inputs), computed(module, inputs))


def run(model: onnx.ModelProto, inputs: Sequence[Array]) -> list[Array]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [each.name for each in session.get_inputs()]
    return [np.asarray(a) for a in session.run(None, dict(zip(names, inputs, strict=True)))]


@pytest.mark.parametrize("op", [p for p in OPS if p.values[0] not in NOT_JUDGED])
@LAW
@given(data=st.data())
def test_onnx_runtime_computes_the_same(op: type[Op], data: st.DataObject) -> None:
    example = tamed(rounded(op, data.draw(examples(EXAMPLES[op]))))
    assume(example.attributes.get("sorted", True))  # else any order is right
    assume(peers_agree(op, example))
    inputs = variable(example, [])
    try:
        module = single(op, example)
    except Invalid:
        return  # the op takes no f32
    expected = computed(module, inputs)
    model = exported(module)
    if model is None or not all(usual(a) for a in (*inputs, *expected)):
        return
    try:
        got = run(model, inputs)
    except (runtime.Fail, runtime.NotImplemented, runtime.InvalidArgument):
        return  # it says what it does not implement
    for one, other in zip(got, expected, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        limit = 10 if issubclass(op, ILL_CONDITIONED) else 1
        np.testing.assert_allclose(one, other, rtol=limit * 1e-4, atol=limit * 1e-5)


def parse(body: str, types: str, results: str, outputs: str = "") -> Module:
    names = f' attributes {{trivium.outputs = [{outputs}], trivium.inputs = ["x"]}}'
    return Module.parse(
        f"func.func @main({types}) -> {results}{names if outputs else ''} {{{body}}}"
    )


def test_outputs_that_are_inputs_constants_or_one_another() -> None:
    module = parse(
        """%c = "tri.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
        %y = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
        return %y, %y, %x, %c
            : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>""",
        "%x: tensor<2xf32>",
        "(tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)",
        '"y", "again", "same", "fixed"',
    )
    model = export_onnx(module)
    assert [each.name for each in model.graph.output] == ["y", "again", "same", "fixed"]
    x = np.array([-1, 3], np.float32)
    assert [a.tolist() for a in run(model, [x])] == [[0, 3], [0, 3], [-1, 3], [1, 2]]


def test_groups_are_opened() -> None:
    module = parse(
        """%g = "tri.group"(%x) ({
        ^bb0(%a: tensor<2xf32>):
          %b = "tri.neg"(%a) : (tensor<2xf32>) -> tensor<2xf32>
          %c = "tri.exp"(%b) : (tensor<2xf32>) -> tensor<2xf32>
          "tri.yield"(%c) : (tensor<2xf32>) -> ()
        }) {target = "cpu"} : (tensor<2xf32>) -> tensor<2xf32>
        return %g : tensor<2xf32>""",
        "%x: tensor<2xf32>",
        "tensor<2xf32>",
    )
    model = export_onnx(module)
    assert [node.op_type for node in model.graph.node] == ["Neg", "Exp"]


def test_names_of_nodes_and_values_are_kept(tmp_path: Path) -> None:
    source = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        g (float[2] x) => (float[2] y) { [first] a = Abs(x) [second] y = Sqrt(a) }"""
    )
    save_onnx(import_onnx(source), tmp_path / "again.onnx")
    model = onnx.load(tmp_path / "again.onnx")
    said = [
        [(n.name, n.op_type, *n.input, *n.output) for n in m.graph.node] for m in (model, source)
    ]
    assert said[0] == said[1]
    assert [v.name for v in (*model.graph.input, *model.graph.output)] == ["x", "y"]
    assert (model.opset_import[0].version, model.producer_name) == (18, "trivium")


def test_the_opset_is_the_least_that_has_all_operators() -> None:
    def opset(op: str, dtype: str) -> int:
        text = f'%y = "tri.{op}"(%x) : (tensor<2x{dtype}>) -> tensor<2x{dtype}>'
        module = parse(
            f"{text} return %y : tensor<2x{dtype}>", f"%x: tensor<2x{dtype}>", f"tensor<2x{dtype}>"
        )
        return export_onnx(module).opset_import[0].version

    assert opset("relu", "f32") == 18
    assert opset("gelu", "f32") == 20
    assert opset("silu", "f32") == 24
    assert opset("sin", "bf16") == 22


def test_all_ops_without_equivalent_are_reported_at_once() -> None:
    module = parse(
        """%a = "tri.neg"(%x) : (tensor<2xui8>) -> tensor<2xui8> loc("one")
        %b = "tri.mod"(%y, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("two")
        %c = "tri.weight"() {name = "lost", type = tensor<2xf32>} : () -> tensor<2xf32>
        %d = "tri.add"(%b, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("three")
        return %a, %d : tensor<2xui8>, tensor<2xf32>""",
        "%x: tensor<2xui8>, %y: tensor<2xf32>",
        "(tensor<2xui8>, tensor<2xf32>)",
    )
    with pytest.raises(CompileError) as error:
        export_onnx(module)
    assert str(error.value).splitlines() == [
        "one: error: 'tri.neg' op takes ui8, which ONNX's Neg does not",
        "two: error: 'tri.mod' op takes floats with the sign of the divisor, "
        "ONNX's Mod with the other",
        "three: error: 'tri.add' op takes weight 'lost', which is not with the module",
    ]


COUNTED = """%y = "tri.grid_sample"(%x, %g) {normalized = false} :
  (tensor<1x1x4x5xf32>, tensor<1x2x3x2xf32>) -> tensor<1x1x2x3xf32> loc("warp")
return %y : tensor<1x1x2x3xf32>"""


def test_coordinates_that_count_elements_have_no_equivalent() -> None:
    operands = "%x: tensor<1x1x4x5xf32>, %g: tensor<1x2x3x2xf32>"
    module = parse(COUNTED, operands, "tensor<1x1x2x3xf32>")
    message = r"warp: error: .*has coordinates that count elements, those of ONNX are in \[-1, 1\]"
    with pytest.raises(CompileError, match=message):
        export_onnx(module)


def test_ops_of_a_target_have_no_equivalent() -> None:
    module = parse(
        """%y = "cpu.packed_mat_mul"(%x, %w) {columns = 3 : i64} :
          (tensor<2x4xf32>, tensor<1x4x16xf32>) -> tensor<2x3xf32> loc("fc")
        return %y : tensor<2x3xf32>""",
        "%x: tensor<2x4xf32>, %w: tensor<1x4x16xf32>",
        "tensor<2x3xf32>",
    )
    message = "fc: error: 'cpu.packed_mat_mul' op has no equivalent in ONNX"
    with pytest.raises(CompileError, match=message):
        export_onnx(module)


def test_large_weights_go_to_a_file_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporter, "LARGEST_FILE", 1 << 12)
    w = np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)
    module = parse(
        """%w = "tri.weight"() {name = "w", type = tensor<64x64xf32>} : () -> tensor<64x64xf32>
        %y = "tri.mat_mul"(%x, %w)
            : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32>
        return %y : tensor<2x64xf32>""",
        "%x: tensor<2x64xf32>",
        "tensor<2x64xf32>",
    )
    module.weights["w"] = w
    save_onnx(module, tmp_path / "net.onnx")
    assert (tmp_path / "net.onnx").stat().st_size < 1000
    assert (tmp_path / "net.onnx.data").stat().st_size >= w.nbytes
    onnx.checker.check_model(str(tmp_path / "net.onnx"), full_check=True)
    x = np.ones((2, 64), np.float32)
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx")
    (got,) = session.run(None, {session.get_inputs()[0].name: x})
    np.testing.assert_allclose(got, x @ w, rtol=1e-4, atol=1e-5)


LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
NETS = ("light_densenet121", "light_inception_v2", "light_resnet50", "light_shufflenet")


@pytest.mark.slow
@pytest.mark.parametrize("net", NETS)
def test_networks_come_back_the_same(net: str) -> None:
    path = LIGHT / f"{net}.onnx"
    module = import_onnx(path)
    exported = export_onnx(module)
    shape = [d.dim_value for d in exported.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    (got,), (expected,) = run(exported, [x]), run(onnx.load(path), [x])
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())
