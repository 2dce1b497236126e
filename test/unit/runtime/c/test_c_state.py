"""State in libtrivium: a stream of runs is that of a session in Python, value by value."""

import ctypes
import json
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
import trivium
from onnx import numpy_helper
from trivium.runtime.contents import CarriedPort
from trivium.runtime.errors import PackageError
from trivium.runtime.file import archive
from trivium.runtime.package import Package
from trivium.test.unit.runtime.c.c_session import Array, CPackage, CSession, Error, load
from trivium.test.unit.runtime.c.conftest import Answer, OpenAll

PACKAGE = 2

SUMS = """
    <ir_version: 10, opset_import: ["" : 21]>
    sums (float[1] frame, float[2] past) => (float sum, float[2] kept)
    <int64[1] one = {1}, int64[1] three = {3}, int64[1] zero = {0}> {
        frames = Concat <axis = 0> (past, frame)
        sum = ReduceSum <keepdims = 0> (frames)
        kept = Slice (frames, one, three, zero)
    }"""
SHIFT = """
    <ir_version: 10, opset_import: ["" : 21]>
    shift (float[3] x, float[3] a, float[3] b) => (float[3] y, float[3] first, float[3] second) {
        y = Sub (a, b)
        first = Identity (x)
        second = Identity (a)
    }"""
LSTM = """
    <ir_version: 10, opset_import: ["" : 21]>
    listen (float[4, 1, 9] x, float[1, 1, 20] h, float[1, 1, 20] c)
        => (float[4, 1, 1, 20] y, float[1, 1, 20] hn, float[1, 1, 20] cn) {
        y, hn, cn = LSTM <hidden_size = 20> (x, w, r, , , h, c)
    }"""

CACHED = """
    <ir_version: 11, opset_import: ["" : 24]>
    cached (float[1, 4, 2] past, float[1, 1, 2] new)
        => (float[1, 2] sum, float[1, 4, 2] present, float[1, 4, 2] before)
    <int64[1] one = {1}, int64[1] at = {2}> {
        present = TensorScatter <axis = 1> (past, new, at)
        sum = ReduceSum <keepdims = 0> (present, one)
        before = Identity (present)
    }"""


def lstm() -> onnx.ModelProto:
    model, chance = onnx.parser.parse_model(LSTM), np.random.default_rng(5)
    for name, shape in {"w": (1, 80, 9), "r": (1, 80, 20)}.items():
        tensor = numpy_helper.from_array(chance.standard_normal(shape).astype(np.float32), name)
        model.graph.initializer.append(tensor)
    return model


STREAMS: dict[str, tuple[Callable[[], onnx.ModelProto], dict[str, Any]]] = {
    "sums": (lambda: onnx.parser.parse_model(SUMS), {"kept": "past"}),
    "shift": (lambda: onnx.parser.parse_model(SHIFT), {"first": "a", "second": "b"}),
    "lstm": (lstm, {"hn": "h", "cn": "c"}),
    "cached": (lambda: onnx.parser.parse_model(CACHED), {"present": "past"}),
}


@pytest.fixture(scope="module")
def library(built: Path) -> ctypes.CDLL:
    return load(built)


def stream(package: CPackage, run: Callable[[dict[str, Array]], Any], length: int) -> list[Any]:
    chance = np.random.default_rng(6)
    (port,) = package.inputs
    shape = tuple(port.shape[: port.rank])
    name = port.name.decode()
    return [run({name: chance.standard_normal(shape).astype(np.float32)}) for _ in range(length)]


def assert_equal(results: list[dict[str, Array]], expected: list[dict[str, Array]]) -> None:
    for found, wanted in zip(results, expected, strict=True):
        assert found.keys() == wanted.keys()
        assert all(found[name].tobytes() == np.asarray(wanted[name]).tobytes() for name in wanted)


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_that_of_a_session_in_python(
    name: str, library: ctypes.CDLL, tmp_path: Path
) -> None:
    make, states = STREAMS[name]
    session = trivium.compile(make(), states=states)
    session.save(tmp_path / "stream.trv")
    assert [pair.in_place for pair in session.manifest.carried] == [name == "cached"] * len(states)
    package = CPackage(library, tmp_path / "stream.trv")
    one, other = CSession(package, 1), CSession(package, 2)
    expected = stream(package, session.run, 6)
    assert_equal(stream(package, one.run, 6), expected)
    assert_equal(stream(package, other.run, 6), expected)  # a session begins anew
    assert library.trivium_session_reset(one.handle, None) == 0
    assert_equal(stream(package, one.run, 6), expected)
    for each in (one, other, package):
        each.close()


