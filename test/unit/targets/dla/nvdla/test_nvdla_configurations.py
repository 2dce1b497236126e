"""Configurations are data: the published ones, a fourth one, and the layouts that follow."""

from dataclasses import replace

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.choice import toml_text
from trivium.targets.dla.nvdla.configuration import (
    FILE,
    Configuration,
    find_configuration,
    published,
    read_configurations,
)
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.network import Precision
from trivium.targets.dla.nvdla.format.operations import BDMA, CONV, RUBIK
from trivium.targets.dla.nvdla.surfaces import (
    SurfaceLayout,
    bank_use,
    dense,
    entries_per_slice,
    pack,
    pack_weights,
    unpack,
    unpack_weights,
)
from trivium.test.unit.targets.dla.nvdla.recorded import vectors

MIDDLE = """
[middle]
precisions = ["int8"]
macs_channels = 16
macs_kernels = 4
atom = 16
banks = 8
bank_entries = 64
entry = 32
engines = ["CONV", "SDP"]
sdp_stages = ["x1"]
sdp_lut = false
winograd = false
"""


@pytest.fixture
def middle() -> Configuration:
    return read_configurations(MIDDLE)["middle"]


@pytest.mark.parametrize(
    ("name", "bytes"), [("nv_small", 128 << 10), ("nv_large", 512 << 10), ("nv_full", 512 << 10)]
)
def test_the_published_sizes_of_cbuf(name: str, bytes: int) -> None:
    found = published()[name]
    assert found.banks * found.bank_bytes == bytes


def test_refusals_name_the_unit() -> None:
    assert find_configuration("nv_full").refusal(RUBIK, Precision.FP16) is None
    small = find_configuration("nv_small")
    assert small.refusal(BDMA) == "nv_small has no BDMA, must be one of CONV, SDP, PDP, CDP"
    assert small.refusal(CONV, Precision.INT16) == "nv_small has no int16, must be int8"


def test_a_fourth_configuration_is_data_alone(middle: Configuration) -> None:
    assert middle.atom_elements(Precision.INT8) == 16
    assert middle.atom_elements(Precision.FP16) == 8
    weights = np.arange(6 * 20 * 2 * 1, dtype=np.int8).reshape(6, 20, 2, 1)
    data = pack_weights(weights, middle)
    stored = np.frombuffer(data, np.int8)
    # The kernels 0 to 3, channels 0 to 15, of the first row; then of the second one.
    assert np.array_equal(stored[:64], weights[:4, :16, 0, 0].ravel())
    assert np.array_equal(stored[64:128], weights[:4, :16, 1, 0].ravel())
    # Then channels 16 to 19, which are not padded.
    assert np.array_equal(stored[128:144], weights[:4, 16:, 0, 0].ravel())
    assert len(data) == 256
    assert np.array_equal(unpack_weights(data, (6, 20, 2, 1), middle), weights)
    # 3 atoms of 20 to 48 channels: an entry for two of them, and half an entry for the third.
    assert entries_per_slice(5, 33, middle) == 5 + 3
    assert bank_use(middle, 8, 9, 2049) == bank_use(middle, 9, 8, 4096)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("atom = 16", "atom = 0", "'atom' is 0, must be a positive number"),
        ("atom = 16", "atom = true", "'atom' is True, must be a positive number"),
        ("atom = 16", "atom = 24", "'entry' must be a multiple of 'atom', 24"),
        ("banks = 8\n", "", "lacks or does not know: banks"),
        ("banks = 8\n", "banks = 8\nfans = 2\n", "lacks or does not know: fans"),
        ('["CONV", "SDP"]', '["CONF"]', "must be a list of BDMA, CONV, SDP"),
        ("sdp_lut = false", "sdp_lut = 0", "'sdp_lut' is 0, must be true or false"),
        ("[middle]", "middle = 3\n[other]", "'middle' must be a table"),
        ("atom = 16", "atom = 16\nrates = 3", "'middle.rates' must be a table"),
        ("atom = 16", "atom = 16\nrates.pdp_elements = 1", "lacks or does not know: cdp_elements"),
        ("[middle]", "[middle", "a.toml: error: "),
    ],
)
def test_other_tables_are_refused(old: str, new: str, message: str) -> None:
    assert old in MIDDLE
    with pytest.raises(CompileError) as raised:
        read_configurations(MIDDLE.replace(old, new), "a.toml")
    assert message in str(raised.value)


