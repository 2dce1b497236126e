"""Models whose sizes a run decides, and how they are compared with ONNX Runtime."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx.parser
import pytest
from trivium.compiler.driver import compile
from trivium.compiler.exporters.onnx.exporter import export_onnx
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context

ort = pytest.importorskip("onnxruntime")

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'
CONSTANTS = """<int64[1] a0 = {0}, int64[1] a1 = {1}, int64 one = {1}, int64 zero = {0},
    int64[1] big = {1000}, int64[1] last = {-1}, int64[2] none = {0, 3}, bool true = {1}>"""


def rows(count: int) -> np.ndarray[Any, Any]:
    return np.arange(count * 3, dtype=np.float32).reshape(count, 3) - 2


def model_of(text: str) -> onnx.ModelProto:
    signature, _, body = text.partition("{")
    return onnx.parser.parse_model(HEADER + signature + CONSTANTS + "{" + body)


def check(text: str, feeds: Sequence[Mapping[str, Any]]) -> None:
    """Compare meaning and sessions on host and CPU with ONNX Runtime, sizes in turns."""
    made = model_of(text)
    options = ort.SessionOptions()
    options.log_severity_level = 3
    reference = ort.InferenceSession(made.SerializeToString(), options)
    cases = [({n: np.asarray(a) for n, a in given.items()}) for given in feeds]
    expected = [reference.run(None, given) for given in cases]
    with new_context():
        module = import_onnx(made)
        for given, wanted in zip(cases, expected, strict=True):
            compare(run(module, [given[each.name] for each in made.graph.input]), wanted)
        exported = export_onnx(module)
    written = ort.InferenceSession(exported.SerializeToString(), options)
    for given, wanted in zip(cases, expected, strict=True):
        compare(written.run(None, given), wanted)
    for target in ("host", "cpu"):
        session = compile(made, target=target)
        order = [*range(len(cases)), *range(len(cases))[::-1]]
        for number in order:
            compare(list(session.run(cases[number]).values()), expected[number])


def compare(got: Sequence[Any], wanted: Sequence[Any]) -> None:
    for mine, theirs in zip(got, wanted, strict=True):
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(mine, theirs, 1e-5, 1e-5)


def imported(text: str) -> str:
    """Return the IR of a model."""
    with new_context():
        return str(import_onnx(model_of(text)))
