"""Sets of sizes that do not fit a model are refused, all at once."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.compiler.driver import build
from trivium.runtime import Session
from trivium.test.unit.compiler.exact.exact_models import model


def refusal(source: Any = None, **options: Any) -> str:
    with pytest.raises(trivium.CompileError) as caught:
        build(model() if source is None else source, **options)
    return str(caught.value)


def test_all_faults_are_listed():
    sets = [
        {"N": 1, "T": 8},
        {"T": 4},
        {"N": 1, "T": 8, "K": 3},
        {"T": 8, "N": 1},
        {"N": 5, "T": 9},
    ]
    shapes = {"N": trivium.Range(1, 4), "T": trivium.Range(8, 64, step=8)}
    assert refusal(exact=sets, shapes=shapes).splitlines() == [
        "error: exact[1] lacks N, must have a size for each of N, T",
        "error: exact[1] has T=4, must be from 8 to 64",
        "error: exact[2] has 'K', which is no symbol of the model: it has N, T",
        "error: exact[3] is exact[0] again",
        "error: exact[4] has N=5, must be from 1 to 4",
        "error: exact[4] has T=9, must be a multiple of 8",
    ]


def test_symbols_that_shapes_bind_are_none():
    assert refusal(exact=[{"N": 1, "T": 8}], shapes={"N": 1}) == (
        "error: exact[0] has 'N', which is no symbol of the model: it has T"
    )
    assert refusal(exact=[{"T": 8}], shapes={"N": 1, "T": 8}) == (
        "error: exact has sizes of symbols, the model has none: leave it out"
    )


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (
            {"T": 8},
            "exact is of type dict, must be a list of sizes by the names of symbols, such as",
        ),
        ([8], "exact[0] is 8, must be a dictionary of sizes by name"),
        ([{}], "exact[0] is of type dict, must name one size or more, such as {'T': 128}"),
        ([{"T": -1}], "'T' is -1, must be a whole number from 0 "),
        ([{"T": "8"}], "'T' is '8', must be a whole number from 0 "),
    ],
)
def test_what_is_no_list_of_sizes_is_refused(sets: Any, message: str):
    assert message in refusal(exact=sets)


def test_candidates_are_of_one_program():
    message = "candidates are measured for one program, exact asks for several"
    assert message in refusal(exact=[{"N": 1, "T": 8}], candidates=True, target="gpu:sm_90")


def test_a_size_that_a_check_of_the_model_refuses_is_named():
    source = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        sums (float[N, 4] x, float[M, 4] y) => (float[N, 4] z) { [join] z = Add (x, y) }
    """)
    message = refusal(source, exact=[{"N": 3, "M": 4}])
    assert message.startswith("join: error: ")
    assert message.endswith("where M = 4, N = 3") or message.endswith("where N = 3, M = 4")
    session = trivium.compile(source, exact=[{"N": 3, "M": 3}])
    x = np.ones((3, 4), np.float32)
    assert (session(x, x) == 2).all()


def test_sizes_that_data_decide_have_no_exact_programs():
    source = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        peaks (float[N] x) => (int64[1, K] y) { [find] y = NonZero (x) }
    """)
    assert refusal(source, exact=[{"N": 3}], target="host") == (
        "find: error: 'tri.non_zero' op finds a size, with exact all sizes must be those of inputs"
    )


IR = """
func.func @main(%x: tensor<?x4xf32, ["8*N_8", ""]>) -> tensor<?x4xf32, ["8*N_8", ""]>
    attributes {trivium.inputs = ["x"], trivium.outputs = ["y"],
                trivium.symbols = {N = "8..512:64/8"}} {
  %0 = "tri.exp"(%x) : (tensor<?x4xf32, ["8*N_8", ""]>) -> tensor<?x4xf32, ["8*N_8", ""]>
  return %0 : tensor<?x4xf32, ["8*N_8", ""]>
}
"""


def test_ir_with_symbols_and_steps(tmp_path: Path):
    (tmp_path / "exp.mlir").write_text(IR)
    for target in ("host", "cpu"):
        session: Session = trivium.compile(tmp_path / "exp.mlir", target=target, exact=[{"N": 16}])
        for size in (16, 8):
            x = np.full((size, 4), 0.5, np.float32)
            np.testing.assert_allclose(session(x), np.exp(x), rtol=1e-6)
        assert len(session._exact.opened) == 1
