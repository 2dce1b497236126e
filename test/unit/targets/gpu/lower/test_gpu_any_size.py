"""Kernels for all sizes of operands, against the reference at some of them."""

import numpy as np
import pytest
from gpu_kernels import run_kernels
from resampled import SAMPLED
from symbolic_groups import Dynamic, build, draw_operand, forget_groups
from trivium.dialects import tri
from trivium.dialects.core.attributes import tensor_of
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.verification import verify
from trivium.dialects.tile.interpret import run_kernel
from trivium.targets.gpu.lower.group import lower_group

IMAGES = [{"N": n, "H": h, "W": w} for n, h, w in ((1, 1, 1), (2, 3, 5), (1, 16, 17), (1, 1, 40))]


MOVED = [
    Dynamic(tri.Pad, ["N H W"], {"pads": (0, 2, 3, 0, 0, 7), "mode": "reflect"}),
    Dynamic(tri.Pad, ["N H W"], {"pads": (0, 5, 0, 0, 1, 9), "mode": "wrap"}),
    Dynamic(tri.Roll, ["H W N"], {"shifts": (-2, 9), "axes": (1, 0)}),
    Dynamic(tri.Iota, [], {"size": "=H+700*N-1"}),
    Dynamic(tri.PaddedNonZero, ["N 70*H-70 W i32"]),
]

WALKED = [
    Dynamic(
        tri.LinearAttention,
        ["N H 4 9", "N H 2 9", "N H 2 W", "N H 2 1", None, "N 2 9 W"],
        {"scale": 0.25},
    ),
    Dynamic(tri.LinearAttention, ["1 W 3*N 4", "1 W N 4", "1 W N H", *[None] * 3], {"scale": 0.25}),
]


@pytest.mark.parametrize("case", [*SAMPLED, *MOVED, *WALKED], ids=str)
def test_kernels_of_any_sizes(case: Dynamic) -> None:
    with new_context(), ir.Location.unknown():
        group = build(case, None, "gpu")
        kernels = lower_group(group, module := ir.Module.create())
        verify(module.operation)
        for sizes in IMAGES:
            known = build(case, sizes, "gpu")
            (op, *_) = known.members
            inputs = [
                draw_operand(tensor_of(value.type), seed)
                for seed, value in enumerate(known.block.arguments)
            ]
            made = run_kernels(
                group, kernels, inputs, lambda k, m, at=sizes: run_kernel(k, m, at), sizes
            )
            flat = iter(inputs)
            wanted = op.evaluate([None if each is None else next(flat) for each in case.operands])
            wanted = wanted if isinstance(wanted, tuple) else (wanted,)
            for got, want in zip(made, wanted, strict=True):
                np.testing.assert_allclose(got, want, 1e-4, 1e-5, err_msg=str(sizes))
        forget_groups()
