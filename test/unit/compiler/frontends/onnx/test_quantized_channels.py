"""Bytes of images whose channels are whole blocks: kernels of their own, functions in tables."""

from collections.abc import Mapping

import numpy as np
import pytest
import trivium
from trivium.test.unit.compiler.frontends.onnx.graphs import info, model, node
from trivium.test.unit.compiler.frontends.onnx.quantized_models import (
    KINDS,
    RANDOM,
    TYPES,
    check,
    convolution,
    expected,
    names,
    near,
    quantized,
    whole,
)


@KINDS
@pytest.mark.parametrize(("kernel", "stride"), [((3, 3), 1), ((5, 5), 2), ((2, 4), 1)])
def test_whole_blocks_of_channels_have_kernels_of_their_own(
    kind: str, kernel: tuple[int, int], stride: int
) -> None:
    zero = whole(kind)
    window = {"group": 32, "pads": [1, 2, 1, 0], "strides": [stride, stride]}
    made = model(
        [node("ConvInteger", "x w xz", **window)],
        {"x": info("x", (2, 32, 11, 19), TYPES[kind])},
        initializers={"w": whole("int8", 32, 1, *kernel), "xz": zero},
    )
    ops_made = ("cpu.block", "cpu.lane_dot_conv", "cpu.unblock")
    check(made, {"x": whole(kind, 2, 32, 11, 19)}, *ops_made)


@pytest.mark.parametrize(
    ("channels", "more"), [(24, {}), (32, {"dilations": [1, 2]}), (32, {"group": 16})]
)
def test_other_groups_stay(channels: int, more: Mapping[str, object]) -> None:
    group = {"group": channels, "pads": [1, 1, 1, 1]} | dict(more)
    before, weights = quantized("x", "uint8", 0.02, 7)
    shape = (channels, channels // group["group"], 3, 3)
    parts = [(before, weights), convolution("y", "x_d", *shape, **group)]
    graph = model(
        [each for nodes, _ in parts for each in nodes],
        {"x": (1, channels, 11, 19)},
        initializers={name: array for _, each in parts for name, array in each.items()},
    )
    x = RANDOM.standard_normal((1, channels, 11, 19)).astype(np.float32)
    assert "cpu.lane_dot_conv" not in names(graph)
    (got,) = trivium.compile(graph).run({"x": x}).values()
    (want,) = expected(graph, {"x": x})
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * np.abs(want).max())


@KINDS
def test_bytes_between_depthwise_convolutions(kind: str) -> None:
    """Padding with zero points, strides, an odd width whose last words end behind the border."""
    zero = int(np.iinfo(kind).min)
    square = {"group": 32, "pads": [1, 1, 1, 1]}
    parts = [
        quantized("x", kind, 0.02, 7),
        convolution("a", "x_d", 32, 1, 3, 3, **square),
        ([node("Clip", "a lo hi", "c")], {"lo": np.float32(0), "hi": np.float32(6)}),
        quantized("c", kind, 6 / 255, zero),
        convolution("b", "c_d", 32, 1, 5, 5, strides=[2, 2], **square),
        quantized("b", kind, 0.3, 100),
        ([node("Identity", "b_q")], {}),
    ]
    graph = model(
        [each for nodes, _ in parts for each in nodes],
        {"x": (1, 32, 12, 15)},
        initializers={name: array for _, more in parts for name, array in more.items()},
    )
    x = RANDOM.standard_normal((1, 32, 12, 15)).astype(np.float32)
    near(graph, {"x": x}, "cpu.block", *["cpu.lane_dot_conv"] * 2, "cpu.unblock")


@KINDS
def test_functions_of_bytes_are_looked_up(kind: str) -> None:
    """SiLU as tools quantise it: its sigmoid and its product, each with a scale of its own."""
    parts = [
        quantized("x", kind, 0.02, 7),
        convolution("a", "x_d", 32, 16, 1, 1),
        quantized("a", kind, 0.1, 3),
        ([node("Sigmoid", "a_d", "s")], {}),
        quantized("s", kind, 1 / 256, int(np.iinfo(kind).min)),
        ([node("Mul", "a_d s_d", "m")], {}),
        quantized("m", kind, 0.05, -3 if kind == "int8" else 20),
        ([node("Identity", "m_q")], {}),
    ]
    graph = model(
        [each for nodes, _ in parts for each in nodes],
        {"x": (1, 16, 9, 11)},
        initializers={name: array for _, more in parts for name, array in more.items()},
    )
    x = RANDOM.standard_normal((1, 16, 9, 11)).astype(np.float32)
    found = names(graph)
    assert found.count("cpu.look_up") == 1
    assert "tri.sigmoid" not in found
    (got,) = trivium.compile(graph).run({"x": x}).values()
    (want,) = expected(graph, {"x": x})
    apart = np.abs(got.astype(int) - want)
    assert apart.max() <= 1
    assert (apart > 0).mean() < 0.01
    assert len(np.unique(want)) > 50
