"""Instructions that make kernels quick, architecture by architecture: without a GPU, by their text.

A mask or a stride that Triton cannot see through costs them without a word.
"""

import re
from functools import cache

import pytest
from recipes import SMALL, matmul, matmul_descriptors, scale, softmax
from sources import AMPERE, BLACKWELL, CDNA, HOPPER, needs_triton
from trivium.targets.gpu.emit.compile_sources import Failure, Job, compile_sources
from trivium.targets.gpu.emit.resources import rejection
from trivium.targets.gpu.schedule.architecture import Architecture

pytestmark = needs_triton

JOBS = {
    "matmul": Job(matmul(), 8, 3),
    "matmul_i8": Job(matmul("i8", "i32"), 8, 3),
    "matmul_tf32": Job(matmul("f32", precision="tf32"), 8, 2),
    "matmul_f32": Job(matmul("f32", blocks=SMALL), 8, 2),
    "descriptors": Job(matmul_descriptors(), 8, 3),
    "softmax": Job(softmax()),
    "scale": Job(scale()),
}
LOADS = r"cp\.async\.cg\.shared\.global .*, 0x10"
INSTRUCTIONS = {
    (AMPERE, "matmul"): (r"mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.f16", LOADS),
    (AMPERE, "matmul_i8"): (r"mma\.sync\.aligned\.m16n8k32\.row\.col\.satfinite\.s32\.s8", LOADS),
    (AMPERE, "matmul_tf32"): (r"mma\.sync\.aligned\.m16n8k8\.row\.col\.f32\.tf32", LOADS),
    (AMPERE, "matmul_f32"): (r"fma\.rn\.f32", LOADS),
    (AMPERE, "scale"): (r"ld\.global\.v4\.b32", r"st\.global\.v4\.b32"),
    (HOPPER, "matmul"): (r"wgmma\.mma_async\.sync\.aligned\.m64n\d+k16\.f32\.f16", LOADS),
    (HOPPER, "matmul_i8"): (r"wgmma\.mma_async\.sync\.aligned\.m64n\d+k32\.s32\.s8", LOADS),
    (HOPPER, "matmul_tf32"): (r"wgmma\.mma_async\.sync\.aligned\.m64n\d+k8\.f32\.tf32", LOADS),
    (HOPPER, "matmul_f32"): (r"fma\.rn\.f32", LOADS),
    (HOPPER, "descriptors"): (
        r"wgmma\.mma_async\.sync\.aligned\.m64n\d+k16\.f32\.f16",
        r"cp\.async\.bulk\.tensor\.2d\.shared::\w+\.global",
        r"cp\.async\.bulk\.tensor\.2d\.global\.shared::cta",
    ),
    (HOPPER, "softmax"): (r"ld\.global\.v4\.b32", r"shfl\.sync"),
    (BLACKWELL, "matmul"): (r"tcgen05\.mma\.cta_group::1\.kind::f16",),
    (BLACKWELL, "descriptors"): (r"tcgen05\.mma", r"cp\.async\.bulk\.tensor\.2d"),
    (CDNA, "matmul"): (r"v_mfma_f32_\d+x\d+x\d+_f16", r"global_load_dwordx4"),
    (CDNA, "matmul_i8"): (r"v_mfma_i32_\d+x\d+x\d+_i8",),
    (CDNA, "scale"): (r"global_load_dwordx2",),
}


@cache
def texts(architecture: Architecture) -> dict[str, str]:
    """Compile what is expected of an architecture; return the assembly by the kernel's name."""
    names = [name for where, name in INSTRUCTIONS if where == architecture]
    made = compile_sources([JOBS[name] for name in names], architecture)
    found: dict[str, str] = {}
    for name, compiled in zip(names, made, strict=True):
        assert not isinstance(compiled, Failure), compiled
        assert rejection(compiled, architecture) is None, name
        found[name] = compiled.assembly
    return found


@pytest.mark.parametrize(
    ("architecture", "name"),
    [pytest.param(*key, id=f"{key[0].name}-{key[1]}") for key in INSTRUCTIONS],
)
def test_kernels_have_the_instructions_that_they_should(
    architecture: Architecture, name: str
) -> None:
    text = texts(architecture)[name]
    for instruction in INSTRUCTIONS[architecture, name]:
        assert re.search(instruction, text), instruction


@pytest.mark.parametrize("architecture", [AMPERE, HOPPER], ids=lambda a: a.name)
def test_exact_products_are_kept_from_matrix_units(architecture: Architecture) -> None:
    assert not re.search(r"\bw?g?mma\b.*tf32", texts(architecture)["matmul_f32"])
