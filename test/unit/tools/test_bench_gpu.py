"""The benchmark of GPUs, on one that is not there: its arithmetic, its files and its words."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from trivium.runtime.errors import RunError
from trivium.runtime.gpu.device import Device
from trivium.runtime.gpu.step import GpuStep
from trivium.runtime.session import Session
from trivium.test.unit.runtime.gpu.conftest import (
    DOWNLOAD,
    KERNELS,
    RELU,
    UPLOAD,
    WEIGHTS,
    package,
)
from trivium.test.unit.runtime.gpu.stand_in import StandIn
from trivium.tools.bench.gpu import __main__ as tool
from trivium.tools.bench.gpu import measure, ours
from trivium.tools.bench.gpu.measure import Contender, device_times, host_overheads, ratios
from trivium.tools.bench.gpu.packages import find, open_package, pack
from trivium.tools.bench.gpu.plan import Case, cases
from trivium.tools.bench.gpu.report import describe, write

ALONE = package(steps=(UPLOAD, GpuStep(launches=(RELU,), nodes=("Relu_1",)), DOWNLOAD))


class FakeClock:
    """Let launches take the microseconds that they add to `now`."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits = 0

    def time_us(self, work: Callable[[], object]) -> float:
        start = self.now
        work()
        return self.now - start

    def wait(self) -> None:
        self.waits += 1

    def contender(self, name: str, us: float, runs: int = 1) -> Contender:
        def launch() -> None:
            self.now += us * runs

        return Contender(name, launch, runs)


def test_times_are_of_one_run_whatever_a_launch_holds() -> None:
    clock = FakeClock()
    contenders = [clock.contender("trivium", 50.0, runs=10), clock.contender("eager", 75.0)]
    times = device_times(contenders, clock)
    assert times == pytest.approx({"trivium": 50.0, "eager": 75.0})
    assert ratios(times, "trivium") == pytest.approx({"eager": 1.5})


def test_contenders_take_turns() -> None:
    clock, order = FakeClock(), []

    def contender(name: str) -> Contender:
        def launch() -> None:
            clock.now += measure.TURN_US
            order.append(name)

        return Contender(name, launch)

    device_times([contender("a"), contender("b")], clock)
    assert order == ["a", "b"] * (1 + measure.ROUNDS)


def test_the_host_is_not_timed_while_the_gpu_is_behind() -> None:
    clock, ticks = FakeClock(), iter(range(0, 10**9, 40_000))
    found = host_overheads([clock.contender("trivium", 1.0)], clock, lambda: next(ticks))
    assert found == {"trivium": 40_000 / measure.OVERHEAD_CALLS / 1e3}
    assert clock.waits == measure.OVERHEAD_ROUNDS + 1


# -- ours -----------------------------------------------------------------------------------------


def test_a_product_is_its_kernel_alone(stand_in: StandIn) -> None:
    stand_in.execute(ALONE, KERNELS)
    product = ours.Product(ALONE, stand_in.device(), runs=7, stream=lambda: 0)
    contender = product.contender()
    contender.launch()
    assert stand_in.runs == ["relu_kernel"] * 7
    assert contender.runs == 7
    product.close()


def test_a_product_is_one_kernel(stand_in: StandIn) -> None:
    with pytest.raises(RunError, match="the package launches 2 kernels, must launch one"):
        ours.Product(package(), stand_in.device(), 1, lambda: 0)


def test_a_network_is_replayed_in_the_stream_of_others(stand_in: StandIn) -> None:
    made = package()
    stand_in.execute(made, KERNELS)
    x = np.linspace(-20, 20, 32, dtype=np.float32).reshape(4, 8)
    with Session(made, device=stand_in.device()) as session:
        found = ours.outputs(session, (x,))
        before = len(stand_in.runs)
        contender = ours.replayed(session, lambda: 0)
        contender.launch()
        assert stand_in.runs[before:][-2:] == ["add_kernel", "relu_kernel"]
        del contender
    assert ours.error_of(found, np.maximum(x + WEIGHTS, 0)) == 0


