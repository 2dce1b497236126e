"""Kernels of products as Triton: in its interpreter, and compiled for each architecture."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from groups import Case
from ordered import Order, build_ordered, check, drawn
from printed import run_printed
from sources import AMPERE, HOPPER, needs_triton
from trivium.dialects import tile, tri
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.targets.gpu.emit.compile_kernels import kernel_passes
from trivium.targets.gpu.emit.compile_sources import Failure, Job, compile_sources
from trivium.targets.gpu.emit.print_kernel import print_kernel
from trivium.targets.gpu.emit.resources import rejection
from trivium.targets.gpu.lower.group import lower_group
from trivium.targets.gpu.schedule.architecture import Architecture, find_architecture

pytestmark = needs_triton

NHWC, HWCO = (0, 2, 3, 1), (2, 3, 1, 0)
IMAGES = ((NHWC, HWCO), NHWC)


def product(left: Sequence[int], right: Sequence[int], dtype: str = "float16") -> Case:
    return Case("product", tri.MatMul, (drawn(left, dtype), drawn(right, dtype)))


def layer(rows: int, depth: int, columns: int) -> Case:
    operands = (drawn((rows, depth)), drawn((columns, depth)), drawn((columns,)))
    return Case("layer", tri.Linear, tuple(x.astype("float16") for x in operands))


def conv(
    x: Sequence[int], w: Sequence[int], cls: Any = tri.Conv, dtype: str = "float16", **more: Any
) -> Case:
    plain = {"strides": (1, 1), "pads": (0,) * 4, "dilations": (1, 1)}
    extra = {"output_padding": (0, 0)} if cls is tri.ConvTranspose else {}
    operands = (drawn(x, dtype), drawn(w, dtype), None)
    return Case("conv", cls, operands, plain | extra | more)


SMALL: Mapping[str, tuple[Case, tuple[Sequence[Order], Order]]] = {
    "ragged": (product((33, 41), (41, 19)), ((), ())),
    "aligned": (product((2, 32, 64), (2, 64, 32)), ((), ())),
    "by columns": (product((40, 72), (72, 24)), (((1, 0), (1, 0)), (1, 0))),
    "exact": (product((33, 41), (41, 19), "float32"), ((), ())),
    "double": (product((33, 41), (41, 19), "float64"), ((), ())),
    "bytes": (product((33, 48), (48, 20), "int8"), ((), ())),
    "words": (product((33, 41), (41, 19), "int32"), ((), ())),
    "vectors": (layer(3, 300, 20), ((), ())),
    "parts": (product((17, 1100), (1100, 9)), ((), ())),
    "windows": (conv((1, 32, 6, 7), (20, 32, 3, 3), pads=(1, 1, 0, 1)), IMAGES),
    "few channels": (conv((1, 3, 6, 7), (20, 3, 3, 3), strides=(2, 2), pads=(1,) * 4), ((), ())),
    "pixels": (conv((2, 32, 6, 4), (24, 32, 1, 1)), IMAGES),
    "groups": (conv((1, 32, 6, 7), (32, 16, 3, 3), group=2, pads=(1,) * 4), IMAGES),
    "depthwise": (conv((1, 24, 6, 7), (24, 1, 3, 5), group=24, pads=(1, 2, 1, 2)), IMAGES),
    "spread": (conv((1, 20, 4, 3), (20, 9, 3, 3), tri.ConvTranspose, strides=(2, 2)), ((), ())),
}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_printed_kernels_compute_what_the_reference_does(architecture: str, name: str) -> None:
    case, (orders, result) = SMALL[name]
    check(case, orders, result, kernel_passes(find_architecture(architecture)), run_printed)


MMA, WGMMA = r"mma\.sync\.aligned\.m16n8k16\.row\.col\.f32", r"wgmma\.mma_async"
COPY, MOVE = r"cp\.async\.cg\.shared\.global .*, 0x10", r"cp\.async\.bulk\.tensor\.2d\.shared"
FMA = r"fma\.rn\.f32"

LARGE: Mapping[
    str, tuple[Case, tuple[Sequence[Order], Order], tuple[str, ...], tuple[str, ...]]
] = {
    "product": (product((1024, 512), (512, 1024)), ((), ()), (MMA, COPY), (WGMMA, MOVE)),
    "layer": (layer(1024, 512, 1024), ((), ()), (MMA, COPY), (WGMMA, MOVE)),
    "vector": (layer(1, 1024, 1024), ((), ()), (FMA, r"ld\.global\.v4"), (FMA, r"ld\.global\.v4")),
    "bytes": (
        product((1024, 512), (512, 1024), "int8"),
        ((), ()),
        (r"mma\.sync\.aligned\.m16n8k32\.row\.col\.satfinite\.s32\.s8\.s8",),
        (r"s32\.s8\.s8", MOVE),
    ),
    "exact": (product((512, 256), (256, 512), "float32"), ((), ()), (FMA, COPY), (FMA, COPY)),
    "double": (
        product((512, 256), (256, 512), "float64"),
        ((), ()),
        (r"mma\.sync\.aligned\.m8n8k4\.row\.col\.f64",),
        (r"mma\.sync\.aligned\.m\d+n8k\d+\.row\.col\.f64",),
    ),
    "windows": (
        conv((8, 64, 56, 56), (64, 64, 3, 3), pads=(1,) * 4),
        IMAGES,
        (MMA, COPY),
        (WGMMA, MOVE, COPY),
    ),
    "pixels": (
        conv((8, 256, 28, 28), (64, 256, 1, 1)),
        IMAGES,
        (MMA, COPY),
        (WGMMA, MOVE),
    ),
    "depthwise": (
        conv((1, 64, 56, 56), (64, 1, 3, 3), group=64, pads=(1,) * 4),
        IMAGES,
        (FMA, r"ld\.global\.v4"),
        (FMA, r"ld\.global\.v4"),
    ),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("architecture", [AMPERE, HOPPER], ids=lambda a: a.name)
def test_kernels_have_the_instructions_that_they_should(
    architecture: Architecture, name: str
) -> None:
    case, (orders, result), ampere, hopper = LARGE[name]
    with new_context(), ir.Location.unknown():
        group = build_ordered(case, orders, result)
        module = ir.Module.create()
        lower_group(group, module)
        for each in kernel_passes(architecture):
            each.run(Module(module))
        kernels = [op for op in ops(module.operation) if isinstance(op, tile.Kernel)]
        jobs = [Job(print_kernel(k), k.warps, k.stages) for k in kernels]
    text = ""
    for compiled in compile_sources(jobs, architecture):
        assert not isinstance(compiled, Failure), compiled
        assert rejection(compiled, architecture) is None
        text += compiled.assembly
    for instruction in ampere if architecture is AMPERE else hopper:
        assert re.search(instruction, text), instruction
