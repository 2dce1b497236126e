"""Kernels of elements as code: they move 16 bytes at a time, and nothing spills."""

import re
from functools import cache

import numpy as np
import pytest
from groups import Case, build_group, release
from sources import AMPERE, HOPPER, needs_triton
from trivium.dialects import tri
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.targets.gpu.emit.compile_kernels import kernel_passes
from trivium.targets.gpu.emit.compile_sources import Failure, Job, compile_sources
from trivium.targets.gpu.emit.print_kernel import print_kernel
from trivium.targets.gpu.emit.resources import rejection
from trivium.targets.gpu.lower.group import lower_group
from trivium.targets.gpu.schedule.architecture import Architecture

X = np.zeros((8, 64, 56, 56), np.float32)
CASES = {
    "relu": Case("", tri.Relu, (X,)),
    "halves": Case("", tri.Gelu, (X.astype(np.float16),), {"approximate": "none"}),
    "transpose": Case("", tri.Transpose, (X,), {"permutation": (0, 2, 3, 1)}),
    "slice": Case(
        "",
        tri.Slice,
        (X,),
        {"starts": (0, 16, 0, 0), "sizes": (8, 32, 56, 56), "steps": (1, 1, 1, 1)},
    ),
    "concat": Case("", tri.Concat, ([X, X[:, :3]],), {"axis": 1}),
    "split": Case("", tri.Split, (X,), {"axis": 1, "sizes": (16, 48)}),
    "gather": Case("", tri.Gather, (np.zeros((3000, 768), np.float32), np.zeros(512, np.int64))),
}
"""Kernels that read and write neighbours."""

OTHERS = {
    "pow": Case("", tri.Pow, (X, X)),
    "mod": Case("", tri.Mod, (X, X)),
    "atan2": Case("", tri.Atan2, (X, X)),
    "cubic": Case(
        "",
        tri.Resize,
        (X,),
        {"sizes": (8, 64, 112, 112), "scales": (1.0, 1.0, 2.0, 2.0), "mode": "cubic"},
    ),
    "sample": Case("", tri.GridSample, (X, np.zeros((8, 56, 56, 2), np.float32))),
}
"""Kernels that compute a lot."""


def job(case: Case, architecture: Architecture) -> Job:
    with new_context(), ir.Location.unknown():
        module = ir.Module.create()
        (kernel,) = lower_group(build_group(case), module)
        for each in kernel_passes(architecture):
            each.run(Module(module))
        made = Job(print_kernel(kernel.op), kernel.op.warps, kernel.op.stages)
        release()
    return made


@cache
def texts(architecture: Architecture) -> dict[str, str]:
    """Compile all kernels; return their assembly by name."""
    cases = CASES | OTHERS
    jobs = [job(case, architecture) for case in cases.values()]
    found: dict[str, str] = {}
    for name, compiled in zip(cases, compile_sources(jobs, architecture), strict=True):
        assert not isinstance(compiled, Failure), compiled
        assert rejection(compiled, architecture) is None, name
        found[name] = compiled.assembly
    return found


@needs_triton
@pytest.mark.parametrize("architecture", [AMPERE, HOPPER], ids=lambda a: a.name)
@pytest.mark.parametrize("name", CASES)
def test_neighbours_are_moved_together(architecture: Architecture, name: str) -> None:
    text = texts(architecture)[name]
    assert re.search(r"ld\.global[.\w:]*\.v[24]\.b(32|64)", text)
    stores = re.findall(r"st\.global[.\w:]*", text)
    assert stores
    assert all(re.search(r"\.v[24]\.", store) for store in stores), stores


@needs_triton
@pytest.mark.parametrize("architecture", [AMPERE, HOPPER], ids=lambda a: a.name)
@pytest.mark.parametrize("name", OTHERS)
def test_what_computes_a_lot_compiles_too(architecture: Architecture, name: str) -> None:
    assert "st.global" in texts(architecture)[name]
