"""Descriptors of operations and their surfaces, a class of each for each engine.

`ENGINE_TYPES` lists the engines in the order of their numbers. In a task, operations are elements
of one array and surfaces of another, each element as large as the largest descriptor.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, NamedTuple

from .network import NO_CUBE, Cube
from .packed import Abi, Count, size_of
from .scalars import I16, I32, I64, U8, U16, U32, U64


@dataclass(frozen=True)
class Converter:
    """Convert v to (v - offset) * scale >> truncate, rounded half away from zero."""

    scale: I16 = 0
    truncate: U8 = 0
    enable: U8 = 0
    offset: I32 = 0


@dataclass(frozen=True)
class Transfer:
    """A copy of lines of `line_size` bytes, in two nested repetitions."""

    source: I16 = -1
    destination: I16 = -1
    line_size: U32 = 0
    line_repeat: U32 = 0
    source_line: U32 = 0
    destination_line: U32 = 0
    surface_repeat: U32 = 0
    source_surface: U32 = 0
    destination_surface: U32 = 0


@dataclass(frozen=True)
class BdmaOperation:
    """Copies between memories."""

    transfers: U16 = 0
    reserved0: U16 = 0


@dataclass(frozen=True)
class BdmaSurface:
    """The first `count` of the transfers are made."""

    source_type: U8 = 0
    destination_type: U8 = 0
    count: U16 = 0
    transfers: Annotated[tuple[Transfer, ...], Count(20)] = (Transfer(),) * 20


@dataclass(frozen=True)
class ConvOperation:
    """A convolution. `*_csc` are sizes of the input and kernel, `*_cmac` of the output."""

    mode: U8 = 0
    data_reuse: U8 = 0
    weight_reuse: U8 = 0
    skip_data_release: U8 = 0
    skip_weight_release: U8 = 0
    reserved0: U8 = 0
    entries_per_slice: U16 = 0
    data_format: U8 = 0
    pixel_mapping: U8 = 0
    fetch_grain: U16 = 0
    reserved1: U64 = 0
    batch: U8 = 1
    weight_format: U8 = 0
    data_banks: U8 = 0
    weight_banks: U8 = 0
    batch_stride: U32 = 0
    post_extension: U8 = 0
    pixel_override: U8 = 0
    release: U16 = 0
    width_csc: U16 = 0
    height_csc: U16 = 0
    channels_csc: U16 = 0
    kernel_width: U16 = 0
    kernel_height: U16 = 0
    kernel_channels: U16 = 0
    width_cmac: U16 = 0
    height_cmac: U16 = 0
    bytes_per_kernel: U32 = 0
    mean_ry: I16 = 0
    mean_gu: I16 = 0
    mean_bv: I16 = 0
    mean_ax: I16 = 0
    mean_format: U8 = 0
    stride_x: U8 = 1
    stride_y: U8 = 1
    pad_left: U8 = 0
    pad_right: U8 = 0
    pad_top: U8 = 0
    pad_bottom: U8 = 0
    dilation_x: U8 = 1
    dilation_y: U8 = 1
    reserved2: U16 = 0
    pra_truncate: U8 = 0
    input_precision: U8 = 0
    output_precision: U8 = 0
    pad_value: I16 = 0
    input_converter: Converter = Converter()
    output_converter: Converter = Converter(scale=1, enable=1)


@dataclass(frozen=True)
class ConvSurface:
    """Cubes of a convolution; the second and third describe compressed weights."""

    weights: Cube = NO_CUBE
    weight_mask: Cube = NO_CUBE
    weight_groups: Cube = NO_CUBE
    source: Cube = NO_CUBE
    destination: Cube = NO_CUBE
    offset_u: I64 = 0
    line_stride_uv: U32 = 0


@dataclass(frozen=True)
class SdpStage:
    """A stage of SDP: ALU, then multiplier, then right shift by `truncate`, then activation.

    `kind` 1 uses the multiplier, 2 the ALU, 3 both. `mode` is how many operands there are: 0 one,
    1 one for each channel, 2 one for each element.
    """

    enable: U8 = 0
    alu: U8 = 2
    kind: U8 = 0
    mode: U8 = 0
    activation: U8 = 0
    shift: U8 = 0
    truncate: U8 = 0
    precision: U8 = 0
    alu_operand: I32 = 0
    mul_operand: I32 = 0
    alu_converter: Converter = Converter()
    mul_converter: Converter = Converter()


@dataclass(frozen=True)
class SdpOperation:
    """Stages X1, X2 and Y, then a converter to the type of the destination."""

    source_precision: U8 = 0
    destination_precision: U8 = 0
    lut: I16 = -1
    converter: Converter = Converter(scale=1, enable=1)
    conv_mode: U8 = 0
    batch: U8 = 1
    reserved0: U16 = 0
    batch_stride: U32 = 0
    x1: SdpStage = SdpStage()
    x2: SdpStage = SdpStage()
    y: SdpStage = SdpStage()


@dataclass(frozen=True)
class SdpSurface:
    """Cubes of SDP; the source of one that follows a convolution has no address."""

    source: Cube = NO_CUBE
    x1: Cube = NO_CUBE
    x2: Cube = NO_CUBE
    y: Cube = NO_CUBE
    destination: Cube = NO_CUBE


@dataclass(frozen=True)
class PdpOperation:
    """Pooling; `window_*` are the sizes of the window less 1."""

    input_width_first: U16 = 0
    input_width_middle: U16 = 0
    input_width_last: U16 = 0
    output_width_first: U16 = 0
    output_width_middle: U16 = 0
    output_width_last: U16 = 0
    splits: U8 = 1
    mode: U8 = 0
    window_width: U8 = 0
    window_height: U8 = 0
    stride_x: U8 = 1
    stride_y: U8 = 1
    pad_left: U8 = 0
    pad_right: U8 = 0
    pad_top: U8 = 0
    pad_bottom: U8 = 0
    precision: U8 = 0
    reserved0: U8 = 0
    pad_values: Annotated[tuple[I32, ...], Count(7)] = (0,) * 7


@dataclass(frozen=True)
class TwoCubes:
    """The cubes of an engine that has one operand."""

    source: Cube = NO_CUBE
    destination: Cube = NO_CUBE


@dataclass(frozen=True)
class CdpOperation:
    """Local response normalisation over `local_size` channels by a table."""

    input_precision: U8 = 0
    output_precision: U8 = 0
    lut: I16 = -1
    input_converter: Converter = Converter()
    output_converter: Converter = Converter()
    local_size: U8 = 0
    bypass_square_sum: U8 = 0
    bypass_output_multiplier: U8 = 0
    reserved0: U8 = 0


@dataclass(frozen=True)
class RubikOperation:
    """Reshape data: 0 contract, for a deconvolution, 1 split, 2 merge."""

    mode: U8 = 0
    precision: U8 = 0
    stride_x: U8 = 0
    stride_y: U8 = 0


@dataclass(frozen=True)
class Lut:
    """A look-up table of 65 entries and one of 257, with slopes outside of both."""

    exponential: Annotated[tuple[I16, ...], Count(65)] = (0,) * 65
    linear: Annotated[tuple[I16, ...], Count(257)] = (0,) * 257
    exponential_offset: U16 = 0
    linear_offset: U16 = 0
    exponential_start: U64 = 0
    exponential_end: U64 = 0
    linear_start: U64 = 0
    linear_end: U64 = 0
    exponential_underflow_slope: U32 = 0
    exponential_overflow_slope: U32 = 0
    linear_underflow_slope: U32 = 0
    linear_overflow_slope: U32 = 0
    hybrid_priority: U8 = 0
    underflow_priority: U8 = 0
    overflow_priority: U8 = 0
    method: U8 = 0


Descriptor = (
    BdmaOperation | ConvOperation | SdpOperation | PdpOperation | CdpOperation | RubikOperation
)
Surface = BdmaSurface | ConvSurface | SdpSurface | TwoCubes


class EngineType(NamedTuple):
    """An engine: its name, and its two descriptors."""

    name: str
    operation: type[Descriptor]
    surface: type[Surface]


ENGINE_TYPES = (
    EngineType("BDMA", BdmaOperation, BdmaSurface),
    EngineType("CONV", ConvOperation, ConvSurface),
    EngineType("SDP", SdpOperation, SdpSurface),
    EngineType("PDP", PdpOperation, TwoCubes),
    EngineType("CDP", CdpOperation, TwoCubes),
    EngineType("RUBIK", RubikOperation, TwoCubes),
)
BDMA, CONV, SDP, PDP, CDP, RUBIK = range(len(ENGINE_TYPES))


@cache
def operation_stride(abi: Abi) -> int:
    """Return the bytes of an element of the array of operations."""
    return max(size_of(engine.operation, abi) for engine in ENGINE_TYPES)


@cache
def surface_stride(abi: Abi) -> int:
    """Return the bytes of an element of the array of surfaces."""
    return max(size_of(engine.surface, abi) for engine in ENGINE_TYPES)


def cubes_of(surface: Surface) -> Iterator[tuple[str, Cube]]:
    """Yield the cubes of a surface with their names."""
    for field in fields(surface):
        value: object = getattr(surface, field.name)
        if isinstance(value, Cube):
            yield field.name, value
