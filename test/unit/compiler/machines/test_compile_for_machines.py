"""Models compiled for machines by name, and run or refused on this one."""

from pathlib import Path

import numpy as np
import onnx
import onnx.helper as helper
import onnx.numpy_helper as numpy_helper
import pytest
import trivium
from trivium.compiler.driver import build
from trivium.dialects.core.machine import LEVELS, NATIVE
from trivium.runtime.cpu import choose_code
from trivium.runtime.cpu.part import CpuPart
from trivium.runtime.package import Package

FLOAT = onnx.TensorProto.FLOAT
NAMES = [machine.name for machine in LEVELS]
RUNNABLE = [m.name for m in LEVELS if choose_code.cpu_features().issuperset(m.features)]


def network() -> onnx.ModelProto:
    """Convolve by tiles, by windows and by panels, then multiply by two matrices."""
    random = np.random.default_rng(3)
    shapes = {
        "w1": (32, 16, 3, 3),
        "w2": (48, 32, 3, 3),
        "w3": (64, 48, 1, 1),
        "m1": (64, 130),
        "m2": (130, 10),
    }
    weights = {n: (random.standard_normal(s) / 20).astype(np.float32) for n, s in shapes.items()}
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "w2"], ["c"], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("MaxPool", ["c"], ["d"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["d", "w3"], ["e"]),
        helper.make_node("GlobalAveragePool", ["e"], ["f"]),
        helper.make_node("Flatten", ["f"], ["g"]),
        helper.make_node("MatMul", ["g", "m1"], ["h"]),
        helper.make_node("Gelu", ["h"], ["i"]),
        helper.make_node("MatMul", ["i", "m2"], ["j"]),
        helper.make_node("Softmax", ["j"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", FLOAT, [2, 16, 14, 14])],
        [helper.make_tensor_value_info("y", FLOAT, [2, 10])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


MODEL = network()
X = np.random.default_rng(4).standard_normal((2, 16, 14, 14)).astype(np.float32)


@pytest.fixture(scope="module")
def wanted() -> np.ndarray:
    return trivium.compile(MODEL, target="host")(X)


@pytest.mark.parametrize("name", RUNNABLE)
def test_a_model_computes_the_same_on_every_machine(name: str, wanted: np.ndarray) -> None:
    session = trivium.compile(MODEL, machine=name)
    assert session.machine == name
    np.testing.assert_allclose(session(X), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_any_computer_compiles_for_any_machine(name: str) -> None:
    manifest = build(MODEL, machine=name).manifest
    (machine,) = [m for m in LEVELS if m.name == name]
    (needed,) = manifest.part(CpuPart).machines
    assert (needed.machine, needed.features) == (name, machine.features)


def test_a_machine_that_this_cpu_is_not_is_refused_with_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    package = build(MODEL, machine="x86-64-v4")
    features = next(m for m in LEVELS if m.name == "x86-64-v3").features
    monkeypatch.setattr(choose_code, "cpu_features", lambda: frozenset(features))
    lacking = "avx512f, avx512bw, avx512cd, avx512dq, avx512vl"
    with pytest.raises(trivium.RunError, match=f"needs {lacking}, which this CPU lacks"):
        trivium.Session(package)


@pytest.mark.parametrize("first", [NATIVE, NAMES[0], NAMES[-1], NAMES])
@pytest.mark.parametrize("second", [RUNNABLE[0], RUNNABLE[-1]])
def test_a_package_is_compiled_again_for_another_machine(
    first: str | list[str], second: str, wanted: np.ndarray, tmp_path: Path
) -> None:
    build(MODEL, machine=first).save(tmp_path / "first.trv")
    again = trivium.compile(str(tmp_path / "first.trv"), machine=second)
    assert again.machine == second
    np.testing.assert_allclose(again(X), wanted, rtol=1e-5, atol=1e-6)


def test_a_machine_that_there_is_not_is_refused(tmp_path: Path) -> None:
    message = "no machine is called 'x86-65', there are: native, x86-64,"
    with pytest.raises(trivium.CompileError, match=message):
        trivium.compile(MODEL, machine="x86-65")
    with pytest.raises(trivium.CompileError, match=message):
        trivium.check(MODEL, machine="x86-65")
    build(MODEL).save(tmp_path / "net.trv")
    with pytest.raises(trivium.CompileError, match=message):
        build(str(tmp_path / "net.trv"), machine="x86-65")


def pretend(monkeypatch: pytest.MonkeyPatch, *features: str) -> None:
    monkeypatch.setattr(choose_code, "cpu_features", lambda: frozenset(features))


def test_a_package_for_several_machines_runs_the_best_that_fits(
    monkeypatch: pytest.MonkeyPatch, wanted: np.ndarray, tmp_path: Path
) -> None:
    one = build(MODEL, machine=NAMES[-1])
    build(MODEL, machine=NAMES).save(tmp_path / "all.trv")
    package = Package.open(tmp_path / "all.trv")
    assert [needed.machine for needed in package.manifest.part(CpuPart).machines] == NAMES[::-1]
    assert package.manifest.memory.weight_bytes == one.manifest.memory.weight_bytes
    assert bytes(package.weights) == bytes(one.weights)
    assert package.manifest.memory.arena_bytes >= one.manifest.memory.arena_bytes
    for machine in LEVELS:
        if machine.name not in RUNNABLE:
            continue
        pretend(monkeypatch, *machine.features)
        for threads in (1, 2):
            session = trivium.Session(package, threads=threads)
            assert session.machine == machine.name
            np.testing.assert_allclose(session(X), wanted, rtol=1e-5, atol=1e-6)


def test_a_package_for_several_machines_of_which_none_fits_says_what_each_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    package = build(MODEL, machine=("x86-64-v3", "x86-64-v4"))
    pretend(monkeypatch, *LEVELS[1].features)
    lacking = r"that for x86-64-v4 needs .*avx512vl, .*; that for x86-64-v3 needs avx, avx2, .*: "
    with pytest.raises(trivium.RunError, match=lacking + "compile the model or the package again"):
        trivium.Session(package)


def test_machines_are_given_once() -> None:
    with pytest.raises(trivium.CompileError, match="machine 'x86-64' is given twice"):
        build(MODEL, machine=("x86-64", "x86-64"))
    with pytest.raises(trivium.CompileError, match="no machine is given, there are: native"):
        build(MODEL, machine=())