def test_what_sums_are_is_known(library: ctypes.CDLL, tmp_path: Path) -> None:
    make, states = STREAMS["sums"]
    trivium.build(make(), states=states).save(tmp_path / "sums.trv")
    package = CPackage(library, tmp_path / "sums.trv")
    session = CSession(package)
    frames = [np.array([k], np.float32) for k in range(1, 6)]
    assert [session.run({"frame": x})["sum"].item() for x in frames] == [1, 3, 6, 9, 12]
    session.close()
    package.close()


STEP = """
func.func @main(%x: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {trivium.inputs = ["x", "s"], trivium.outputs = ["y", "s.next"]} {
  %0 = "tri.add"(%s, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "tri.mul"(%0, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<4xf32>
}
"""


def test_state_begins_with_what_is_stored(library: ctypes.CDLL, tmp_path: Path) -> None:
    (tmp_path / "step.mlir").write_text(STEP)
    package = trivium.build(tmp_path / "step.mlir")
    manifest, initial = package.manifest, np.arange(8, dtype=np.float32)
    carried = (CarriedPort("s.next", "s", initial=16),)
    entries = {**package.entries, "state.bin": initial.tobytes()}
    made = Package.create(replace(manifest, carried=carried, entries=()), entries)
    made.save(tmp_path / "step.trv")
    opened = CPackage(library, tmp_path / "step.trv")
    session = CSession(opened)
    ones = np.ones(4, np.float32)
    for _ in range(2):
        assert session.run({"x": ones})["y"].tolist() == [5, 6, 7, 8]
        assert session.run({"x": ones})["y"].tolist() == [6, 7, 8, 9]
        error = Error()
        assert library.trivium_session_reset(session.handle, ctypes.byref(error)) == 0
    session.close()
    opened.close()


def packed(package: Package, change: dict[str, Any], **more: bytes) -> bytes:
    document = json.loads(package.manifest.to_json())
    document |= change
    file = BytesIO()
    text = memoryview(json.dumps(document).encode())
    archive.write(file, {"manifest.json": text, **package.entries, **more})
    return file.getvalue()


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([{"output": "y", "input": "z"}], "is from 'y' to 'z', must be an output and an input"),
        ([{"output": "z", "input": "x"}], "is from 'z' to 'x', must be an output and an input"),
        ([{"output": "y", "input": "x"}] * 2, "is from 'y' to 'x', must be of one type, and each"),
        (
            [{"output": "y", "input": "x", "is_bound": False}] * 2,
            "'carried[1]' is to 'x', as is an earlier one",
        ),
        ([{"output": "y", "input": "x", "in_place": True}], "output 'y' is elsewhere than input"),
        (
            [{"output": "y", "input": "x", "initial": 0}],
            "'carried[0].initial' is 0, must be the place of 64 bytes in 'state.bin', which has 0",
        ),
        ([{"output": "y", "input": "x", "initial": -1}], "'carried[0].initial' is -1"),
        ([{"output": "y", "input": "x", "is_bound": 1}], "carried[0].is_bound' must be a boolean"),
        ([{"output": "y"}], "'carried[0].input' is missing"),
    ],
)
def test_pairs_that_fit_nothing_are_refused(
    scale: Package, sanitized: OpenAll, pairs: list[dict[str, Any]], message: str
) -> None:
    data = packed(scale, {"carried": pairs})
    with pytest.raises(PackageError):
        Package.open(data)
    (answer,) = sanitized([data])
    assert answer.status == PACKAGE
    assert message in answer.text


def test_pairs_that_fit_run(scale: Package, sanitized: OpenAll) -> None:
    """Of y = x * (0, 1, ...) + 1, x begins with zeros: what is given and returned is nothing."""
    for bound in ({}, {"initial": None}, {"is_bound": True}):
        data = packed(scale, {"carried": [{"output": "y", "input": "x", **bound}]})
        Package.open(data)
        assert sanitized([data], "run", "2") == [Answer(0, "")]
