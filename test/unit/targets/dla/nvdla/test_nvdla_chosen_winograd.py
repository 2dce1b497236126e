"""Convolutions of fp16 that the compiler runs by Winograd's method, where an error is allowed."""

from typing import Any

import numpy as np
import pytest
from trivium.compiler.driver import build
from trivium.runtime.package import Package
from trivium.targets.dla.nvdla.dialect.convolution import Conv
from trivium.targets.dla.nvdla.format.dla_task import Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.operations import ConvOperation, SdpOperation
from trivium.targets.dla.nvdla.schedule.choose_winograd import LOSS
from trivium.test.unit.targets.dla.image_networks import CLASSIC
from trivium.test.unit.targets.dla.nvdla.compared import cosine, interpreted, simulated, unequal
from trivium.test.unit.targets.dla.nvdla.test_nvdla_halves import FULL, drawn, floats, model
from trivium.test.unit.targets.dla.small_networks import Net
from trivium.tools.report import describe
from trivium.tools.reports.package_info import package_info

HALF = 2.0**-11
"""What rounding a result to fp16 loses."""

CASES: dict[str, tuple[str, tuple[int, ...], dict[str, Any], list[int]]] = {
    "odd": (
        "y = Conv <pads = [1, 1, 1, 1]> (x, w, b)",
        *((2, 21, 8, 12), {"w": drawn(37, 21, 3, 3), "b": drawn(37)}, [1]),
    ),
    "unpadded": ("y = Conv (x, w)", (1, 5, 6, 10), {"w": drawn(3, 5, 3, 3)}, [1]),
    "pads": (
        "a = Conv <pads = [2, 0, 1, 2]> (x, w) y = Relu (a)",
        *((1, 17, 11, 8), {"w": drawn(16, 17, 3, 3)}, [1]),
    ),
    "residual": (
        "a = Conv <pads = [1, 1, 1, 1]> (x, w, b) c = Add (a, x) y = Relu (c)",
        *((1, 16, 8, 4), {"w": drawn(16, 16, 3, 3), "b": drawn(16)}, [1]),
    ),
    "places": (
        "a = Conv <pads = [1, 1, 1, 1]> (x, w) c = Concat <axis = 1> (a, x)"
        "y = Conv <pads = [1, 1, 1, 1], group = 2> (c, v)",
        *((1, 32, 12, 12), {"w": drawn(32, 32, 3, 3), "v": drawn(8, 32, 3, 3)}, [1, 1]),
    ),
    "others": (
        "a = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w)"
        "c = Conv <pads = [1, 1, 1, 1]> (a, v) y = MaxPool <kernel_shape = [2, 2]> (c)",
        *((1, 16, 16, 16), {"w": drawn(16, 16, 3, 3), "v": drawn(16, 16, 3, 3)}, [0, 0]),
    ),
}
"""Nodes, the shape of the input, weights, and the modes of the convolutions of a loadable."""


def modes(package: Package) -> list[int]:
    """Return the modes of convolutions; their results go to an SDP of the same mode."""
    loadable = Loadable.read(bytes(package.entries["dla/nvdla_0.nvdla"]))
    found: list[int] = []
    for task in dla_tasks(Tables(loadable)):
        mode: int | None = None
        for operation in task.operations:
            descriptor = operation.descriptor
            if isinstance(descriptor, ConvOperation):
                mode = descriptor.mode
                found.append(mode)
            elif isinstance(descriptor, SdpOperation):
                assert descriptor.conv_mode == (mode or 0)
                mode = None
    return found


def told(package: Package) -> str:
    """Return what `trivium info` prints."""
    return describe(package_info("net.trv", package.manifest))


@pytest.mark.parametrize("name", CASES)
def test_winograd_gives_the_bits_of_references_near_floats(name: str) -> None:
    body, shape, weights, expected_modes = CASES[name]
    made, x = model(body, shape, **weights), drawn(*shape)
    kept = x.copy()
    found = simulated(made, FULL, [x], "fp16", LOSS)
    assert modes(found.package) == expected_modes
    references = interpreted(made, FULL, [x], "fp16", LOSS)
    # Before the phase that chooses, convolutions are direct.
    direct = references.pop("selection")
    assert unequal(references, found.found) == []
    assert any(expected_modes) == bool(unequal({"direct": direct}, found.found))
    # Inputs and weights are rounded to fp16, which loses as much as a result's own rounding.
    expected = floats(made, x)
    most = len(expected_modes) * (LOSS + 2 * HALF) * np.abs(expected).max()
    assert np.abs(found.outputs[0] - expected).max() < most
    np.testing.assert_array_equal(x, kept)


@pytest.mark.parametrize(("error", "level"), [(None, 2), (0.0, 2), (0.99 * LOSS, 2), (LOSS, 0)])
def test_winograd_is_not_chosen_where_it_is_not_allowed(error: float | None, level: int) -> None:
    body, shape, weights, expected_modes = CASES["odd"]
    made = model(body, shape, **weights)
    options = {"winograd_error": error, "opt_level": level}
    package = build(made, target=FULL, precision="fp16", **options)
    assert modes(package) == [0] * len(expected_modes)
    assert "Winograd" not in told(package)


def test_a_package_tells_that_a_layer_may_lose_something() -> None:
    body, shape, weights, _ = CASES["odd"]
    made = model(body, shape, **weights)
    text = told(build(made, target=FULL, precision="fp16", winograd_error=2e-3))
    assert "by Winograd's method a layer may lose 0.002" in text
    assert "2 operations for nv_full, 1 of them by Winograd's method" in text


TRANSFORM = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])


@pytest.mark.parametrize("is_positive", [False, True])
@pytest.mark.parametrize("channels", [16, 64, 128, 256, 512])
def test_layers_lose_less_than_what_must_be_allowed(channels: int, is_positive: bool) -> None:
    rng = np.random.default_rng(channels)
    x = rng.normal(size=(1, channels, 12, 12))
    x = (np.maximum(x, 0) if is_positive else x).astype(np.float16)
    w = (rng.normal(size=(4, channels, 3, 3)) / np.sqrt(channels)).astype(np.float16)
    kernels = (TRANSFORM @ w.astype(np.float64) @ TRANSFORM.T).astype(np.float16)
    found = Conv(winograd=True, pads=(1, 1, 3, 3)).reference(x, kernels)[0]
    padded = np.pad(x[0].astype(np.float64), ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    exact = np.einsum("cyxrs,kcrs->kyx", windows, w.astype(np.float64))
    assert found.shape == exact.shape
    # A direct convolution loses a hundredth of this.
    assert LOSS / 10 < np.abs(found - exact).max() / np.abs(exact).max() < LOSS


def test_a_network_has_direct_and_winograd_convolutions() -> None:
    make, shape = CLASSIC["resnet_18"]
    net = Net((*shape[:2], 64, 64), thin=16)
    made, x = net.model(make(net)), net.inputs()
    found = simulated(made, FULL, [x], "fp16", LOSS)
    assert 0 < sum(modes(found.package)) < len(modes(found.package))
    references = interpreted(made, FULL, [x], "fp16", LOSS)
    del references["selection"]
    assert unequal(references, found.found) == []
    assert cosine(found.outputs[0], floats(made, x)) > 0.9999
