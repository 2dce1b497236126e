"""Damaged loadables of the compiler: each is refused with a sentence, or runs."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import onnx
import pytest
from small_networks import NETWORKS, Net
from trivium.compiler.driver import build
from trivium.dialects.core.errors import CompileError
from trivium.runtime.dla.part import DlaPart
from trivium.targets.dla.nvdla.configuration import find_configuration
from trivium.targets.dla.nvdla.format.listing import listing
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.tools.reports.loadable_simulation import simulate_loadable

DESCRIPTORS = ("addr0", "dep_graph", "op_list", "surf_list", "lut_list")
BYTES = (0, 1, 2, 127, 128, 255)


@pytest.mark.parametrize(
    ("name", "configuration"), [("residual", "nv_small"), ("separable", "nv_full")]
)
def test_a_damaged_descriptor_is_refused_or_runs(
    name: str, configuration: str, tmp_path: Path
) -> None:
    net, file = Net(), tmp_path / "q.onnx"
    net.quantized(NETWORKS[name](net), file, 4)
    package = build(onnx.load(file), target=f"nvdla:{configuration}")
    program = package.manifest.part(DlaPart).loadables[0]
    data = bytes(package.entries[program.entry])
    rng, refused = np.random.default_rng(11), 0
    blobs = [b for b in Loadable.read(data).blobs if b.name.endswith(DESCRIPTORS)]
    for _ in range(40):
        damaged, blob = bytearray(data), blobs[rng.integers(len(blobs))]
        used = np.flatnonzero(np.frombuffer(blob.data, np.uint8))
        place = data.index(blob.data) + int(rng.choice(used))
        damaged[place] = rng.choice([*BYTES, damaged[place] ^ 1 << int(rng.integers(8))])
        refused += 1
        with suppress(CompileError):
            found = Loadable.read(bytes(damaged))
            listing(found)
            simulate_loadable(found, find_configuration(configuration))
            refused -= 1
    assert 10 < refused < 40


@pytest.mark.parametrize("length", range(0, 3900, 557))
def test_a_file_that_is_cut_short_is_refused_with_the_offset(length: int, cut: bytes) -> None:
    with pytest.raises(CompileError, match=r"a\.nvdla, offset 0x[0-9a-f]+: error: "):
        Loadable.read(cut[:length], "a.nvdla")


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    net, file = Net(), tmp_path_factory.mktemp("cut") / "q.onnx"
    net.quantized(net.op("Relu", net.conv("x", 3, 9)), file, 2)
    package = build(onnx.load(file), target="nvdla:nv_small")
    data = bytes(package.entries[package.manifest.part(DlaPart).loadables[0].entry])
    assert len(data) > 3900
    return data