def test_errors_are_relative_to_the_largest_number() -> None:
    wanted = np.array([100.0, 1.0])
    assert ours.error_of(np.array([100.0, 2.0]), wanted) == pytest.approx(0.01)
    with pytest.raises(RunError, match=r"has shape \(1,\), PyTorch's has \(2,\)"):
        ours.error_of(np.zeros(1), wanted)


# -- files ----------------------------------------------------------------------------------------


def test_packed_packages_are_unpacked_once(tmp_path: Path) -> None:
    case = Case("matmul", "matmul", 512)
    assert find(case, tmp_path) is None
    ALONE.save(tmp_path / case.file)
    pack(tmp_path / case.file)
    assert [path.name for path in tmp_path.iterdir()] == ["matmul-512-fp16.trv.xz"]
    assert open_package(case, tmp_path).manifest == ALONE.manifest
    assert (tmp_path / case.file).exists()
    assert open_package(case, tmp_path).manifest == ALONE.manifest


def test_missing_and_broken_packages_are_one_line(tmp_path: Path) -> None:
    case = Case("network", "resnet_50", precision="f32")
    with pytest.raises(
        RunError, match=r"no .*resnet_50-f32.trv: make it by `python docs/demo/gpu_"
    ):
        open_package(case, tmp_path)
    (tmp_path / "resnet_50-f32.trv.xz").write_bytes(b"nothing")
    with pytest.raises(RunError, match=r"resnet_50-f32.trv.xz: cannot be unpacked"):
        open_package(case, tmp_path)
    assert not (tmp_path / "resnet_50-f32.trv").exists()


def test_results_are_a_table_and_a_file(tmp_path: Path) -> None:
    times = {"trivium": 200.0, "torch.matmul": 190.0}
    row = {
        "case": "matmul-4096-fp16",
        "us": times,
        "tflops": {"trivium": 687.2, "torch.matmul": 723.4},
        "ratios": {"torch.matmul": 0.95},
        "setting": "BM=128 warps=8 stages=3",
    }
    assert describe(row) == [
        "matmul-4096-fp16: BM=128 warps=8 stages=3",
        "                   us  ratio  TFLOPS",
        "  trivium       200.0            687",
        "  torch.matmul  190.0  0.95x     723",
    ]
    failed = {"case": "gpt_2-f32", "failed": "there is no package"}
    assert describe(failed) == ["gpt_2-f32: there is no package"]
    write(tmp_path / "new" / "r.json", {"gpu": "H100"}, [row, failed])
    assert json.loads((tmp_path / "new" / "r.json").read_text())["cases"][1] == failed
    with pytest.raises(RunError, match="cannot be written"):
        write(Path("/dev/null/r.json"), {}, [])


# -- the command ----------------------------------------------------------------------------------


