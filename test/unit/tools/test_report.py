"""Texts about packages and models."""

from dataclasses import dataclass, replace

import onnx.parser
import pytest
import trivium
import trivium.runtime.cpu.report
import trivium.runtime.gpu.part
from trivium.compiler.sizes.report import SizeReport
from trivium.compiler.support_report import NodeSupport
from trivium.runtime.contents import (
    FIRST_PORT,
    Buffer,
    Entry,
    Math,
    Memory,
    MemorySpace,
    Port,
)
from trivium.runtime.copy.step import CopyStep
from trivium.runtime.cpu.code import CpuRequirements, Kernel
from trivium.runtime.cpu.part import CpuPart
from trivium.runtime.cpu.step import CpuStep
from trivium.runtime.gpu.code import GpuCode, GpuKernel, Launch
from trivium.runtime.gpu.part import GpuPart
from trivium.runtime.gpu.step import GpuStep
from trivium.runtime.host.step import HostStep
from trivium.runtime.manifest import Manifest
from trivium.runtime.report import PartReport
from trivium.targets.placement.place import Placement
from trivium.tools import report
from trivium.tools.reports.package_info import package_info
from trivium.tools.reports.placement_report import (
    describe_nodes,
    describe_placements,
    node_reports_of,
    placements_of,
)

STATIC = SizeReport((), (), (), ())
"""The sizes of a model that leaves none open."""

KERNELS = (
    Kernel("k_1", "cpu/k_1.o", ("Conv_0", "Relu_1"), ("tri.conv", "tri.relu"), 12),
    Kernel("k_22", "cpu/k_22.o", ("Add_7",), ("tri.add",), 1),
)
MACHINES = (
    CpuRequirements("x86_64", ("avx512f",), "wide"),
    CpuRequirements("x86_64", ("avx2", "fma"), "narrow"),
    CpuRequirements("x86_64", (), "least"),
)
MANIFEST = Manifest(
    producer="trivium 1.2.3",
    source="net.onnx",
    target="cpu",
    inputs=(Port("x", (1, 3), "float32", 0),),
    outputs=(Port("y", (), "int64", 1),),
    buffers=(),
    steps=(
        CpuStep(symbol="s_1", nodes=("Conv_0", "Relu_1")),
        HostStep(op="tri.topk", nodes=("TopK_2",), reason="cpu has no kernel for tri.topk"),
    ),
    memory=Memory(arena_bytes=3 << 20, arena_lower_bound=2 << 20, weight_bytes=1536),
    parts=(CpuPart(KERNELS, MACHINES),),
    entries=(
        Entry("cpu/k_1.o", 700, ""),
        Entry("cpu/k_22.o", 300, ""),
        Entry("module.mlirbc", 100, ""),
        Entry("weights.bin", 1536, ""),
    ),
)


@pytest.fixture(autouse=True)
def computer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trivium.runtime.cpu.report, "lacking", lacking)
    monkeypatch.setattr(trivium.runtime.gpu.part, "lacking_here", lacking_gpu)


def lacking(needed: CpuRequirements) -> str:
    return "needs avx512f, which this CPU lacks" if "avx512f" in needed.features else ""


def lacking_gpu(code: GpuCode) -> str:
    return "" if code.architecture == "sm_90" else "needs another GPU"


def described(manifest: Manifest) -> str:
    return report.describe(package_info("net.trv", manifest))


def test_describes_a_package() -> None:
    assert described(MANIFEST) == (
        """net.trv: compiled from net.onnx for cpu by trivium 1.2.3

inputs
  x  float32  1x3

outputs
  y  int64  scalar

memory
  activations  3.0 MiB, lower bound 2.0 MiB, 50.0% above it
  weights      1.5 KiB

sizes
  1.5 KiB     weights
  1000 bytes  native code, 2 objects
  100 bytes   IR

kept beside what runs need
  ir

math
  fast

steps
  0  cpu   Conv_0, Relu_1  s_1
  1  host  TopK_2          tri.topk

machines
  wide    needs avx512f, which this CPU lacks
  narrow  would run here
  least   could run here

kernels
  12x  Conv_0, Relu_1  tri.conv + tri.relu  k_1
  1x   Add_7           tri.add              k_22

on the host
  TopK_2  tri.topk  cpu has no kernel for tri.topk"""
    )


