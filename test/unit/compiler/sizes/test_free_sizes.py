"""Models whose sizes are free are refused where static ones are needed."""

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
import trivium
from trivium.compiler.export import export

MODEL = """
    <ir_version: 10, opset_import: ["" : 21]>
    layer (float[N, 3] x, float[N, "batch-size"] m) => (float[N, 3] y) {
        y = Relu (x)
    }
"""
FAULT = """\
x: error: input has shape Nx3, must be static
m: error: input has shape Nxbatch_size, must be static
  note: target 'vanilla' compiles models of exact sizes
  note: N is axis 0 of 'x', axis 0 of 'm'
  note: batch_size is axis 1 of 'm'
  note: bind them: shapes={'N': …, 'batch_size': …}, or --shape N=… --shape batch_size=…"""
EXACT = """
  note: or name all sizes that it runs at: exact=[{'N': …, 'batch_size': …}, …], \
or --exact N=…,batch_size=…"""


def model() -> onnx.ModelProto:
    parsed = onnx.parser.parse_model(MODEL.replace('"batch-size"', "M"))
    parsed.graph.input[1].type.tensor_type.shape.dim[1].dim_param = "batch-size"
    return parsed


def test_all_sizes_to_be_bound_are_in_one_message_that_says_how() -> None:
    for what in (trivium.compile, trivium.check, trivium.can_run):
        with pytest.raises(trivium.CompileError) as caught:
            what(model(), target="vanilla")
        assert str(caught.value) == FAULT + EXACT
        assert caught.value.needs == ("x", "m")


def test_ranges_leave_sizes_free() -> None:
    with pytest.raises(trivium.CompileError, match="x: error: input has shape 8\\*N_8x3, must be"):
        trivium.compile(
            model(), target="vanilla", shapes={"N": trivium.Range(8, 64, step=8), "batch-size": 1}
        )


def test_bound_sizes_are_accepted() -> None:
    session = trivium.compile(model(), shapes={"N": trivium.Range(2, 2), "batch_size": 5})
    assert [port.shape for port in session.inputs] == [(2, 3), (2, 5)]


def test_a_model_of_free_sizes_is_not_written_in_a_format_without_symbols(tmp_path: Path) -> None:
    onnx.save(model(), tmp_path / "model.onnx")
    with pytest.raises(trivium.CompileError) as caught:
        export(tmp_path / "model.onnx", tmp_path / "out.pnnx.param")
    assert str(caught.value) == FAULT.replace(
        "target 'vanilla' compiles models of exact sizes", "files of pnnx have exact sizes"
    )


FOUND = """
    <ir_version: 10, opset_import: ["" : 21]>
    layer (float[4] x, float[3] unused) => (int64[1, n] y) {
        twice = Add (x, x)
        [find] y = NonZero (twice)
    }
"""


def test_sizes_that_data_decide_are_refused_with_the_inputs_that_they_depend_on() -> None:
    with pytest.raises(trivium.CompileError) as caught:
        trivium.compile(onnx.parser.parse_model(FOUND), target="vanilla")
    assert str(caught.value) == (
        "find: error: 'tri.non_zero' op finds a size, which depends on inputs: x\n"
        "  note: target 'vanilla' compiles models of exact sizes\n"
        "  note: fix it when compiling: constants={'x': …}"
    )
    assert caught.value.needs == ("x",)


def test_sizes_of_data_that_are_known_are_static() -> None:
    x = np.array([0, 1, 0, 2], np.float32)
    session = trivium.compile(onnx.parser.parse_model(FOUND), constants={"x": x})
    assert [port.shape for port in session.outputs] == [(1, 2)]
    (y,) = session.run({"unused": np.zeros(3, np.float32)}).values()
    assert y.tolist() == [[1, 3]]


PRODUCT = """
    <ir_version: 10, opset_import: ["" : 21]>
    layer (float[N, K] x) => (float[N, 2] y) <float[3, 2] w = {1, 2, 3, 4, 5, 6}> {
        y = MatMul (x, w)
    }
"""


def test_a_size_of_which_the_model_takes_one_value_alone_has_that_value() -> None:
    session = trivium.compile(onnx.parser.parse_model(PRODUCT))
    assert list(session.symbols) == ["N"]
    assert session.inputs[0].shape == ("N", 3)
    assert session(np.ones((1, 3), np.float32)).tolist() == [[9, 12]]
    with pytest.raises(trivium.RunError, match=r"input 'x' has shape \(1, 4\), must be \(N, 3\)"):
        session(np.ones((1, 4), np.float32))


def test_a_size_that_is_bound_to_another_value_is_refused() -> None:
    with pytest.raises(
        trivium.CompileError, match="MatMul#0: error: 'MatMul' node contracts K with 3"
    ):
        trivium.compile(onnx.parser.parse_model(PRODUCT), shapes={"K": trivium.Range(4, 8)})
