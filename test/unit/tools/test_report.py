"""Texts about packages and models."""

from trivium.runtime.manifest import CpuRequirements, Entry, Kernel, Manifest, Memory, Port, Step
from trivium.targets.place import Placement
from trivium.tools import report

MANIFEST = Manifest(
    producer="trivium 1.2.3",
    source="net.onnx",
    target="cpu",
    inputs=(Port("x", (1, 3), "float32", 0),),
    outputs=(Port("y", (), "int64", 1),),
    buffers=(),
    steps=(
        Step("cpu", "s_1", nodes=("Conv_0", "Relu_1")),
        Step("host", op="tri.topk", nodes=("TopK_2",), reason="cpu has no kernel for tri.topk"),
    ),
    memory=Memory(arena_bytes=3 << 20, arena_lower_bound=2 << 20, weight_bytes=1536),
    kernels=(
        Kernel("k_1", "cpu/k_1.o", ("Conv_0", "Relu_1"), ("tri.conv", "tri.relu"), 12),
        Kernel("k_22", "cpu/k_22.o", ("Add_7",), ("tri.add",), 1),
    ),
    machines=(
        CpuRequirements("x86_64", ("avx512f",), "wide"),
        CpuRequirements("x86_64", ("avx2", "fma"), "narrow"),
        CpuRequirements("x86_64", (), "least"),
    ),
    entries=(
        Entry("cpu/k_1.o", 700, ""),
        Entry("cpu/k_22.o", 300, ""),
        Entry("module.mlirbc", 100, ""),
        Entry("weights.bin", 1536, ""),
    ),
)


def lacking(needed: CpuRequirements) -> str:
    return "needs avx512f, which this CPU lacks" if "avx512f" in needed.features else ""


def test_describes_a_package() -> None:
    assert report.describe("net.trv", MANIFEST, lacking) == (
        """net.trv: compiled from net.onnx for cpu by trivium 1.2.3

inputs
  x  float32  1x3

outputs
  y  int64  scalar

memory
  activations  3.0 MiB, lower bound 2.0 MiB, 50.0% above it
  per thread   0 bytes for each but the first
  weights      1.5 KiB

sizes
  1.5 KiB     weights
  1000 bytes  native code, 2 objects
  100 bytes   IR

math
  fast

machines
  wide    needs avx512f, which this CPU lacks
  narrow  would run here
  least   could run here

steps
  0  cpu   s_1, 2 nodes
  1  host  tri.topk

kernels
  12x  k_1   tri.conv + tri.relu  Conv_0, Relu_1
  1x   k_22  tri.add              Add_7

on the host
  tri.topk  TopK_2: cpu has no kernel for tri.topk"""
    )


def test_sums_a_package_up() -> None:
    assert report.summary("net.trv", MANIFEST) == (
        "net.trv: 2.6 KiB, 13 calls of 2 kernels, 1 op on the host"
    )


def test_reports_where_a_model_would_run() -> None:
    reason = "cpu has no kernel for tri.topk"
    placements = [
        Placement("cpu", "Conv_0, Relu_1", ("tri.conv", "tri.relu"), ()),
        Placement("cpu", "Conv_2, Relu_3", ("tri.conv", "tri.relu"), ()),
        Placement("cpu", "Add_4", ("tri.add",), ()),
        Placement("host", "TopK_5", ("tri.topk",), (reason,)),
    ]
    assert report.placement_report("net.onnx", placements) == (
        """net.onnx: 3 on cpu, 1 on host

cpu
  1x  tri.add
  2x  tri.conv + tri.relu

host
  1x  tri.topk

not where it was asked for
  TopK_5  tri.topk  cpu has no kernel for tri.topk"""
    )


def test_reports_a_model_without_ops() -> None:
    assert report.placement_report("net.onnx", []) == "net.onnx: nothing to run"


def test_spells_sizes() -> None:
    sizes = {0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KiB", 5 << 30: "5.0 GiB"}
    assert {size: report.spell_size(size) for size in sizes} == sizes
