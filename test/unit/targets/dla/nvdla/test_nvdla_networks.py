"""Thin versions of well-known networks: loadables give the bytes of references, near floats."""

import functools
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from trivium.compiler.check import can_run
from trivium.dialects.core.tensor import Array
from trivium.targets.dla.nvdla.configuration import FILE
from trivium.test.unit.targets.dla.image_networks import CLASSIC, PictureNet
from trivium.test.unit.targets.dla.nvdla.compared import cosine, interpreted, simulated, unequal

SIDES = {"lenet": 28, "alexnet": 67, "squeezenet": 47}
"""Rows and columns of images, of 24 for the others."""
THIN = {"lenet": 2, "mobilenet_v1": 32, "mobilenet_v2": 32}
"""What channels are divided by, 16 for the others."""
CALIBRATED = 24
"""How many images ranges are taken from: the range of another one may exceed that of fewer."""
FOURTH = {
    "[nv_small]": "[nv_fourth]",
    "macs_channels = 8": "macs_channels = 16",
    "macs_kernels = 8": "macs_kernels = 4",
    "atom = 8": "atom = 16",
    "entry = 8": "entry = 32",
    "banks = 32": "banks = 16",
    "bank_entries = 512": "bank_entries = 64",
}
"""What a fourth configuration has in the place of numbers of nv_small."""


@functools.cache
def quantized(name: str) -> tuple[onnx.ModelProto, Array, Array]:
    """Return a network of integers, an image, and what floats give for it."""
    build, shape = CLASSIC[name]
    side = SIDES.get(name, 24)
    net = PictureNet((*shape[:2], side, side), thin=THIN.get(name, 16))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.onnx"
        floats = net.quantized(build(net), file, CALIBRATED)
        image = net.inputs()
        session = onnxruntime.InferenceSession(floats.SerializeToString())
        (expected,) = session.run(None, {"x": image})
        return onnx.load(file), image, np.asarray(expected)


@pytest.fixture(params=["nv_small", "nv_large", "nv_full", "fourth"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param != "fourth":
        return f"nvdla:{request.param}"
    text = FILE.read_text().split("[nv_large]")[0]
    for old, new in FOURTH.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    file = tmp_path / "fourth.toml"
    file.write_text(text)
    return f"nvdla:{file}"


@pytest.mark.parametrize("name", CLASSIC)
def test_loadables_of_a_network_give_the_bytes_of_references_near_floats(
    name: str, target: str
) -> None:
    model, image, floats = quantized(name)
    made = simulated(model, target, [image])
    assert made.found
    assert unequal(interpreted(model, target, [image]), made.found) == []
    assert cosine(made.outputs[0], floats) > 0.98


def test_bytes_that_differ_are_told() -> None:
    model, image, _ = quantized("lenet")
    references = interpreted(model, "nvdla:nv_small", [image])
    assert list(references) == ["selection", "TensorSched", "MemAlloc"]
    found = [array.copy() for array in references["selection"]]
    found[0].flat[3] ^= 1
    assert unequal(references, found) == list(references)
    assert unequal(references, []) == list(references)


def test_all_of_alexnet_runs_on_every_published_configuration() -> None:
    model, _, _ = quantized("alexnet")
    for name in ("nv_small", "nv_large", "nv_full"):
        assert [each for each in can_run(model, target=f"nvdla:{name}") if not each.runs] == []
