"""Descriptors: their places in memory, both ABIs, and the fields of a ReLU."""

from dataclasses import replace

import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.format.dla_task import Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.network import ABIS, NEWEST, Cube, Dependency, Network
from trivium.targets.dla.nvdla.format.operations import (
    SDP,
    BdmaSurface,
    CdpOperation,
    Converter,
    ConvOperation,
    ConvSurface,
    Lut,
    PdpOperation,
    SdpOperation,
    SdpStage,
    SdpSurface,
    Transfer,
    TwoCubes,
    operation_stride,
    surface_stride,
)
from trivium.targets.dla.nvdla.format.packed import decode, encode, offset_of, size_of
from trivium.test.unit.targets.dla.nvdla.recorded import vector, vectors

OLD = ABIS[1]

# What gcc says of the structs of ABI 0.12: bytes, then offsets of fields.
PLACES = [
    (Network, 40, "luts_index 6 heads 16 rois 28 addresses 34 input_layer 36 dynamic_roi 38"),
    (Dependency, 36, "roi 2 engine 3 dependency_count 4 consumers 8 fused_parent 32"),
    (Converter, 8, "scale 0 truncate 2 enable 3 offset 4"),
    (Cube, 32, "address 2 offset 4 size 8 width 12 channels 16 line_stride 20 plane_stride 28"),
    (Transfer, 32, "destination 2 line_size 4 source_line 12 destination_surface 28"),
    (BdmaSurface, 644, "destination_type 1 count 2 transfers 4"),
    (ConvSurface, 172, "weight_mask 32 source 96 destination 128 offset_u 160 line_stride_uv 168"),
    (ConvOperation, 92, "entries_per_slice 6 data_format 8 fetch_grain 10 batch 20 data_banks 22"),
    (ConvOperation, 92, "batch_stride 24 release 30 width_csc 32 kernel_width 38 width_cmac 44"),
    (ConvOperation, 92, "bytes_per_kernel 48 mean_ry 52 mean_format 60 stride_x 61 pad_left 63"),
    (ConvOperation, 92, "dilation_x 67 pra_truncate 71 input_precision 72 pad_value 74"),
    (ConvOperation, 92, "input_converter 76 output_converter 84"),
    (SdpOperation, 116, "lut 2 converter 4 conv_mode 12 batch 13 batch_stride 16 x1 20 x2 52 y 84"),
    (SdpStage, 32, "alu 1 kind 2 mode 3 activation 4 shift 5 truncate 6 precision 7"),
    (SdpStage, 32, "alu_operand 8 mul_operand 12 alu_converter 16 mul_converter 24"),
    (SdpSurface, 160, "source 0 x1 32 x2 64 y 96 destination 128"),
    (PdpOperation, 52, "output_width_first 6 splits 12 mode 13 window_width 14 stride_x 16"),
    (PdpOperation, 52, "pad_left 18 pad_bottom 21 precision 22 pad_values 24"),
    (TwoCubes, 64, "destination 32"),
    (CdpOperation, 24, "lut 2 input_converter 4 output_converter 12 local_size 20"),
    (Lut, 700, "linear 130 exponential_offset 644 exponential_start 648 hybrid_priority 696"),
]


@pytest.mark.parametrize(("cls", "size", "fields"), PLACES)
def test_fields_are_where_the_firmware_has_them(cls: type, size: int, fields: str) -> None:
    words = fields.split()
    expected = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    assert size_of(cls, NEWEST) == size
    assert {name: offset_of(cls, name, NEWEST) for name in expected} == expected


def test_the_elements_of_arrays() -> None:
    assert (operation_stride(NEWEST), surface_stride(NEWEST)) == (116, 644)
    assert (operation_stride(OLD), surface_stride(OLD)) == (116, 644)


def test_a_cube_of_abi_0_11_has_no_offset() -> None:
    assert size_of(Cube, OLD) == 28
    assert offset_of(Cube, "size", OLD) == 4
    cube = Cube(address=3, size=64, width=8, height=1, channels=8, line_stride=64)
    assert decode(Cube, encode(cube, OLD), 0, OLD) == cube
    assert encode(cube, OLD) == encode(cube, NEWEST)[:4] + encode(cube, NEWEST)[8:]
    with pytest.raises(CompileError, match=r"'offset' of Cube is 8, must be 0 in ABI 0\.11"):
        encode(replace(cube, offset=8), OLD)


def test_a_value_that_its_field_cannot_represent_is_refused() -> None:
    with pytest.raises(CompileError, match="'width' of Cube is 65536, must be a number of type us"):
        encode(Cube(width=65536), NEWEST)
    with pytest.raises(CompileError, match="'heads' of Network is 5, must be 6 elements"):
        encode(Network(heads=(0,) * 5), NEWEST)


@pytest.mark.parametrize("each", vectors(), ids=str)
def test_descriptors_of_recorded_loadables_encode_to_the_same_bytes(each) -> None:
    loadable = Loadable.read(each.loadable)
    (task,) = dla_tasks(Tables(loadable))
    blobs = [blob.data for blob in loadable.blobs[:4]]
    abi = task.abi
    assert abi == NEWEST
    operations, surfaces = operation_stride(abi), surface_stride(abi)
    assert encode(task.network, abi) == blobs[0]
    found = [encode(e.descriptor, abi).ljust(operations, b"\0") for e in task.operations]
    assert b"".join(found) == blobs[1]
    found = [encode(e.surface, abi).ljust(surfaces, b"\0") for e in task.operations]
    assert b"".join(found) == blobs[2]
    assert b"".join(encode(e.dependency, abi) for e in task.operations) == blobs[3]


def test_the_fields_of_an_addition_with_relu() -> None:
    (task,) = dla_tasks(Tables(Loadable.read(vector("nv_full", "11_eltadd").loadable)))
    (operation,) = task.operations
    sdp = operation.descriptor
    assert isinstance(sdp, SdpOperation)
    assert operation.dependency.engine == SDP
    assert (sdp.source_precision, sdp.destination_precision, sdp.lut) == (0, 0, -1)
    assert sdp.converter == Converter(scale=568, truncate=9, enable=1, offset=0)
    assert (sdp.conv_mode, sdp.batch, sdp.batch_stride) == (0, 1, 0)
    relu = SdpStage(enable=1, alu=2, kind=2, mode=2, activation=1, precision=0, mul_operand=1)
    assert sdp.x1 == relu
    assert not sdp.x2.enable
    assert not sdp.y.enable
