"""Networks of real size on an accelerator: the bits of integers, near the floats, within sram."""

import functools
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from image_networks import IMAGE, mobilenet_v2, resnet_18
from small_networks import Net
from trivium.compiler.driver import build
from trivium.dialects.core.tensor import Array
from trivium.runtime.dla.part import DlaPart
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.targets.choices import INTEGERS
from trivium.targets.dla.vanilla.packets import FILE

NETWORKS = {"resnet_18": resnet_18, "mobilenet_v2": mobilenet_v2}
HALF = {
    "sram = { bytes = 262144, alignment = 16": "sram = { bytes = 131072, alignment = 64",
    "weights = { bytes = 65536, alignment = 16": "weights = { bytes = 49152, alignment = 32",
    "rows = 16 ": "rows = 32 ",
    "columns = 16 ": "columns = 8 ",
    "atom = 16": "atom = 32",
}
"""What another accelerator has in the place of vanilla's numbers."""


@functools.cache
def quantized(name: str) -> tuple[onnx.ModelProto, bytes]:
    """Return a network of floats, and the model that was made of it for integers."""
    net = Net(IMAGE)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.onnx"
        return net.quantized(NETWORKS[name](net), file, samples=2), file.read_bytes()


@functools.cache
def image() -> Array:
    return np.random.default_rng(1).normal(size=IMAGE).astype(np.float32)


def scores(package: Package) -> Array:
    return next(iter(Session(package, threads=1).run({"x": image()}).values()))


@functools.cache
def expected(name: str) -> tuple[Array, Array]:
    """Return what floats and what integers give on the CPU: by onnxruntime, and by Trivium."""
    model, integers = quantized(name)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    (floats,) = session.run(None, {"x": image()})
    return np.asarray(floats), scores(build(integers, target="cpu", quantized=INTEGERS))


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_gives_the_bits_of_integers_close_to_the_floats(name: str) -> None:
    floats, integers = expected(name)
    package = build(quantized(name)[1], target="vanilla", strict=False)
    found = scores(package)
    np.testing.assert_array_equal(found, integers)
    assert cosine(found, floats) > 0.98
    (program,) = package.manifest.part(DlaPart).programs
    assert 0 < program.sram_lower_bound <= program.sram_bytes <= 256 * 1024
    assert program.dram_bytes < program.dram_bound


@pytest.mark.parametrize("name", NETWORKS)
def test_another_description_takes_no_line_of_code(name: str, tmp_path: Path) -> None:
    text = FILE.read_text()
    for old, new in HALF.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    half = tmp_path / "half.toml"
    half.write_text(text)
    package = build(quantized(name)[1], target=f"vanilla:{half}")
    np.testing.assert_array_equal(scores(package), expected(name)[1])
    assert package.manifest.part(DlaPart).programs[0].sram_bytes <= 128 * 1024


def cosine(a: Array, b: Array) -> float:
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))
