"""Files that are loaded more than once: one mapping, checked once, as long as nobody changes it."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from trivium.runtime.errors import PackageError
from trivium.runtime.memory import address_of
from trivium.runtime.package import Package

NET = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[1, 64] x) => (float[1, 64] y) { y = MatMul (x, w) }
""")
NET.graph.initializer.append(onnx.numpy_helper.from_array(np.eye(64, dtype=np.float32), "w"))
X = np.ones((1, 64), np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    trivium.build(NET).save(tmp_path / "net.trv")
    return tmp_path / "net.trv"


def _weights(package: Package) -> int:
    return address_of(np.frombuffer(package.weights, np.uint8))


def test_one_mapping_for_all(path: Path) -> None:
    first, second = Package.open(path), Package.open(path)
    assert _weights(first) == _weights(second)
    link = path.parent / "link.trv"
    link.hardlink_to(path)
    assert _weights(Package.open(link)) == _weights(first)


def test_many_threads_open_and_run_one_file_at_once(path: Path) -> None:
    together = Barrier(32)

    def run(number: int) -> Package:
        together.wait()
        package = Package.open(path)
        opened = trivium.Session(package, threads=1)
        for session in (opened, opened.clone()):
            assert np.array_equal(session.run({"x": number * X})["y"], number * X)
        return package

    with ThreadPoolExecutor(32) as pool:
        packages = list(pool.map(run, range(32)))
    assert len({_weights(package) for package in packages}) == 1


def test_equal_weights_are_stored_once(tmp_path: Path) -> None:
    def size(second: float) -> int:
        model = onnx.parser.parse_model("""
            <ir_version: 10, opset_import: ["" : 21]>
            net (float[1, 64] x) => (float[1, 64] y) {
                a = MatMul (x, v)
                b = Relu (a)
                y = MatMul (b, w)
            }
        """)
        for name, factor in (("v", 1.0), ("w", second)):
            array = factor * np.eye(64, dtype=np.float32)
            model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
        trivium.build(model).save(tmp_path / "net.trv")
        return (tmp_path / "net.trv").stat().st_size

    saved = size(second=2) - size(second=1)
    assert abs(saved - 64 * 64 * 4) < 1024


def test_a_package_that_nobody_has_is_forgotten(path: Path) -> None:
    package = Package.open(path)
    known = weakref.ref(package)
    assert Package.open(path) is known()
    del package
    gc.collect()
    assert known() is None
    assert Package.open(path).entries


def test_copies_in_memory_are_apart(path: Path) -> None:
    mapped, read = Package.open(path), Package.open(path, mmap=False)
    assert _weights(mapped) != _weights(read)


def test_a_file_that_was_replaced_is_another(path: Path) -> None:
    before = trivium.load(path)
    other = onnx.ModelProto()
    other.CopyFrom(NET)
    other.graph.initializer[0].CopyFrom(
        onnx.numpy_helper.from_array(2 * np.eye(64, dtype=np.float32), "w")
    )
    trivium.build(other).save(path)
    after = trivium.load(path)
    assert np.array_equal(after.run({"x": X})["y"], 2 * X)
    assert np.array_equal(before.run({"x": X})["y"], X)


def test_a_file_that_was_changed_in_place_is_refused_by_all(path: Path) -> None:
    first = Package.open(path)
    data = bytearray(path.read_bytes())
    data[data.index(bytes(first.weights))] ^= 1
    with open(path, "r+b") as file:
        file.write(data)
    with pytest.raises(PackageError):
        Package.open(path, check=True)
    with pytest.raises(PackageError, match="was changed in place"):
        first.check_unchanged()
