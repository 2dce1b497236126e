"""One model on several targets: however its ops are divided, it computes the same."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import onnx.parser
import onnxruntime
import pytest
import trivium
from trivium.compiler.driver import build
from trivium.dialects.core.tensor import Array
from trivium.runtime.contents import ABSENT, ARENA, Buffer
from trivium.runtime.cpu.part import CpuPart
from trivium.runtime.observe.calls import CallTable
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.targets.placement.problem import PlacementProblem
from trivium.test.unit.compiler.gpu.gpu_packages import opened
from trivium.test.unit.runtime.gpu.stand_in import StandIn
from trivium.test.unit.targets.dla.small_networks import Net

X = np.random.default_rng(1).standard_normal((1, 3, 12, 12)).astype(np.float32)


class Drawn:
    """Place each op on any target that accepts it."""

    seed: ClassVar[int] = 0

    def place(self, problem: PlacementProblem, /) -> Sequence[int]:
        chance = random.Random(self.seed)
        ops = range(len(problem.operands))
        return [chance.choice(problem.accepting(op) or [0]) for op in ops]


class InTurn:
    """Place each op on the next target that accepts it."""

    def place(self, problem: PlacementProblem, /) -> Sequence[int]:
        accepting = [problem.accepting(op) for op in range(len(problem.operands))]
        return [found[op % len(found)] for op, found in enumerate(accepting)]


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a quantised classifier whose probabilities are a softmax of floats."""
    net, file = Net(), tmp_path_factory.mktemp("classifier") / "q.onnx"
    image = net.op("Relu", net.conv(net.op("Relu", net.conv("x", 3, 16)), 16, 8))
    pooled = net.op("Flatten", net.op("GlobalAveragePool", image))
    scores = net.op("Gemm", pooled, net.drawn(10, 8), net.drawn(10), transB=1)
    net.quantized(net.op("Softmax", scores, axis=1), file)
    return file


@pytest.fixture(scope="module")
def expected(classifier: Path) -> Array:
    (y,) = onnxruntime.InferenceSession(str(classifier)).run(None, {"x": X})
    return np.asarray(y)


def computed(session: Session) -> Array:
    (y,) = session.run({"x": X}).values()
    return y


def accesses(package: Package) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    """Yield the buffers that each call of each step reads, and those that it writes, in order."""
    table = CallTable(package)
    for step in package.manifest.steps:
        listed = [(call.reads, call.writes) for call in table.of(step)]
        yield from listed or [([i for i in step.operands if i != ABSENT], step.results)]


def assert_read_as_written(package: Package) -> None:
    """Check that what is read from the arena is all that was written there last."""
    buffers = package.manifest.buffers
    written: dict[int, range] = {}
    for reads, writes in accesses(package):
        for index in reads:
            if buffers[index].base == ARENA:
                place = arena_bytes(buffers[index])
                assert {written.get(byte) for byte in place} == {place}
        for index in writes:
            if buffers[index].base == ARENA:
                place = arena_bytes(buffers[index])
                written.update(dict.fromkeys(place, place))


def arena_bytes(buffer: Buffer) -> range:
    assert isinstance(buffer.offset, int)
    return range(buffer.offset, buffer.offset + buffer.size_bytes)


def test_a_convolution_and_a_softmax_are_on_two_targets(classifier: Path, expected: Array) -> None:
    """Convolutions are one program of the accelerator, between kernels for the CPU."""
    package = build(str(classifier), target="vanilla,cpu")
    assert [step.kind for step in package.manifest.steps] == ["cpu", "dla", "cpu"]
    kernels = trivium.check(str(classifier), target="vanilla,cpu")
    targets = {node: kernel.target for kernel in kernels for node in kernel.nodes}
    assert targets["conv2.2"] == "vanilla"
    assert targets["softmax7"] == "cpu"
    divided = computed(Session(package, threads=1))
    np.testing.assert_array_equal(divided, computed(trivium.compile(str(classifier))))
    np.testing.assert_allclose(divided, expected, rtol=1e-6)


def test_what_is_fused_in_a_part_is_nowhere_else(npu: str) -> None:
    """Of A -> AB -> B -> C and A -> C, with C on a target of its own, B computes AB as well."""
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[2, 3] x) => (float[2, 3] y, float[2, 3] z) {
            [A] ac = Abs (x)  [AB] ab = Sqrt (ac)  [B] bc = Neg (ab)
            [C1] y = Exp (bc)  [C2] z = Exp (ac)
        }
    """)
    package = build(model, target=npu)
    kernels = package.manifest.part(CpuPart).kernels
    assert {kernel.ops for kernel in kernels} == {("tri.abs",), ("tri.sqrt", "tri.neg")}
    assert [step.kind for step in package.manifest.steps] == ["cpu", "host", "host"]
    values = {buffer.name for buffer in package.manifest.buffers}
    assert values == {"x", "ac", "bc", "y", "z"}
    x = X.reshape(-1)[:6].reshape(2, 3)
    results = Session(package).run({"x": x})
    np.testing.assert_allclose(results["y"], np.exp(-np.sqrt(np.abs(x))), rtol=1e-6)
    np.testing.assert_allclose(results["z"], np.exp(np.abs(x)), rtol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_results_are_the_same_wherever_ops_are(
    seed: int, classifier: Path, expected: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Drawn, "seed", seed)
    policy = f"{Drawn.__module__}:Drawn"
    package = build(str(classifier), target="vanilla,cpu,host", placement=policy)
    assert {step.kind for step in package.manifest.steps} == {"cpu", "dla", "host"}
    assert_read_as_written(package)
    np.testing.assert_allclose(computed(Session(package, threads=1)), expected, rtol=1e-6)


def test_cpu_gpu_and_accelerator_run_one_model(
    classifier: Path, expected: Array, stand_in: StandIn
) -> None:
    pytest.importorskip("triton")
    policy = f"{InTurn.__module__}:InTurn"
    package: Package = build(str(classifier), target="vanilla,gpu:sm_90,cpu", placement=policy)
    assert {"cpu", "gpu", "dla", "copy"} == {step.kind for step in package.manifest.steps}
    with opened(package, stand_in) as session:
        np.testing.assert_allclose(computed(session), expected, rtol=1e-6)