@pytest.mark.parametrize("name", ["nv_small", "nv_large", "nv_full"])
def test_what_a_package_holds_of_a_configuration_is_all_of_it(name: str) -> None:
    found = find_configuration(name)
    assert read_configurations(toml_text(found)) == {name: found}
    unrated = replace(found, rates=None)
    assert read_configurations(toml_text(unrated)) == {name: unrated}


def test_the_names_of_the_published_ones() -> None:
    assert list(read_configurations(FILE.read_text())) == ["nv_small", "nv_large", "nv_full"]
    with pytest.raises(CompileError, match="did you mean 'nv_large'; there are nv_small"):
        find_configuration("nv_larg")


@pytest.mark.parametrize("each", [v for v in vectors() if v.facts["kind"] == "conv"], ids=str)
def test_weights_are_packed_as_in_recorded_loadables(each) -> None:
    configuration = published()[each.configuration]
    (blob,) = [blob for blob in Loadable.read(each.loadable).blobs if blob.name == "b_wt"]
    weights = each.arrays["w"]
    assert pack_weights(weights, configuration) == blob.data
    assert np.array_equal(unpack_weights(blob.data, weights.shape, configuration), weights)


@pytest.mark.parametrize("precision", list(Precision))
@pytest.mark.parametrize("atom", [8, 32])
def test_the_place_of_an_element(atom: int, precision: Precision) -> None:
    """Of the formula: surface, then row, then pixel, then channel."""
    size = precision.bytes
    dtype = [np.int8, np.int16, np.float16][precision]
    image = np.random.default_rng(3).integers(-99, 99, (35, 3, 5)).astype(dtype)
    layout = SurfaceLayout(35, 3, 5, atom, atom // size, 7 * atom, 40 * atom)
    memory = np.full(layout.bytes + 9, 0xEE, np.uint8)
    pack(image, layout, memory)
    for channel, row, column in [(0, 0, 0), (3, 1, 4), (34, 2, 4), (17, 0, 3)]:
        surface, within = divmod(channel, atom // size)
        at = surface * 40 * atom + row * 7 * atom + column * atom + within * size
        assert memory[at : at + size].view(dtype)[0] == image[channel, row, column]
    assert np.array_equal(unpack(layout, memory, precision), image)
    # Gaps and what is behind are left alone, channels that fill the last atom are 0.
    assert (memory[5 * atom : 7 * atom] == 0xEE).all()
    assert (memory[layout.bytes :] == 0xEE).all()
    assert not memory[layout.bytes - atom + size * (35 % (atom // size)) : layout.bytes].any()


def test_a_dense_layout_and_faults_of_strides() -> None:
    layout = dense(33, 4, 6, 32)
    assert (layout.surfaces, layout.line_stride, layout.surface_stride) == (2, 192, 768)
    assert layout.bytes == 2 * 768
    assert layout.fault() is None
    tight = SurfaceLayout(33, 4, 6, 32, 32, 190, 768)
    assert tight.fault() == "has line stride 190, must be 192 or a larger multiple"
    with pytest.raises(ValueError, match="1536 bytes do not fit in 1535"):
        unpack(layout, np.zeros(1535, np.uint8), Precision.INT8)


# The published rule for entries, at widths that do not divide: nv_full has 4 atoms in an entry.
@pytest.mark.parametrize(
    ("name", "width", "channels", "expected"),
    [
        ("nv_full", 7, 128, 7),
        ("nv_full", 7, 32, 2),
        ("nv_full", 7, 64, 4),
        ("nv_full", 7, 96, 7),
        ("nv_full", 7, 130, 9),
        ("nv_large", 7, 64, 7),
        ("nv_large", 7, 96, 11),
        ("nv_small", 7, 17, 21),
    ],
)
def test_entries_of_a_row(name: str, width: int, channels: int, expected: int) -> None:
    assert entries_per_slice(width, channels, published()[name]) == expected
