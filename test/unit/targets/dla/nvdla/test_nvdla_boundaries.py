"""Channels that begin within an atom, windows that end within an image, products of zero points."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from small_networks import Net
from test_nvdla_target import interpreted, one_step
from test_target import computed, reference
from trivium.compiler.check import can_run
from trivium.compiler.driver import build
from trivium.runtime.dla.part import DlaPart


def joined(net: Net) -> str:
    """Whole atoms of nv_small come first; then channels move from 24, 29 and 31 on."""
    stem = net.op("Relu", net.conv("x", 3, 8))
    parts = [net.conv(stem, 8, filters, 1) for filters in (16, 8, 5, 2, 8, 3)]
    return net.conv(net.op("Concat", *parts, axis=1), 42, 4, 1)


def sliced(net: Net) -> str:
    """Channels 3 to 18, and of these 5 to 12: neither begins an atom."""
    stem = net.conv("x", 3, 21)
    for start, end in ((3, 18), (5, 12)):
        bounds = [net.weight(np.array([each], np.int64)) for each in (start, end, 1)]
        stem = net.op("Slice", stem, *bounds)
    return net.op("Relu", net.conv(stem, 7, 4, 1))


def averaged(net: Net, **window: list[int]) -> str:
    stem = net.conv("x", 3, 11)
    return net.conv(net.op("AveragePool", stem, count_include_pad=0, **window), 11, 4, 1)


def summed(net: Net, gain: float) -> str:
    """Add an image of one channel, which is larger or smaller than the other, to all channels."""
    one = net.op("Mul", net.conv("x", 3, 1), net.weight(np.array(gain, np.float32)))
    return net.conv(net.op("Add", one, net.conv("x", 3, 11)), 11, 4, 1)


NETWORKS: dict[str, Callable[[Net], str]] = {
    "joined": joined,
    "large channel": lambda net: summed(net, 3.0),
    "small channel": lambda net: summed(net, 0.3),
    "sliced": sliced,
    "3x3": lambda net: averaged(net, kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    "2x2 of one side": lambda net: averaged(
        net, kernel_shape=[2, 2], pads=[1, 0, 0, 1], strides=[2, 1]
    ),
    "4x2": lambda net: averaged(net, kernel_shape=[4, 2], pads=[2, 0, 1, 1], strides=[3, 2]),
}


def within_a_step(model: onnx.ModelProto, target: str, x: np.ndarray) -> int:
    """Require one loadable that gives the reference's bytes; return its number of operations."""
    package = build(model, target=target)
    (program,) = package.manifest.part(DlaPart).loadables
    found = computed(package, [x])
    np.testing.assert_array_equal(found, interpreted(model, target, [x]))
    assert one_step(found, reference(model, [x]))
    return program.operations


@pytest.mark.parametrize("configuration", ["nv_small", "nv_full"])
@pytest.mark.parametrize("name", NETWORKS)
def test_all_is_one_loadable_within_a_step(name: str, configuration: str, tmp_path: Path) -> None:
    net, file = Net((2, 3, 9, 7)), tmp_path / "q.onnx"
    net.quantized(NETWORKS[name](net), file)
    model, x = onnx.load(file), 2 * net.inputs(2)
    within_a_step(model, f"nvdla:{configuration}", x)


def test_an_average_whose_image_exceeds_cbuf_is_divided_with_its_shares(tmp_path: Path) -> None:
    net, file = Net((1, 8, 131, 150)), tmp_path / "q.onnx"
    stem = net.op("MaxPool", "x", kernel_shape=[1, 1])
    stem = net.op("AveragePool", stem, kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=0)
    net.quantized(net.op("MaxPool", stem, kernel_shape=[1, 1]), file, 2)
    model, x = onnx.load(file), net.inputs()
    assert within_a_step(model, "nvdla:nv_small", x) > 4


def multiplied(file: Path) -> onnx.ModelProto:
    """Write the product of images whose zero points are -128, and near -28."""
    net = Net((1, 3, 9, 7))
    a, b = net.op("Relu", net.conv("x", 3, 11)), net.conv("x", 3, 11)
    b = net.op("Clip", b, *(net.weight(np.array(each, np.float32)) for each in (-1, 1.5)))
    net.quantized(net.conv(net.op("Mul", a, b), 11, 4, 1), file)
    return onnx.load(file)


@pytest.mark.parametrize("configuration", ["nv_large", "nv_full"])
def test_stage_y_multiplies_images_with_zero_points(configuration: str, tmp_path: Path) -> None:
    model = multiplied(tmp_path / "q.onnx")
    x = 2 * np.random.default_rng(3).normal(size=(1, 3, 9, 7)).astype(np.float32)
    within_a_step(model, f"nvdla:{configuration}", x)


def gated(net: Net, pixel: str) -> str:
    gate = net.op("Relu", net.conv(pixel, 11, 11, 1))
    return net.conv(net.op("Mul", net.conv("x", 3, 11), gate), 11, 4, 1)


def pooled(net: Net) -> str:
    return gated(net, net.op("GlobalAveragePool", net.conv("x", 3, 11)))


def cut(net: Net) -> str:
    """The gate is a pixel of an image, which is stored with its rows and columns."""
    bounds = [net.weight(np.array(each, np.int64)) for each in ([3, 2], [4, 3], [2, 3])]
    stem = net.op("Relu", net.conv("x", 3, 11))
    return net.conv(net.op("Mul", net.conv("x", 3, 11), net.op("Slice", stem, *bounds)), 11, 4, 1)


def masked(net: Net) -> str:
    """The gate has one channel, and a value for each pixel."""
    gate = net.op("Relu", net.conv("x", 3, 1))
    return net.conv(net.op("Mul", gate, net.conv("x", 3, 11)), 11, 4, 1)


@pytest.mark.parametrize("network", [pooled, cut, masked])
@pytest.mark.parametrize("configuration", ["nv_large", "nv_full"])
def test_a_pixel_multiplies_the_channels_of_all(
    network: Callable[[Net], str], configuration: str, tmp_path: Path
) -> None:
    net, file = Net((2, 3, 9, 7)), tmp_path / "q.onnx"
    net.quantized(network(net), file)
    model, x = onnx.load(file), net.inputs(2)
    within_a_step(model, f"nvdla:{configuration}", x)


def test_nv_small_has_no_stage_for_two_zero_points(tmp_path: Path) -> None:
    multiplied(tmp_path / "q.onnx")
    support = can_run(str(tmp_path / "q.onnx"), target="nvdla:nv_small")
    assert {r for node in support for r in node.refusals} == {"nv_small has no stage Y of SDP"}


def test_counts_whose_ratios_are_not_those_of_bytes_are_named(tmp_path: Path) -> None:
    net, file = Net((1, 3, 9, 7)), tmp_path / "q.onnx"
    net.quantized(averaged(net, kernel_shape=[5, 7], pads=[2, 3, 2, 3]), file)
    reasons = [r for node in can_run(str(file), target="nvdla:nv_small") for r in node.refusals]
    assert len(reasons) == 1
    assert reasons[0].startswith("nv_small divides by numbers whose ratios are those of bytes, not")