def test_a_dry_run_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ALONE.save(tmp_path / "matmul-512-fp16.trv")
    assert tool.main([str(tmp_path), "--only", "matmul", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == [
        "  matmul-512-fp16: matmul-512-fp16.trv",
        "  matmul-1024-fp16: its package is missing",
    ]
    assert lines[-1].endswith(f"docs/demo/gpu_packages.py {tmp_path}")
    assert tool.main(["--only", "nothing"]) == 2


def test_one_line_says_what_the_machine_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "find_spec", lambda name: None)
    assert tool.main([]) == 1
    assert capsys.readouterr().err == "PyTorch is not installed: pip install torch\n"


@pytest.fixture
def fake_torch(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """Let the command find a GPU, and a PyTorch that takes 75 us for anything."""
    pytest.importorskip("torch")
    from trivium.tools.bench.gpu import networks, peers

    clock = FakeClock()

    class Peer:
        def __init__(self, module: object, inputs: object, half: bool) -> None:
            self.x = inputs[0]  # type: ignore[index]

        def reference(self) -> np.ndarray:
            return np.maximum(self.x + WEIGHTS, 0)

        def eager(self) -> Contender:
            return clock.contender("eager", 75.0)

        def compiled(self) -> Contender:
            raise ValueError("no compiler\nand more")

    stand_in.execute(ALONE, KERNELS)
    stand_in.execute(package(), KERNELS)
    monkeypatch.setattr(Device, "open", lambda *_: stand_in_device(stand_in))
    monkeypatch.setattr(peers, "available", lambda: True)
    monkeypatch.setattr(peers, "describe", lambda: {"gpu": "none", "torch": "0", "cuda": "0"})
    monkeypatch.setattr(peers, "stream", lambda: 0)
    monkeypatch.setattr(peers, "TorchClock", lambda: clock)
    monkeypatch.setattr(peers, "Peer", Peer)
    monkeypatch.setattr(peers, "product", lambda _, runs: clock.contender("torch.matmul", 75, runs))
    monkeypatch.setattr(networks, "network", lambda name: SimpleNamespace())
    x = np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8)
    monkeypatch.setattr(networks, "inputs", lambda name: (x,))
    original = ours.replayed

    def replayed(session: Session, stream: Callable[[], int]) -> Contender:
        real, fake = original(session, stream), clock.contender("trivium", 50.0)
        return replace(fake, launch=lambda: (real.launch(), fake.launch()))

    monkeypatch.setattr(ours, "replayed", replayed)
    monkeypatch.setattr(
        ours.Product, "contender", lambda p: clock.contender("trivium", 100.0, p.runs)
    )
    return clock


def stand_in_device(stand_in: StandIn) -> Device:
    return Device(0, str(stand_in.path))


def test_cases_are_measured_and_faults_are_kept(
    fake_torch: FakeClock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ALONE.save(tmp_path / "matmul-4096-fp16.trv")
    package().save(tmp_path / "resnet_50-fp16.trv")
    assert tool.main([str(tmp_path), "--only", "fp16"]) == 1
    made = json.loads((tmp_path / "results.json").read_text())
    rows = {row["case"]: row for row in made["cases"]}
    assert rows["matmul-4096-fp16"]["ratios"] == pytest.approx({"torch.matmul": 0.75})
    assert rows["matmul-4096-fp16"]["tflops"]["trivium"] == pytest.approx(2 * 4096**3 / 1e8)
    assert rows["resnet_50-fp16"]["ratios"] == pytest.approx({"eager": 1.5})
    assert rows["resnet_50-fp16"]["error"] == 0
    assert set(rows["resnet_50-fp16"]["host_us"]) == {"trivium", "eager"}
    assert rows["gpt_2-fp16"]["failed"].startswith("there is no ")
    captured = capsys.readouterr()
    assert "note: compiled is left out: ValueError: no compiler\n" in captured.err
    assert "eager    75.0  1.50x" in captured.out


def test_measuring_takes_no_compiler() -> None:
    """As on a machine with a GPU that has numpy and PyTorch."""
    pytest.importorskip("torch")
    program = """
import sys
for name in ("torch_mlir", "onnx", "pnnx", "rich", "ml_dtypes"):
    sys.modules[name] = None
import trivium.tools.bench.gpu.run
from trivium.tools.bench.gpu.__main__ import main
sys.exit(main(["--dry-run"]))
"""
    made = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr


def test_networks_are_those_of_the_papers() -> None:
    torch = pytest.importorskip("torch")
    from trivium.tools.bench.gpu.networks import NETWORKS, inputs, network

    assert {case.name for case in cases() if case.kind == "network"} == set(NETWORKS)
    counts = {"mobilenet_v2": 3_504_872, "vit_tiny": 5_717_416}
    for name, count in counts.items():
        module = network(name)
        assert sum(p.numel() for p in module.parameters()) == count
        again = network(name).state_dict()
        assert all(torch.equal(again[key], value) for key, value in module.state_dict().items())
        with torch.inference_mode():
            scores = module(*map(torch.as_tensor, inputs(name)))
        assert scores.shape == (1, 1000)
        assert torch.isfinite(scores).all()
        assert scores.std() > 1e-3
