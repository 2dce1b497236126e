"""Quantised networks: on an accelerator they give the bits that integers give on the CPU."""

from pathlib import Path

import numpy as np
import pytest
from small_networks import NETWORKS, Net
from trivium.compiler.driver import build
from trivium.dialects.core.tensor import Array
from trivium.runtime.dla.part import DlaPart
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.targets.choices import INTEGERS

CUT = {"interrupted": 2, "odd_branches": 2}
"""How many programs networks have that are not one."""


def computed(package: Package, x: Array) -> Array:
    return next(iter(Session(package, threads=1).run({"x": x}).values()))


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_gives_the_bits_of_the_cpu(name: str, tmp_path: Path) -> None:
    net, file = Net(), tmp_path / "q.onnx"
    net.quantized(NETWORKS[name](net), file)
    package = build(str(file), target="vanilla")
    judge = build(str(file), target="cpu", quantized=INTEGERS)
    for _ in range(2):
        x = net.inputs(net.shape[0])
        np.testing.assert_array_equal(computed(package, x), computed(judge, x))
    assert len(package.manifest.part(DlaPart).programs) == CUT.get(name, 1)
