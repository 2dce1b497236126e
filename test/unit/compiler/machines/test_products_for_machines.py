"""Products of bytes and bf16, and schedules, in code for machines that did not pack for them."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import onnx
import onnx.helper as helper
import onnx.numpy_helper as numpy_helper
import pytest
import trivium
from trivium.compiler.driver import build
from trivium.dialects.core.machine import LEVELS, NATIVE, host_machine
from trivium.dialects.core.tensor import Array
from trivium.runtime.cpu import choose_code
from trivium.runtime.cpu.part import CpuPart
from trivium.runtime.package import Package
from trivium.targets.cpu.kernels.products.dot import find_instruction
from trivium.targets.cpu.schedule.tiles import block_tile, fit_tile, fits_registers
from trivium.targets.options import CompileOptions

RUNNABLE = [m for m in LEVELS if choose_code.cpu_features().issuperset(m.features)]
TYPES = onnx.TensorProto


def model(
    op: str, x: Array, dtype: int, w: Array, out: int, shape: tuple[int, ...]
) -> onnx.ModelProto:
    """Multiply one input by constant weights."""
    graph = helper.make_graph(
        [helper.make_node(op, ["x", "w"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", dtype, x.shape)],
        [helper.make_tensor_value_info("y", out, shape)],
        [numpy_helper.from_array(w, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def random(dtype: type, *shape: int) -> Array:
    info = np.iinfo(dtype)
    return np.random.default_rng(31).integers(info.min, info.max + 1, shape, dtype)


def windows(x: Array) -> Array:
    """Return the 3x3 windows of an image: [channels, 3, 3, height, width]."""
    seen = np.lib.stride_tricks.sliding_window_view(x[0].astype(np.int64), (3, 3), (1, 2))
    return seen.transpose(0, 3, 4, 1, 2)


def matrices(rows: int) -> tuple[onnx.ModelProto, Array, Array]:
    x, w = random(np.uint8, rows, 70), random(np.int8, 70, 100)
    made = model("MatMulInteger", x, TYPES.UINT8, w, TYPES.INT32, (rows, 100))
    return made, x, x.astype(np.int64) @ w.astype(np.int64)


def images(size: int, outputs: int) -> tuple[onnx.ModelProto, Array, Array]:
    x, w = random(np.uint8, 1, 19, size, size), random(np.int8, outputs, 19, 3, 3)
    want = np.einsum("ockl,cklhw->ohw", w.astype(np.int64), windows(x))[None]
    return model("ConvInteger", x, TYPES.UINT8, w, TYPES.INT32, want.shape), x, want


BYTES: list[Callable[[], tuple[onnx.ModelProto, Array, Array]]] = [
    lambda: matrices(1),
    lambda: matrices(3),
    lambda: matrices(33),
    lambda: images(5, 70),
    lambda: images(18, 33),
]


def run(package: Package, x: Array) -> tuple[str, Array]:
    session = trivium.Session(package)
    (y,) = session.run({"x": x}).values()
    return session.machine, y


@pytest.mark.parametrize("make", BYTES, ids=["row", "rows", "matrix", "panels", "packed"])
def test_bytes_are_exact_on_every_machine_of_a_package(
    make: Callable[[], tuple[onnx.ModelProto, Array, Array]], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, x, want = make()
    package = build(graph, machine=[machine.name for machine in LEVELS])
    assert any(
        name.startswith("cpu.dot") for k in package.manifest.part(CpuPart).kernels for name in k.ops
    )
    for machine in RUNNABLE:
        monkeypatch.setattr(choose_code, "cpu_features", lambda m=machine: frozenset(m.features))
        name, y = run(package, x)
        assert name == machine.name
        np.testing.assert_array_equal(y, want)


@pytest.mark.skipif(
    find_instruction(host_machine(), "bf16") is None, reason="the machine does not multiply bf16"
)
def test_halves_packed_for_this_cpu_are_multiplied_by_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, w = (np.random.default_rng(n).standard_normal((40, 40)) for n in (1, 2))
    x, w = x.astype(ml_dtypes.bfloat16), w.astype(ml_dtypes.bfloat16)
    graph = model("MatMul", x, TYPES.BFLOAT16, w, TYPES.BFLOAT16, (40, 40))
    package = build(graph, machine=[NATIVE, *(machine.name for machine in RUNNABLE)])
    assert package.manifest.part(CpuPart).kernels[0].ops[0] == "cpu.dot_mat_mul"
    want = x.astype(np.float64) @ w.astype(np.float64)
    for machine in RUNNABLE:
        monkeypatch.setattr(choose_code, "cpu_features", lambda m=machine: frozenset(m.features))
        name, y = run(package, x)
        assert name == machine.name
        limit = {"rtol": 2**-8, "atol": 1e-5 * np.abs(want).max()}
        np.testing.assert_allclose(y.astype(np.float64), want, **limit)


@pytest.mark.parametrize("machine", LEVELS, ids=[machine.name for machine in LEVELS])
@pytest.mark.parametrize(("rows", "vectors"), [(14, 2), (6, 4), (1, 8), (29, 1), (2, 4), (9, 3)])
def test_tiles_of_another_machine_are_cut_to_the_registers(machine, rows, vectors) -> None:
    for width in (16 * vectors, 8 * vectors):
        tile = fit_tile(machine, "f32", 100, width, rows)
        assert fits_registers(machine, tile.rows, tile.vectors)
        assert width % tile.columns == 0
    tile = block_tile(machine, "f32", rows, 1000, vectors)
    assert fits_registers(machine, tile.rows, tile.vectors)
    if machine.registers == 32:
        assert (tile.rows, tile.vectors) == (rows, vectors)


def test_tuning_measures_for_this_cpu_alone(tmp_path) -> None:
    file = str(tmp_path / "tuning.json")
    message = "tune measures on this CPU, but machine is 'x86-64-v3': leave out one of the two"
    with pytest.raises(trivium.CompileError, match=message):
        CompileOptions(tune=file, machine="x86-64-v3")
    with pytest.raises(trivium.CompileError, match="tune measures on this CPU"):
        build(matrices(3)[0], tune=file, machine=(NATIVE, "x86-64"))
    assert CompileOptions(tune=file, machine=[NATIVE]).machines == (host_machine(),)
    assert not (tmp_path / "tuning.json").exists()


def test_a_tuning_file_of_this_cpu_is_of_another_machine_than_a_level(tmp_path) -> None:
    file = str(tmp_path / "tuning.json")
    w = np.ones((8, 40), np.float32)
    graph = model("MatMul", np.ones((4, 8)), TYPES.FLOAT, w, TYPES.FLOAT, (4, 40))
    build(graph, tune=file)
    heard: list[str] = []
    build(graph, tuning=file, machine="x86-64-v3", progress=heard.append)
    assert any("is of another machine" in line and "it is not used" in line for line in heard)
