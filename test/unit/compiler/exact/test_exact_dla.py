"""Packages for an accelerator at exact sizes alone, on its simulator."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import trivium
from onnx import helper, numpy_helper
from trivium.compiler.driver import build
from trivium.runtime import Package, PackageError, RunError, Session
from trivium.runtime.dla.part import DlaPart
from trivium.runtime.dla.step import DlaStep
from trivium.targets.dla.core import container
from trivium.targets.dla.core.device import Device
from trivium.targets.dla.registry import find_instructions, open_device
from trivium.tools.main import main
from trivium.tools.reports.simulation import simulate

SETS = [{"N": 1, "H": 6}, {"N": 2, "H": 5}]
NODES = [
    helper.make_node("QuantizeLinear", ["x", "sx", "zx"], ["qx"], "quantize"),
    helper.make_node("DequantizeLinear", ["qx", "sx", "zx"], ["fx"], "read"),
    helper.make_node("DequantizeLinear", ["qw", "sw", "zx"], ["fw"], "weights"),
    helper.make_node("Conv", ["fx", "fw"], ["c"], "conv", pads=[1, 1, 1, 1]),
    helper.make_node("Relu", ["c"], ["r"], "relu"),
    helper.make_node("QuantizeLinear", ["r", "sy", "zx"], ["qy"], "round"),
    helper.make_node("DequantizeLinear", ["qy", "sy", "zx"], ["y"], "result"),
]


def model() -> onnx.ModelProto:
    random = np.random.default_rng(3)
    constants = {
        "sx": np.float32(0.05),
        "sw": np.float32(0.02),
        "sy": np.float32(0.1),
        "zx": np.int8(0),
        "qw": random.integers(-100, 100, (4, 3, 3, 3), np.int8),
    }
    graph = helper.make_graph(
        NODES,
        "image",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N", 3, "H", 7])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["N", 4, "H", 7])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def image(n: int, h: int) -> np.ndarray:
    return np.random.default_rng(n).normal(0, 2, (n, 3, h, 7)).astype(np.float32)


@pytest.fixture(scope="module")
def package() -> Package:
    return build(model(), target="vanilla", exact=SETS)


def test_each_program_computes_and_is_what_the_sizes_alone_compile_to(package: Package):
    session = Session(package)
    for sizes, program in zip(SETS, package.exact, strict=True):
        alone = build(model(), target="vanilla", shapes=sizes)
        (stream,) = program.manifest.part(DlaPart).programs
        assert program.manifest.part(DlaPart) == alone.manifest.part(DlaPart)
        file, other = (bytes(each.entries[stream.entry]) for each in (program, alone))
        loaded = container.load(find_instructions("vanilla"), file, sizes=sizes)
        assert replace(loaded, sizes={}) == container.load(find_instructions("vanilla"), other)
        x = image(sizes["N"], sizes["H"])
        for _ in range(2):
            (y,) = session.run({"x": x}).values()
            np.testing.assert_array_equal(y, Session(alone).run({"x": x})["y"])


def test_the_results_are_those_of_onnxruntime(package: Package):
    import onnxruntime

    session = Session(package)
    other = onnxruntime.InferenceSession(model().SerializeToString())
    for n, h in ((1, 6), (2, 5)):
        (wanted,) = other.run(["y"], {"x": image(n, h)})
        steps = np.abs(session.run({"x": image(n, h)})["y"] - wanted) / 0.1
        assert steps.max() < 1.01
        assert (steps > 0.5).mean() < 0.01


def test_a_description_and_a_container_are_stored_once(package: Package):
    names = [entry.name for entry in package.manifest.entries]
    assert sum(name.endswith("dla/description.toml") for name in names) == 1
    assert sum(name.endswith(".tdla") for name in names) == 1
    (step,) = (each for each in package.exact[1].manifest.steps if isinstance(each, DlaStep))
    assert step.sizes == SETS[1]


def test_weights_are_stored_once(package: Package):
    weights = numpy_helper.to_array(model().graph.initializer[4]).transpose(2, 3, 1, 0)
    packed = np.pad(weights, ((0, 0), (0, 0), (0, 0), (0, 12))).tobytes()
    data = b"".join(bytes(data) for data in package.entries.values())
    assert data.count(packed) == 1


def test_a_package_without_the_program_for_a_set_is_refused(package: Package):
    """A container of another package with the same step, for one of the sets."""
    other = build(model(), target="vanilla", exact=SETS[:1])
    first = package.exact[1]
    (entry,) = (each.entry for each in first.manifest.steps if isinstance(each, DlaStep))
    files = {**first.entries, entry: other.exact[0].entries[entry]}
    with pytest.raises(PackageError) as caught:
        Session(Package.create(first.manifest, files))
    assert str(caught.value) == (
        "dla/vanilla_0.tdla, offset 0x40: error: has no program for H=5, N=2, it has: H=6, N=1"
    )


def test_a_driver_is_opened_for_the_sizes_of_a_program(package: Package):
    opened: list[Mapping[str, int]] = []

    def open_driver(description: bytes, data: bytes, sizes: Mapping[str, int]) -> Device:
        opened.append(sizes)
        return open_device(description, data, sizes=sizes)

    session = Session(package, drivers={"vanilla": open_driver})
    assert opened == [{"H": 6, "N": 1}, {"H": 5, "N": 2}]
    for n, h in ((2, 5), (1, 6)):
        x = image(n, h)
        assert (session.run({"x": x})["y"] == Session(package).run({"x": x})["y"]).all()


def test_tools_read_and_simulate_the_program_for_some_sizes(
    package: Package, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    package.save(tmp_path / "image.trv")
    np.savez(tmp_path / "x.npz", x=image(2, 5))
    assert not main(["disasm", str(tmp_path / "image.trv")])
    lines = capsys.readouterr().out.splitlines()
    titles = [line for line in lines if line.startswith("; ")]
    assert titles == ["; dla/vanilla_0.tdla", "; for H=6, N=1", "; for H=5, N=2"]
    assert not main(["info", str(tmp_path / "image.trv")])
    assert "constants and code for accelerators, 1 container" in capsys.readouterr().out
    (step,) = simulate(package, {"x": image(2, 5)})
    (port,) = step.device.container.inputs
    assert port.shape[:2] == (2, 5)
    assert not main(["simulate", str(tmp_path / "image.trv"), "--inputs", str(tmp_path / "x.npz")])
    assert main(["simulate", str(tmp_path / "image.trv")])
    assert "input 'x' has shape Nx3xHx7, give an array" in capsys.readouterr().err


def test_other_sizes_are_refused(package: Package):
    with pytest.raises(RunError, match="has no program for H=6, N=3, it has: H=6, N=1; H=5, N=2"):
        Session(package).run({"x": image(3, 6)})


def test_the_error_without_exact_sizes_says_how_to_name_them():
    with pytest.raises(
        trivium.CompileError, match=r"exact=\[{'H': …, 'N': …}, …\], or --exact H=…,N=…"
    ):
        build(model(), target="vanilla")
