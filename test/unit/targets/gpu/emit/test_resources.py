"""Registers, spills, shared memory and instructions of compiled kernels; what does not fit."""

from dataclasses import replace

import pytest
from sources import (
    AMPERE,
    BLACKWELL,
    CDNA,
    HEAD,
    HOPPER,
    compiled,
    double,
    matmul,
    matmul_descriptors,
    needs_triton,
    pointers,
)
from trivium.targets.gpu.emit.compile_sources import Job
from trivium.targets.gpu.emit.compiled import Compiled
from trivium.targets.gpu.emit.resources import (
    instructions,
    least_driver,
    programs_at_once,
    rejection,
    resources,
)
from trivium.targets.gpu.emit.source import Source
from trivium.targets.gpu.schedule.architecture import Architecture

SPILLING = """def spilling(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), x - tl.sum(x, 0))
"""


@needs_triton
def test_matrix_units_of_hopper_take_what_descriptors_load() -> None:
    made = compiled(Job(matmul_descriptors(), warps=8))
    counted = instructions(made)
    assert counted["HGMMA"] > 0
    assert counted["UTMALDG"] >= 2
    assert counted["UTMASTG"] >= 1
    assert counted["LDGSTS"] == 0


@needs_triton
def test_matrix_units_of_ampere_take_what_is_copied_ahead() -> None:
    counted = instructions(compiled(Job(matmul(), warps=8), AMPERE))
    assert counted["HMMA"] > 0
    assert counted["LDGSTS"] > 0
    assert counted["HGMMA"] == 0


@needs_triton
def test_small_kernels_fill_a_multiprocessor() -> None:
    for architecture in (AMPERE, HOPPER, BLACKWELL, CDNA):
        made = compiled(Job(double()), architecture)
        found = resources(made, architecture)
        assert 0 < found.registers < 64, architecture.name
        assert found.local_bytes == 0, architecture.name
        warps = programs_at_once(made, architecture) * made.warps
        assert warps * architecture.warp_size == architecture.threads, architecture.name
        assert rejection(made, architecture) is None, architecture.name


@pytest.mark.parametrize(
    ("version", "architecture", "driver"),
    [
        ("8.7", AMPERE, 12000),  # written by CUDA 12.8
        ("8.7", BLACKWELL, 12080),
        ("9.0", AMPERE, 13000),
        ("7.8", HOPPER, 11080),
    ],
)
def test_a_driver_must_know_assembler_and_architecture(
    version: str, architecture: Architecture, driver: int
) -> None:
    made = Compiled(b"", f"//\n.version {version}\n.target sm_80\n", "f", 4, 0, (), "3.6.0")
    assert least_driver(made, architecture) == driver


def test_an_amd_kernel_says_nothing_about_drivers() -> None:
    assert least_driver(Compiled(b"", ".amdgcn_target", "f", 4, 0, (), "3.6.0"), CDNA) == 0


@needs_triton
def test_shared_memory_limits_how_many_programs_run_at_once() -> None:
    made = compiled(Job(matmul_descriptors(128, 128, 64), warps=8, stages=3))
    assert made.shared_bytes > HOPPER.shared_bytes // 3
    assert programs_at_once(made, HOPPER) == 2


@needs_triton
def test_too_much_shared_memory_is_a_misfit() -> None:
    made = compiled(Job(matmul_descriptors(128, 256, 64), warps=8, stages=5))
    reason = rejection(made, HOPPER)
    assert reason == (f"it takes {made.shared_bytes} bytes of shared memory, sm_90 has 232448")


@needs_triton
def test_spilled_registers_are_a_misfit() -> None:
    source = Source(
        HEAD + SPILLING, "spilling", pointers("fp32", (16384,), "x_ptr"), (("BLOCK", 16384),)
    )
    made = compiled(Job(source, warps=1))
    spilled = resources(made, HOPPER).local_bytes
    assert spilled > 64
    assert rejection(made, HOPPER) == f"it spills {spilled} bytes of registers, may spill 64"


@needs_triton
def test_too_many_threads_for_the_registers_are_a_misfit() -> None:
    made = compiled(Job(matmul(128, 128, 64), warps=4))
    registers = resources(made, HOPPER).registers
    crowded = replace(made, warps=32)
    assert rejection(crowded, HOPPER) == (
        f"its 1024 threads take {registers} registers each, sm_90 has 65536"
    )
