"""Fields of descriptors beyond the registers that they are written to: bits that are dropped."""

from dataclasses import replace

import numpy as np
import pytest
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.format.network import Precision
from trivium.targets.dla.nvdla.format.operations import (
    CdpOperation,
    Converter,
    ConvOperation,
    Lut,
    SdpOperation,
    SdpStage,
    SdpSurface,
)
from trivium.targets.dla.nvdla.reference import cdp, sdp
from trivium.targets.dla.nvdla.reference.arithmetic import shift_right
from trivium.targets.dla.nvdla.reference.convolution import convolve, unsupported_features
from trivium.targets.dla.nvdla.reference.stages import (
    ALU,
    BOTH,
    EQUAL,
    MULTIPLY,
    PRELU,
    RELU,
    TABLE,
    Operands,
)
from trivium.targets.dla.nvdla.reference.winograd import convolve_winograd, unsupported_winograd
from trivium.targets.dla.nvdla.simulator import run
from trivium.test.unit.targets.dla.nvdla.handmade import Data, Step, cube, handmade

INT16 = SdpOperation(Precision.INT16, Precision.INT16)
HALVED = replace(INT16, converter=Converter(scale=1, truncate=16, enable=1))


def one(value: int) -> np.ndarray:
    return np.full((1, 1, 1), value, np.int64)


def in_stage(value: int, stage: SdpStage, operands: Operands, operation=INT16, name="x1") -> int:
    """Return the result for one value that passes one stage."""
    made = replace(operation, **{name: stage})
    assert sdp.unsupported(made) is None
    return int(sdp.process(one(value), made, **{name: operands}).item())


def test_prelu_hands_on_the_low_bits_of_positive_sums() -> None:
    prelu = SdpStage(1, kind=BOTH, activation=PRELU)
    operands = Operands(one(1), one(1))
    # 2**31 in 32 bits is -2**31; with the multiplier, and below it, sums are saturated.
    assert in_stage(2**31 - 1, prelu, operands, HALVED) == -(2**15)
    assert in_stage(2**31 - 1, replace(prelu, activation=0), operands, HALVED) == 2**15 - 1
    assert in_stage(-(2**31), prelu, Operands(one(-1), one(1)), HALVED) == -(2**15)


def test_operands_for_a_whole_layer_have_16_bits_but_in_stage_y() -> None:
    alu, factor = SdpStage(1, kind=ALU), SdpStage(1, kind=MULTIPLY)
    # 70000 is 65536 + 4464, and 65533 is -3.
    assert in_stage(7, alu, Operands(alu=one(70000))) == 4471
    assert in_stage(7, factor, Operands(multiplier=one(65533))) == -21
    shifted = replace(INT16, converter=Converter(scale=1, truncate=4, enable=1))
    assert in_stage(0, alu, Operands(alu=one(70000)), shifted, "y") == 4375


def test_shifts_have_6_bits_but_those_of_stage_y() -> None:
    both = SdpStage(1, kind=BOTH, shift=66, truncate=65)
    # (3 + 5 * 4) * 7 / 2 is 80.5.
    assert in_stage(3, both, Operands(one(5), one(7))) == 81
    # Stage Y multiplies first, shifts by 2 or all of 65, and does not shift what it adds.
    assert in_stage(3, replace(both, truncate=2), Operands(one(5), one(7)), name="y") == 10
    assert in_stage(3, both, Operands(one(5), one(7)), name="y") == 5
    converted = replace(INT16, converter=Converter(scale=5, truncate=65, enable=1))
    assert in_stage(3, SdpStage(), Operands(), converted) == 8
    wide = SdpStage(1, kind=ALU, mode=1, alu_converter=Converter(5, 65, 1, -1))
    # (4 + 1) * 5 / 2 is 12.5.
    assert in_stage(3, wide, Operands(alu=one(4)), name="y") == 16


@pytest.mark.parametrize(
    ("value", "shift", "result"),
    [
        (2**62, 63, 1),
        (2**62 - 1, 63, 0),
        (-(2**62), 63, -1),
        (2**62, 64, 0),
        (2**62, 62, 1),
        (2**61, 62, 1),
    ],
)
def test_shifts_of_the_longest_products(value: int, shift: int, result: int) -> None:
    assert shift_right(one(value), shift).item() == result


def test_comparison_in_a_stage_x_adds() -> None:
    stage = SdpStage(1, alu=EQUAL, kind=ALU)
    assert in_stage(7, stage, Operands(alu=one(7))) == 14
    assert sdp.unsupported(replace(INT16, y=stage)) == "comparison"
    halves = SdpOperation(Precision.FP16, Precision.FP16, x1=stage)
    assert sdp.unsupported(halves) == "comparison"


def test_activations_that_a_stage_does_not_have_are_none() -> None:
    none = Operands()
    assert in_stage(-7, SdpStage(1, activation=TABLE), none) == -7
    assert in_stage(-7, SdpStage(1, activation=RELU), none, name="y") == -7
    assert in_stage(-7, SdpStage(1, activation=RELU), none) == 0


