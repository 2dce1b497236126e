"""Packages as bytes: loaded without a file, and sessions that are pickled by them."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.runtime.errors import PackageError, RunError
from trivium.runtime.package import Package

NET = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[N, 3] x) => (float[N, 2] y)
    <float[3, 2] w = {1, 0, 0, 1, -1, -1}> { a = MatMul (x, w) y = Relu (a) }
""")
X = np.array([[1, 2, 3], [3, 2, 1]], np.float32)


@pytest.fixture(scope="module")
def session() -> trivium.Session:
    return trivium.compile(NET, threads=2)


def test_bytes_are_those_of_the_file(session: trivium.Session, tmp_path: Path) -> None:
    session.save(tmp_path / "net.trv")
    data = (tmp_path / "net.trv").read_bytes()
    assert Package.open(tmp_path / "net.trv").to_bytes() == data
    for given in (data, bytearray(data), memoryview(data)):
        assert np.array_equal(trivium.load(given).run({"x": X})["y"], [[0, 0], [2, 1]])


def test_paths_may_be_bytes_too(session: trivium.Session, tmp_path: Path) -> None:
    session.save(tmp_path / "net.trv")
    path = str(tmp_path / "net.trv").encode()
    assert trivium.load(path).run({"x": X})  # type: ignore[reportArgumentType]


def test_faulty_bytes_are_refused(session: trivium.Session) -> None:
    data = bytearray(session._program.package.to_bytes())  # type: ignore[reportPrivateUsage]
    for given in (data[:40], bytearray(b"PK"), bytearray()):
        with pytest.raises(PackageError):
            trivium.load(given)
    data[data.index(b"manifest.json") + 200] ^= 1
    with pytest.raises(PackageError, match="corrupt"):
        trivium.load(data)
    with pytest.raises(RunError, match="must be left out with bytes"):
        trivium.load(data, mmap=True)


def test_sessions_are_pickled_by_their_package(session: trivium.Session) -> None:
    twin = pickle.loads(pickle.dumps(session))
    assert twin.threads == 2
    assert np.array_equal(twin.run({"x": X})["y"], session.run({"x": X})["y"])


def test_another_process_goes_on(session: trivium.Session, tmp_path: Path) -> None:
    (tmp_path / "session.pickle").write_bytes(pickle.dumps(session))
    code = (
        "import pickle, sys, numpy as np\n"
        "session = pickle.load(open(sys.argv[1], 'rb'))\n"
        "print(session.run({'x': np.ones((1, 3), np.float32)})['y'].tolist())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "session.pickle")]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"[[0.0, 0.0]]\n"


def test_a_part_is_not_pickled() -> None:
    session = trivium.compile(NET, keep="a", shapes={"N": 2})
    with pytest.raises(RunError, match="pickle the whole one"):
        pickle.dumps(session.part(["x"], ["a"]))
