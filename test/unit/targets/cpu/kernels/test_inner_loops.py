"""The loops in which templates spend their time: multiply-adds in full vectors, nothing spilt."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from cpu_kernels import lower, object_of
from groups import Case, build_group
from symbolic_groups import Dynamic, build, forget_groups
from trivium.dialects import cpu, tri
from trivium.dialects.core.machine import LEVELS, Machine, host_machine
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array
from trivium.dialects.cpu.packing import pack_columns

RANDOM = np.random.default_rng(1)
MACHINES = [machine for machine in LEVELS if machine.name in ("x86-64-v3", "x86-64-v4")]
REGISTERS = {"x86-64-v3": "ymm", "x86-64-v4": "zmm"}


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def window(size: int, **more: object) -> dict[str, object]:
    return {"kernel": (size, size), "strides": (1, 1), "dilations": (1, 1)} | more


def packed_mat_mul(machine: Machine) -> Case:
    w = pack_columns(normal(96, 128), 2 * machine.lanes(32))
    return Case("mat_mul", cpu.PackedMatMul, (normal(60, 96), w), {"columns": 128, "rows": 6})


def packed_conv(machine: Machine) -> Case:
    w = cpu.pack_kernels(normal(24, 32, 3, 3), 1, 6)
    more = window(3, outputs=24, block=6, vectors=2, pads=(1, 1, 1, 1))
    return Case("packed", cpu.PackedConv, (normal(1, 32, 28, 28), w, normal(24)), more)


def panel_conv(machine: Machine) -> Case:
    lanes = machine.lanes(32)
    w = cpu.pack_kernel_columns(normal(64, 32, 3, 3), 2 * lanes)
    more = window(3, outputs=64, rows=6, pads=(1, 1, 1, 1))
    return Case("panel", cpu.PanelConv, (normal(1, 32, 12, 12), w, normal(64)), more)


def blocked_conv(machine: Machine) -> Case:
    lanes = machine.lanes(32)
    x = cpu.Block(lanes=lanes).reference(normal(1, 32, 12, 12))
    w = cpu.pack_group_columns(normal(64, 32, 3, 3), 1, 2 * lanes)
    more = window(3, outputs=64, rows=5, lanes=lanes)
    return Case("blocked", cpu.BlockedConv, (x, w, normal(64)), more)


def lane_conv(machine: Machine) -> Case:
    lanes = machine.lanes(32)
    x = cpu.Block(lanes=lanes).reference(normal(1, 64, 30, 30))
    return Case("lane", cpu.LaneConv, (x, cpu.pack_lanes(normal(64, 1, 5, 5), lanes)), window(5))


def depthwise(machine: Machine) -> Case:
    more = {"strides": (1, 1), "pads": (1,) * 4, "dilations": (1, 1), "group": 8}
    return Case("depthwise", tri.Conv, (normal(1, 8, 40, 64), normal(8, 1, 3, 3)), more)


def winograd(machine: Machine) -> Case:
    u = cpu.transform_kernels(normal(24, 32, 3, 3), 2, 6)
    more = {"tile": 2, "outputs": 24, "block": 6, "pads": (1, 1, 1, 1)}
    return Case("winograd", cpu.WinogradConv, (normal(1, 32, 28, 28), u, normal(24)), more)


def blocked_winograd(machine: Machine) -> Case:
    lanes = machine.lanes(32)
    x = cpu.Block(lanes=lanes).reference(normal(1, 32, 30, 30))
    u = cpu.transform_kernel_columns(normal(64, 32, 3, 3), 2, 2 * lanes)
    more = {"tile": 2, "outputs": 64, "sizes": (28, 28)}
    return Case("blocked winograd", cpu.BlockedWinogradConv, (x, u, normal(64)), more)


def attention(machine: Machine) -> Case:
    q, k, v = (normal(1, 2, 64, 64) for _ in range(3))
    return Case("attention", tri.Attention, (q, k, v), {"scale": 0.125})


def _clipped_and_padded(y: ir.Value) -> Op:
    clipped = tri.Clip.build(y, min=0.0, max=6.0).y
    return tri.Pad.build(clipped, pads=(0, 0, 1, 1, 0, 0, 0, 1, 1, 0), mode="constant", value=0.0)


def symbolic_blocked_conv(machine: Machine) -> Dynamic:
    """Fill the registers, and fetch a share of the next panel that depends on the size."""
    lanes = machine.lanes(32)
    vectors, rows = (3, 9) if lanes == 16 else (2, 6)
    width = vectors * lanes
    image = f"(H+31)//32 (W+31)//32 {lanes}"
    shapes = [f"1 {160 // lanes} {image}", f"20 160 {width}", f"{20 * width}"]
    more = window(1, outputs=20 * width, lanes=lanes, rows=rows)
    return Dynamic(cpu.BlockedConv, shapes, more, following=_clipped_and_padded)


TEMPLATES = (
    *(packed_mat_mul, packed_conv, panel_conv, blocked_conv, lane_conv, depthwise),
    *(winograd, blocked_winograd, attention, symbolic_blocked_conv),
)


@dataclass(frozen=True)
class Instruction:
    address: int
    text: str

    @property
    def jump(self) -> int | None:
        """Return where a jump goes, None for anything else."""
        found = re.match(r"j\w+ +([0-9a-f]+) ", self.text)
        return int(found[1], 16) if found else None


def disassemble(case: Case | Dynamic, machine: Machine, folder: Path) -> list[Instruction]:
    objdump = shutil.which("objdump")
    if objdump is None:
        pytest.skip("objdump of binutils is not installed")
    with new_context(), ir.Location.unknown():
        group = build(case, None, "cpu") if isinstance(case, Dynamic) else build_group(case)
        kernel = lower(group, machine)
        forget_groups()
    path = folder / "kernel.o"
    path.write_bytes(object_of([kernel], machine))
    command = [objdump, "-d", "-w", "--no-show-raw-insn", path]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"^ *([0-9a-f]+):\t(.*)$", listing, re.MULTILINE)
    return [Instruction(int(address, 16), text) for address, text in lines]


def inner_loops(code: list[Instruction]) -> list[list[str]]:
    """Return the bodies of the loops that hold no other: from the target of a jump back to it."""
    ends = [(i.jump, i.address) for i in code if i.jump is not None and i.jump <= i.address]
    inner = [
        (start, end)
        for start, end in ends
        if not any(start <= s and e <= end and (s, e) != (start, end) for s, e in ends)
    ]
    return [[i.text for i in code if start <= i.address <= end] for start, end in inner]


@pytest.mark.parametrize("machine", MACHINES, ids=[machine.name for machine in MACHINES])
@pytest.mark.parametrize("template", TEMPLATES, ids=[t.__name__ for t in TEMPLATES])
def test_inner_loops_multiply_and_spill_nothing(template, machine: Machine, tmp_path: Path) -> None:
    register = REGISTERS[machine.name]
    loops = inner_loops(disassemble(template(machine), machine, tmp_path))
    hot = [loop for loop in loops if sum("vfmadd" in text for text in loop) >= 10]
    assert hot, "no loop multiplies and adds"
    for loop in hot:
        sums = [text for text in loop if text.startswith(("vfmadd", "vfnmadd"))]
        assert all(register in text for text in sums)
        assert_spills_nothing(loop)


def assert_spills_nothing(loop: list[str]) -> None:
    spilt = [text for text in loop if "(%rsp" in text and re.search(r"%[xyz]mm", text)]
    assert not spilt, f"{len(spilt)} of {len(loop)} instructions spill"


def test_loops_of_runs_of_symbolic_length_are_not_unrolled_for_this_cpu(tmp_path: Path) -> None:
    """LLVM unrolls more for some CPUs than for the levels; the rounds then need more registers."""
    machine = host_machine()
    for loop in inner_loops(disassemble(symbolic_blocked_conv(machine), machine, tmp_path)):
        sums = sum("vfmadd" in text for text in loop)
        assert sums <= 27, "more than one round of a tile of 9 times 3 vectors"
        if sums >= 10:
            assert_spills_nothing(loop)
