"""Arrays from files, made-up arrays, arrays to files."""

from pathlib import Path

import ml_dtypes
import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.dialects.core.errors import CompileError
from trivium.runtime.contents import Port
from trivium.runtime.errors import RunError
from trivium.tools import feeds


def test_reads_what_numpy_writes(tmp_path: Path) -> None:
    array = np.arange(6).reshape(2, 3)
    np.save(tmp_path / "x.npy", array)
    assert np.array_equal(feeds.read({"x": f"{tmp_path}/x.npy"})["x"], array)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a .npy file"),
        (b"hello", "is not a .npy file"),
        (b"\x93NUMPY\x01\x00", "is not a .npy file"),
    ],
)
def test_refuses_other_files(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(data)
    with pytest.raises(RunError, match=message):
        feeds.read({"x": str(path)})


def test_refuses_objects_and_archives(tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([object()]), allow_pickle=True)
    np.savez(tmp_path / "many.npz", a=np.zeros(1))
    with pytest.raises(RunError, match=r"objects\.npy: is not a \.npy file of numbers"):
        feeds.read({"x": f"{tmp_path}/objects.npy"})
    with pytest.raises(RunError, match=r"many\.npz: holds several arrays"):
        feeds.read({"x": f"{tmp_path}/many.npz"})
    with pytest.raises(RunError, match=r"cannot be read: Is a directory"):
        feeds.read({"x": str(tmp_path)})


def test_makes_up_what_is_missing() -> None:
    ports = [
        Port(name, (50,), dtype, 0)
        for name, dtype in (("f", "float32"), ("h", "bfloat16"), ("i", "int64"), ("b", "bool"))
    ]
    given = {"f": np.zeros(50, np.float32)}
    made = feeds.complete(given, ports, seed=0)
    assert made["f"] is given["f"]
    assert made["h"].dtype == ml_dtypes.bfloat16
    assert len(np.unique(made["h"].astype(np.float32))) > 10
    assert set(np.unique(made["i"])) == {0, 1}
    assert made["b"].dtype == np.bool_
    again = feeds.complete({}, ports, seed=0)
    assert np.array_equal(again["i"], made["i"])


def test_writes_a_file_or_nothing(tmp_path: Path) -> None:
    feeds.write(f"{tmp_path}/y.npy", np.ones(2))
    assert np.array_equal(np.load(tmp_path / "y.npy"), np.ones(2))
    with pytest.raises(CompileError, match=r"cannot write '.*nowhere/y\.npy': No such file"):
        feeds.write(f"{tmp_path}/nowhere/y.npy", np.ones(2))
    assert [path.name for path in tmp_path.iterdir()] == ["y.npy"]


def test_describes_an_array() -> None:
    array = np.array([[1, 2], [3, 6]], np.float32)
    assert feeds.describe("y", array) == "y  float32  2x2  min 1  mean 3  max 6"
    assert feeds.describe("y", np.float64(0.5)) == "y  float64  scalar  min 0.5  mean 0.5  max 0.5"
    assert feeds.describe("y", np.zeros((0, 2))) == "y  float64  0x2"
    assert feeds.describe("y", np.array([True, False])) == "y  bool  2  min 0  mean 0.5  max 1"


def test_sizes_that_may_change_are_those_of_given_arrays_or_the_likely_ones() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        g (float[N, T] x, float[N, S] m) => (float[N, T] y) { y = Add (x, m) }"""
    )
    length = trivium.Range(8, 64, likely=16, step=8)
    session = trivium.compile(model, target="host", shapes={"T": length})
    given = {"m": np.zeros((3, 16), np.float32)}
    ports = feeds.ports_of_run(session.manifest, given)
    assert [(port.name, port.shape) for port in ports] == [("x", (3, 16)), ("m", (3, 16))]
    made = feeds.complete(given, ports, seed=0)
    assert session.run(made)["y"].shape == (3, 16)
    static = trivium.compile(model, target="host", shapes={"N": 1, "T": 2, "S": 2})
    assert feeds.ports_of_run(static.manifest, {}) == static.inputs


def test_inputs_of_sizes_that_change_must_be_given() -> None:
    ports = (Port("x", ("N", 3), "float32", 0), Port("m", (2,), "int64", 1))
    with pytest.raises(RunError, match="input 'x' has shape Nx3, give an array of such a shape"):
        feeds.complete({}, ports, 0)
    x = np.ones((4, 3), np.float32)
    found = feeds.complete({"x": x}, ports, 0)
    assert found["x"] is x
    assert found["m"].shape == (2,)
