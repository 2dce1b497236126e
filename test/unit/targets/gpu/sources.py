"""Kernels written by hand, as the printer would: what `compile.py` and `resources.py` are given."""

from importlib.util import find_spec

import pytest
from trivium.dialects.tile.types import Memory, row_major
from trivium.targets.gpu.emit.compile_sources import Failure, Job, compile_sources
from trivium.targets.gpu.emit.compiled import Compiled
from trivium.targets.gpu.emit.source import Parameter, Source
from trivium.targets.gpu.schedule.architecture import Architecture, find_architecture

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed")

AMPERE, HOPPER = find_architecture("sm_80"), find_architecture("sm_90")
BLACKWELL, CDNA = find_architecture("sm_100"), find_architecture("gfx942")

HEAD = """import triton
import triton.language as tl


@triton.jit
"""


def pointers(type_: str, shape: tuple[int, ...], *names: str) -> tuple[Parameter, ...]:
    """Declare parameters that point to tensors of one type."""
    memory = Memory(shape, row_major(shape), type_.replace("fp", "f"))
    return tuple(Parameter(name, f"*{type_}", i, memory) for i, name in enumerate(names))


def double(name: str = "double", factor: str = "2.0") -> Source:
    """Multiply 1000 numbers, a block for each program."""
    text = f"""def {name}(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < 1000
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0)
    tl.store(y_ptr + offsets, x * {factor}, mask=inside)
"""
    parameters = pointers("fp32", (1000,), "x_ptr", "y_ptr")
    return Source(HEAD + text, name, parameters, (("BLOCK", 256),), (4, 1, 1))


MATMUL = """def matmul(a_ptr, b_ptr, c_ptr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, 512, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * 512 + ks[None, :])
        b = tl.load(b_ptr + ks[:, None] * 512 + columns[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * 512 + columns[None, :], acc.to(tl.float16))
"""

MATMUL_DESCRIPTORS = """def matmul(a, b, c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, 512, BK):
        acc = tl.dot(a.load([row, k]), b.load([k, column]), acc)
    c.store([row, column], acc.to(tl.float16))
"""


def matmul(rows: int = 128, columns: int = 128, depth: int = 64) -> Source:
    """Multiply two matrices of 512x512 through pointers."""
    blocks = (("BM", rows), ("BN", columns), ("BK", depth))
    parameters = pointers("fp16", (512, 512), "a_ptr", "b_ptr", "c_ptr")
    return Source(HEAD + MATMUL, "matmul", parameters, blocks, (512 // rows, 512 // columns, 1))


def matmul_descriptors(rows: int = 128, columns: int = 128, depth: int = 64) -> Source:
    """Multiply two matrices of 512x512 through tensor descriptors."""
    blocks = (("BM", rows), ("BN", columns), ("BK", depth))
    memory = Memory((512, 512), (512, 1), "f16")
    boxes = {"a": (rows, depth), "b": (depth, columns), "c": (rows, columns)}
    parameters = tuple(
        Parameter(name, f"tensordesc<fp16[{box[0]}, {box[1]}]>", argument, memory)
        for argument, (name, box) in enumerate(boxes.items())
    )
    grid = (512 // rows, 512 // columns, 1)
    return Source(HEAD + MATMUL_DESCRIPTORS, "matmul", parameters, blocks, grid)


def compiled(job: Job, architecture: Architecture = HOPPER) -> Compiled:
    """Compile one kernel, which must succeed."""
    (made,) = compile_sources([job], architecture)
    assert isinstance(made, Compiled), made
    return made


def failure(job: Job, seconds: float = 60, architecture: Architecture = HOPPER) -> Failure:
    """Compile one kernel, which must fail."""
    (made,) = compile_sources([job], architecture, seconds=seconds)
    assert isinstance(made, Failure)
    return made