KERNEL = GpuKernel(
    "matmul_1",
    "gpu/sm_90/matmul_1.cubin",
    "matmul",
    (64, 2, 1),
    8,
    98304,
    168,
    0,
    blocks=("BM=128", "BN=256"),
    stages=3,
)
DEVICE_ARENA = MANIFEST.first_space
CODES = (
    GpuCode("sm_90", (KERNEL,)),
    GpuCode("sm_80", (replace(KERNEL, warps=1, registers=1, spills=1, stages=1),)),
)
ON_GPU = replace(
    MANIFEST,
    target="gpu",
    buffers=(
        Buffer("x", FIRST_PORT, 0, (1, 3), "float32"),
        Buffer("x", DEVICE_ARENA, 0, (1, 3), "float32"),
        Buffer("y", DEVICE_ARENA, 64, (), "int64", layout="as 0, 2, 3, 1"),
        Buffer("y", FIRST_PORT + 1, 0, (), "int64"),
    ),
    steps=(
        CopyStep(operands=(0,), results=(1,)),
        GpuStep(
            launches=(Launch("matmul_1", (1, 2), ("Gemm_0", "Relu_1")), Launch("matmul_1", (2, 2))),
            nodes=("Gemm_0", "Relu_1", "Gemm_2"),
        ),
        CopyStep(operands=(2,), results=(3,)),
    ),
    memory=Memory(0, 0, 0),
    spaces=(MemorySpace("gpu", 3 << 20, 2 << 20, 1 << 30),),
    parts=(GpuPart(CODES),),
    entries=(
        Entry("gpu/weights.bin", 1 << 30, ""),
        Entry("gpu/sm_90/matmul_1.cubin", 8192, ""),
        Entry("module.mlirbc", 100, ""),
    ),
)


def test_describes_what_is_for_a_gpu() -> None:
    assert described(ON_GPU) == (
        """net.trv: compiled from net.onnx for gpu by trivium 1.2.3

inputs
  x  float32  1x3

outputs
  y  int64  scalar

memory of 'gpu'
  activations  3.0 MiB, lower bound 2.0 MiB, 50.0% above it
  weights      1.0 GiB

sizes
  1.0 GiB    weights in memory 'gpu'
  8.0 KiB    code for GPUs, 1 cubin
  100 bytes  IR

kept beside what runs need
  ir

math
  fast

layouts
  1 value as the model has them
  1 value as 0, 2, 3, 1

steps
  0  copy                          x to gpu
  1  gpu   Gemm_0, Relu_1, Gemm_2  2 launches
  2  copy                          y to host

code for GPUs
  sm_90  would run here
  sm_80  needs another GPU

kernels for sm_90
  2x  Gemm_0, Relu_1  matmul_1  64x2x1  8 warps  96.0 KiB shared  168 registers  \
BM=128 BN=256 3 stages

kernels for sm_80
  2x  Gemm_0, Relu_1  matmul_1  64x2x1  1 warp  96.0 KiB shared  1 register, 1 spill  \
BM=128 BN=256 1 stage"""
    )


@dataclass(frozen=True)
class TargetReport(PartReport):
    target: str


def test_two_reports_must_not_have_one_field() -> None:
    info = replace(package_info("net.trv", MANIFEST), parts=(TargetReport("toy"),))
    with pytest.raises(TypeError, match="two reports have a field 'target'"):
        info.document()


def test_winograd_is_told_of_where_a_kernel_uses_it() -> None:
    math = Math("fast", 2e-6)
    assert "Winograd" not in described(replace(MANIFEST, math=math))
    kernel = replace(KERNELS[0], ops=("cpu.winograd_conv",))
    told = described(replace(MANIFEST, math=math, parts=(CpuPart((kernel,)),)))
    assert "  fast; by Winograd's method a layer may lose 2e-06" in told


def test_sums_a_package_up() -> None:
    assert report.summary("net.trv", MANIFEST) == (
        "net.trv: 2.6 KiB, 13 calls of 2 kernels, 1 op on the host"
    )


