"""Convolution kernels over every way in which they read windows: strides, pads, groups, axes."""

from itertools import product

import ml_dtypes
import numpy as np
import pytest
from closeness import assert_close
from cpu_kernels import compile_cases, on_every_machine
from groups import Case, draw
from trivium.dialects import tri
from trivium.dialects.core.machine import Machine
from trivium.dialects.core.tensor import Array, Tensor

RANDOM = np.random.default_rng()


def normal(*shape: int, dtype: object = np.float32) -> Array:
    return RANDOM.standard_normal(shape).astype(dtype)


def conv(
    sizes: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: int,
    pads: tuple[int, ...],
    dilation: int = 1,
    channels: tuple[int, int, int] = (5, 5, 5),
    dtype: object = np.float32,
) -> Case:
    """Make a case of inputs, outputs and groups; five of each is a depthwise convolution."""
    inputs, outputs, group = channels
    x = normal(2, inputs, *sizes, dtype=dtype)
    w = normal(outputs, inputs // group, *kernel, dtype=dtype)
    rank = len(kernel)
    attributes = {
        "strides": (stride,) * rank,
        "pads": pads,
        "dilations": (dilation,) * rank,
        "group": group,
    }
    return Case("conv", tri.Conv, (x, w, normal(outputs, dtype=dtype)), attributes)


def cases() -> dict[str, list[Case]]:
    strides = (1, 2, 3)
    return {
        "depthwise": [
            conv((7, width), (3, 3), stride, pads)
            for width, stride, pads in product((9, 16, 35), strides, ((1, 1, 1, 1), (0, 2, 1, 0)))
        ],
        "depthwise wide": [
            conv((9, 33), (5, 3), stride, (4, 2, 4, 2), dilation=2) for stride in strides
        ],
        "depthwise line": [conv((37,), (3,), stride, (1, 1)) for stride in strides],
        "depthwise space": [conv((3, 4, 17), (3, 3, 3), s, (1,) * 6) for s in strides],
        "depthwise half": [
            conv((6, 21), (3, 3), stride, (1, 1, 1, 1), dtype=ml_dtypes.bfloat16)
            for stride in strides
        ],
        "multiplied": [conv((6, 19), (3, 3), s, (1,) * 4, channels=(4, 8, 4)) for s in strides],
        "line": [
            conv((width,), (5,), stride, (2, 1), dilation, channels=(6, outputs, 1))
            for width, stride, (dilation, outputs) in product(
                (9, 64, 70), strides, ((1, 33), (2, 3))
            )
        ],
        "line half": [conv((40,), (3,), s, (1, 1), 1, (4, 20, 1), np.float16) for s in (1, 2)],
        "few": [
            conv((6, width), (3, 2), stride, (1, 0, 1, 2), channels=(4, 3, 1))
            for width, stride in product((16, 21, 40), strides)
        ],
        "grouped": [conv((6, 19), (3, 3), s, (1,) * 4, channels=(6, 34, 2)) for s in strides],
        "dense": [
            conv((size, size + 3), (3, 3), stride, (1, 0, 2, 1), channels=(3, 33, 1))
            for size, stride in product((5, 17), strides)
        ],
        "pointwise": [conv((7, 7), (1, 1), s, (0,) * 4, channels=(17, 40, 1)) for s in strides],
    }


@on_every_machine
@pytest.mark.parametrize("kind", cases())
def test_convolves_as_the_reference_does(kind: str, machine: Machine) -> None:
    group = draw(lambda: cases()[kind], RANDOM)
    compiled = compile_cases(group, machine)
    for index, case in enumerate(group):
        wanted = case.reference()
        made = compiled.run(index, case.inputs, [Tensor.of(y) for y in wanted])
        assert_close(case, made[0], wanted[0], case.inputs)
