"""What the lit tests print: it compiles for every backend, and computes what the IR means."""

import numpy as np
import pytest
from printed import FOLDER, kernels, run_both
from sources import AMPERE, BLACKWELL, CDNA, HOPPER, needs_triton
from trivium.dialects.tile.types import FLOAT8
from trivium.targets.gpu.emit.compile_sources import Failure, Job, compile_sources
from trivium.targets.gpu.emit.print_kernel import print_kernel
from trivium.targets.gpu.emit.resources import rejection
from trivium.targets.gpu.schedule.architecture import Architecture

FILES = sorted(p.name for p in FOLDER.glob("source-*.mlir") if "invalid" not in p.name)
TOO_LARGE = ("large", "tall")
"""Kernels with buffers or grids that no test should go through."""


@needs_triton
@pytest.mark.parametrize("architecture", [AMPERE, HOPPER, BLACKWELL, CDNA], ids=lambda a: a.name)
def test_all_that_is_printed_compiles(architecture: Architecture) -> None:
    jobs: list[Job] = []
    for name in FILES:
        if name == "source-descriptors.mlir" and not architecture.descriptors:
            continue
        if name == "source-float8.mlir" and not set(FLOAT8) <= set(architecture.products):
            continue
        with kernels(name) as found:
            jobs += [Job(print_kernel(kernel), kernel.warps, kernel.stages) for kernel in found]
    made = compile_sources(jobs, architecture)
    assert [str(m) for m in made if isinstance(m, Failure)] == []
    assert [rejection(m, architecture) for m in made if not isinstance(m, Failure)] == [None] * len(
        jobs
    )


@needs_triton
@pytest.mark.parametrize("name", FILES)
def test_what_is_printed_computes_what_is_meant(name: str) -> None:
    with kernels(name) as found:
        for kernel in found:
            if kernel.sym_name in TOO_LARGE:
                continue
            for got, want in zip(*run_both(kernel), strict=True):
                if np.issubdtype(got.dtype, np.floating):
                    np.testing.assert_allclose(got, want, rtol=2e-6)
                else:
                    assert np.array_equal(got, want), kernel.sym_name


def test_source_says_for_which_nodes_it_is_and_its_module_does_not() -> None:
    with kernels("source-elementwise.mlir") as found:
        source = print_kernel(found[0])
    assert source.nodes == ("Add_1", "Tanh_2")
    assert source.file.startswith(
        "# Add_1, Tanh_2\n#\n# add_scaled[(4, 1, 1)](\n#     x_ptr: *fp32,\n"
    )
    assert source.file.endswith(f",\n# )\n\n{source.text}")
    assert "Add_1" not in source.text
    assert source.module.startswith("add_scaled_")


def test_a_launch_knows_its_grid_and_its_parameters() -> None:
    with kernels("source-matmul.mlir") as found:
        source = print_kernel(found[0])
    assert source.grid == (4 * 3, 1, 1)
    assert source.constexprs == (("BM", 32), ("BN", 32), ("BK", 32))
    assert source.signature == {
        "a_ptr": "*fp32",
        "b_ptr": "*fp32",
        "bias_ptr": "*fp32",
        "y_ptr": "*fp32",
    }
    assert [parameter.argument for parameter in source.parameters] == [0, 1, 2, 3]


def test_descriptors_have_the_sizes_of_blocks() -> None:
    with kernels("source-descriptors.mlir") as found:
        source = print_kernel(found[0])
    assert source.grid == (2, 3, 1)
    assert list(source.signature.values()) == [
        "tensordesc<fp16[64, 32]>",
        "tensordesc<fp16[32, 32]>",
        "tensordesc<fp16[64, 32]>",
    ]
    assert source.parameters[1].memory.shape == (72, 96)


def test_strict_math_rounds_quotients_and_roots() -> None:
    with kernels("source-reduce.mlir") as found:
        assert "tl.div_rn(exp, sum_1[:, None])" in print_kernel(found[0], strict=True).text
        assert "exp / sum_1[:, None]" in print_kernel(found[0]).text