def test_sums_up_what_is_for_a_gpu() -> None:
    assert report.summary("net.trv", ON_GPU) == (
        "net.trv: 1.0 GiB, 2 launches on the GPU, 0 ops on the host"
    )


def test_says_that_a_target_got_nothing() -> None:
    assert report.summary("net.trv", replace(MANIFEST, target="vanilla")) == (
        "net.trv: 2.6 KiB, 13 calls of 2 kernels, 1 op on the host; "
        "nothing runs on vanilla: trivium can-run says why"
    )


def test_reports_where_a_model_would_run() -> None:
    reason = "cpu has no kernel for tri.topk"
    placements = [
        Placement("cpu", ("Conv_0", "Relu_1"), ("tri.conv", "tri.relu"), ()),
        Placement("cpu", ("Conv_2", "Relu_3"), ("tri.conv", "tri.relu"), ()),
        Placement("cpu", ("Add_4",), ("tri.add",), ()),
        Placement("host", ("TopK_5",), ("tri.topk",), (reason,)),
    ]
    assert describe_placements(placements_of("net.onnx", "cpu", placements, STATIC)) == (
        """net.onnx: 3 on cpu, 1 on host

cpu
  1x  tri.add
  2x  tri.conv + tri.relu

host
  1x  tri.topk

not where it was asked for
  TopK_5  tri.topk  cpu has no kernel for tri.topk"""
    )


def test_counts_the_ops_of_kernels_that_have_many() -> None:
    for repeats, listed in (
        (12, " + ".join(("tri.conv", "tri.relu") * 12)),
        (13, "13 tri.conv + 13 tri.relu"),
    ):
        ops = ("tri.conv", "tri.relu") * repeats
        placements = [Placement("cpu", ("Conv_0",), ops, ())]
        lines = describe_placements(
            placements_of("net.onnx", "cpu", placements, STATIC)
        ).splitlines()
        assert lines[-1] == f"  1x  {listed}"


def test_lists_the_steps_of_bodies_behind_the_step_that_has_them() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[3] x, int64 m, bool b) => (float[3] y) {
            [choose] y = If (b) <
                then_branch = then () => (float[3] y1) {
                    [repeat] y1 = Loop (m, , x) <body = each (int64 i, bool c, float[3] h)
                            => (bool go, float[3] h2) {
                        go = Identity (c)
                        [most] most = ReduceMax <keepdims = 0> (h)
                        [test] large = Greater (most, most)
                        [again] h2 = If (large) <
                            then_branch = yes () => (float[3] r) { [negate] r = Neg (h) },
                            else_branch = no () => (float[3] s) { [twice] s = Add (h, x) }
                        >
                    }>
                },
                else_branch = other () => (float[3] y2) { [exp] y2 = Exp (x) }
            >
        }
    """)
    info = package_info("net.trv", trivium.build(model).manifest)
    last = [(step.kind, [node.rpartition("/")[2] for node in step.nodes]) for step in info.steps]
    assert last == [
        ("branch", ["choose"]),
        ("loop", ["repeat"]),
        ("cpu", ["most", "test"]),
        ("branch", ["again"]),
        ("cpu", ["negate"]),
        ("cpu", ["twice"]),
        ("cpu", ["exp"]),
    ]


def test_reports_a_model_without_ops() -> None:
    report = placements_of("net.onnx", "cpu", [], STATIC)
    assert describe_placements(report) == "net.onnx: nothing to run"


def test_reports_which_nodes_would_run() -> None:
    node_support = [
        NodeSupport("Conv_0", ("tri.conv",), ("cpu",), ()),
        NodeSupport("Flatten_1", ("tri.reshape",), (), ()),
        NodeSupport("Mixed_2", ("tri.exp", "tri.det"), ("cpu", "host"), ("cpu has no kernel",)),
    ]
    assert describe_nodes(node_reports_of("net.onnx", "cpu", node_support, STATIC)) == (
        """Conv_0     tri.conv           yes
Flatten_1  tri.reshape        yes  nothing is left to run
Mixed_2    tri.exp + tri.det  no   on cpu, host: cpu has no kernel
2 of 3 nodes run on cpu"""
    )
    nothing = node_reports_of("net.onnx", "cpu", [], STATIC)
    assert describe_nodes(nothing) == "0 of 0 nodes run on cpu"
