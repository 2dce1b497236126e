"""Kernels of convolutions: windows, pixels, single taps and spread inputs, in all orders."""

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from groups import Case
from ordered import Order, check, drawn
from trivium.dialects import tri
from trivium.dialects.core.op import Op

NHWC, HWCO = (0, 2, 3, 1), (2, 3, 1, 0)
ROW_MAJOR = (0, 1, 2, 3)


def conv(
    x: Sequence[int],
    w: Sequence[int],
    dtype: object = "float32",
    cls: type[Op] = tri.Conv,
    **attributes: Any,
) -> Case:
    """Make a case with a bias; strides, pads and dilations do nothing unless given.

    Sums are about as large as what they sum, by which their errors are judged.
    """
    rank, group = len(x) - 2, attributes.get("group", 1)
    outputs = w[0] if cls is tri.Conv else w[1] * group
    plain = {"strides": (1,) * rank, "pads": (0,) * 2 * rank, "dilations": (1,) * rank}
    if cls is tri.ConvTranspose:
        plain["output_padding"] = (0,) * rank
    weights = drawn(w, dtype)
    if weights.dtype.kind not in "iu":
        weights = (weights / math.prod(w[1:-1]) ** 0.5).astype(weights.dtype)
    operands = (drawn(x, dtype), weights, drawn((outputs,), dtype))
    return Case("conv", cls, operands, plain | {"group": group} | attributes)


def spread(x: Sequence[int], w: Sequence[int], dtype: object = "float32", **more: Any) -> Case:
    return conv(x, w, dtype, tri.ConvTranspose, **more)


CASES = {
    "few channels": conv((2, 3, 9, 8), (17, 3, 3, 3), pads=(1, 1, 1, 1)),
    "many channels": conv((2, 20, 6, 7), (17, 20, 3, 2), pads=(1, 0, 1, 1)),
    "strides": conv((2, 20, 9, 8), (17, 20, 3, 3), strides=(2, 3), pads=(1, 2, 0, 1)),
    "dilations": conv((1, 20, 9, 8), (9, 20, 3, 2), dilations=(2, 3), pads=(2, 0, 1, 3)),
    "pads beyond the image": conv((1, 20, 1, 2), (9, 20, 3, 3), pads=(3, 3, 3, 3)),
    "pixels": conv((2, 20, 6, 7), (17, 20, 1, 1)),
    "every other pixel": conv((2, 20, 6, 7), (17, 20, 1, 1), strides=(2, 2)),
    "padded pixels": conv((2, 20, 6, 7), (17, 20, 1, 1), pads=(1, 0, 0, 2)),
    "groups": conv((2, 40, 5, 6), (34, 20, 3, 3), group=2, pads=(1, 1, 1, 1)),
    "groups of pixels": conv((2, 40, 5, 6), (34, 20, 1, 1), group=2),
    "groups of few": conv((2, 12, 5, 6), (39, 4, 3, 3), group=3),
    "depthwise": conv((2, 9, 6, 5), (9, 1, 3, 3), group=9, pads=(1, 1, 1, 1)),
    "depthwise wide": conv((1, 9, 9, 12), (9, 1, 5, 7), group=9, pads=(2, 3, 2, 3)),
    "depthwise strides": conv(
        (2, 9, 9, 8), (9, 1, 3, 3), group=9, strides=(2, 2), pads=(1, 1, 0, 0)
    ),
    "several outputs each": conv((2, 6, 6, 5), (12, 1, 3, 3), group=6, pads=(1, 1, 1, 1)),
    "small groups": conv((2, 12, 6, 5), (8, 3, 3, 3), group=4, pads=(1, 1, 1, 1)),
    "one pixel": conv((1, 100, 1, 1), (17, 100, 1, 1)),
    "one window": conv((1, 20, 3, 3), (17, 20, 3, 3)),
    "few pixels, deep": conv((1, 130, 4, 5), (7, 130, 3, 3), pads=(1, 1, 1, 1)),
    "spread": spread((2, 20, 4, 5), (20, 9, 3, 3), pads=(1, 0, 1, 1)),
    "spread far": spread((2, 20, 4, 5), (20, 9, 2, 3), strides=(2, 3), output_padding=(1, 0)),
    "spread and cut": spread((1, 5, 4, 5), (5, 9, 3, 4), strides=(3, 2), pads=(2, 1, 1, 3)),
    "spread dilated": spread((1, 20, 4, 3), (20, 4, 3, 2), strides=(2, 1), dilations=(3, 2)),
    "spread groups": spread((2, 10, 4, 5), (10, 3, 3, 2), strides=(2, 1), group=2),
    "spread depthwise": spread((2, 6, 4, 5), (6, 1, 3, 3), strides=(2, 2), group=6),
    "spread pixels": spread((2, 20, 4, 5), (20, 9, 1, 1)),
}


@pytest.mark.parametrize(
    ("x", "w", "y"),
    [
        (ROW_MAJOR, ROW_MAJOR, ROW_MAJOR),
        (NHWC, HWCO, NHWC),
        (NHWC, ROW_MAJOR, (2, 1, 0, 3)),
        ((1, 2, 3, 0), HWCO, ROW_MAJOR),
    ],
)
@pytest.mark.parametrize("name", CASES)
def test_images_are_convolved_in_any_order(name: str, x: Order, w: Order, y: Order) -> None:
    check(CASES[name], [x, w], y)


@pytest.mark.parametrize("cls", [tri.Conv, tri.ConvTranspose])
@pytest.mark.parametrize("group", [1, 2, 4])
@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "float64", "int8", "int32"])
def test_all_types_are_convolved(dtype: object, group: int, cls: type[Op]) -> None:
    check(conv((1, 20, 5, 6), (20, 20 // group, 3, 2), dtype, cls, group=group, pads=(1, 1, 1, 0)))


@pytest.mark.parametrize("channels", [3, 20])
@pytest.mark.parametrize("cls", [tri.Conv, tri.ConvTranspose])
def test_lines_and_volumes_are_convolved(cls: type[Op], channels: int) -> None:
    line = (9, channels, 3) if cls is tri.Conv else (channels, 9, 3)
    check(conv((2, channels, 11), line, cls=cls, strides=(2,), pads=(1, 1)))
    volume = (9, channels, 2, 3, 2) if cls is tri.Conv else (channels, 9, 2, 3, 2)
    case = conv((1, channels, 3, 4, 5), volume, cls=cls, strides=(1, 2, 1), pads=(1, 0, 1, 0, 1, 0))
    check(case)
    check(case, [(0, 2, 3, 4, 1), (2, 3, 4, 1, 0)], (0, 2, 3, 4, 1))


def test_padding_is_not_multiplied() -> None:
    """An infinity in the image beside padding stays where it is."""
    case = conv((1, 3, 4, 4), (9, 3, 3, 3), pads=(1, 1, 1, 1))
    case.operands[0][0, :, 3, 3] = np.inf
    case.operands[1][:] = np.abs(case.operands[1])
    check(case)


def test_convolutions_without_a_bias() -> None:
    case = conv((2, 20, 6, 7), (17, 20, 3, 3))
    check(Case("plain", case.cls, (*case.operands[:2], None), case.attributes))