@pytest.mark.parametrize("made", [Precision.INT8, Precision.INT16])
def test_operands_of_results_of_int8_are_laid_out_as_int8(made: Precision) -> None:
    """An atom of nv_full has operands for 32 elements then, and for 16 of int16 else."""
    configuration = published()["nv_full"]
    x = np.arange(40, dtype=np.int16)[:, None, None]
    elements = 32 if made == Precision.INT8 else 16
    stored = np.zeros((-(-40 // elements), elements), "<i2")
    stored.reshape(-1)[:40] = np.arange(40) * 2 - 30
    data = [
        Data(x.shape, Precision.INT16, role="input"),
        Data(x.shape, made, role="output"),
        Data(x.shape, made, contents=stored.tobytes()),
    ]
    atom = 2 * elements
    operands = replace(cube(data, 2, configuration), line_stride=atom, surface_stride=atom)
    stage = SdpStage(1, kind=ALU, mode=2, precision=1)
    operation = SdpOperation(Precision.INT16, made, x2=stage)
    surface = SdpSurface(
        cube(data, 0, configuration), x2=operands, destination=cube(data, 1, configuration)
    )
    loadable = handmade([Step(operation, surface)], data, configuration)
    (found,) = run(loadable, configuration, [x])
    assert found.ravel().tolist() == [3 * c - 30 for c in range(40)]


PADDED = ConvOperation(width_cmac=2, height_cmac=1, pad_left=1, pad_value=0x1F9)


def test_pads_have_the_bits_of_the_precision() -> None:
    ones = np.ones((1, 1, 1, 1))
    assert convolve(one(4), ones, PADDED).ravel().tolist() == [-7, 4]
    wide = replace(PADDED, input_precision=1, output_precision=1)
    assert convolve(one(4), ones, wide).ravel().tolist() == [505, 4]


def test_inputs_are_converted_with_registers_of_16_and_6_bits() -> None:
    converter = Converter(scale=3, truncate=65, enable=1, offset=65539)
    operation = ConvOperation(width_cmac=1, height_cmac=1, input_converter=converter)
    # (10 - 3) * 3 / 2 is 10.5.
    assert convolve(one(10), np.ones((1, 1, 1, 1)), operation).item() == 11


def test_integers_of_16_bits_become_halves() -> None:
    operation = ConvOperation(
        width_cmac=4,
        height_cmac=1,
        input_precision=Precision.INT16,
        output_precision=Precision.FP16,
        input_converter=Converter(scale=3, truncate=1, enable=1, offset=1),
    )
    image = np.array([[[1, 1000, -3, -32768]]], np.int16)
    found = convolve(image, np.full((1, 1, 1, 1), 0.5, np.float16), operation)
    # 1498.5 and -6 are halved once more; -49153.5 is rounded to 11 bits.
    assert found.dtype == np.float32
    assert found.ravel().tolist() == [0, 749.5, -3, -24576]
    assert unsupported_features(operation) is None
    for other in (
        replace(operation, input_converter=Converter()),
        replace(operation, input_precision=Precision.INT8),
        replace(operation, output_precision=Precision.INT8),
    ):
        assert unsupported_features(other) == "conversion of the precision of the input"


def test_converted_integers_have_17_bits() -> None:
    operation = ConvOperation(
        width_cmac=1,
        height_cmac=1,
        input_precision=Precision.INT16,
        output_precision=Precision.FP16,
        input_converter=Converter(scale=5, enable=1),
    )
    image = np.array([[[-32768]]], np.int16)
    found = convolve(image, np.full((1, 1, 1, 1), 0.5, np.float16), operation)
    # -163840 is cut to -65536, of which fp16 has no more than -65504.
    assert found.item() == -32752


def test_winograd_pads_and_truncates_with_few_bits_and_converts_nothing() -> None:
    operation = ConvOperation(
        mode=1, width_cmac=2, height_cmac=2, pad_left=1, pad_top=1, pad_value=0x1F9, pra_truncate=5
    )
    operation = replace(operation, pad_right=1, pad_bottom=1)
    image = np.full((1, 2, 2), 3, np.int64)
    weights = np.zeros((1, 1, 4, 4), np.int64)
    weights[..., 1, 1] = 1
    # A place (1, 1) is the sum of four pixels, halved: 6; all four results have it.
    assert unsupported_winograd(operation) is None
    assert convolve_winograd(image, weights, operation).ravel().tolist() == [6] * 4
    corner = np.zeros((1, 1, 4, 4), np.int64)
    corner[..., 0, 0] = 1
    # A place (0, 0) is x00 - x02 - x20 + x22, halved: (-7 + 7 + 7 + 3) / 2 of these.
    assert convolve_winograd(image, corner, operation)[0, 0, 0] == 5
    converted = replace(operation, input_converter=Converter(scale=9, enable=1))
    assert unsupported_winograd(converted) is None
    assert np.array_equal(convolve_winograd(image, weights, converted), np.full((1, 2, 2), 6))
    mixed = replace(operation, output_precision=Precision.INT16)
    assert unsupported_winograd(mixed) == "conversion of the precision of the input"


def test_converters_of_normalisation() -> None:
    inner = Converter(scale=3, truncate=33, enable=1)
    outer = Converter(scale=1, truncate=64, enable=1, offset=2**25 + 3)
    lut = Lut(linear=(2,) * 257, exponential=(2,) * 65, method=1)
    operation = CdpOperation(0, 0, 0, inner, outer, local_size=3)
    # 5 * 3 / 2 is 8 rounded, times 2 is 16, less 3.
    assert cdp.normalize(one(5), operation, lut).item() == 13
    wide = replace(operation, input_precision=1, output_precision=1)
    assert cdp.normalize(one(5), wide, lut).item() == -(2**15)
