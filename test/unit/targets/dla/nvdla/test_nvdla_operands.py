"""Fields that no recorded loadable uses: operands in pairs, padding with values, offsets, parts."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.format.network import Precision
from trivium.targets.dla.nvdla.format.operations import (
    CdpOperation,
    Converter,
    Lut,
    PdpOperation,
    SdpOperation,
    SdpStage,
    SdpSurface,
    TwoCubes,
)
from trivium.targets.dla.nvdla.lint.linter import lint
from trivium.targets.dla.nvdla.simulator import run
from trivium.test.unit.targets.dla.nvdla.handmade import Data, Step, cube, handmade

FULL, SMALL = published()["nv_full"], published()["nv_small"]


def half_away(value: Fraction) -> int:
    whole = int(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole


def nearest(value: int, bits: int) -> int:
    return min(max(value, -(2 ** (bits - 1))), 2 ** (bits - 1) - 1)


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize("name", ["nv_full", "nv_small"])
def test_two_operands_for_each_element_alternate(name: str, dtype: type) -> None:
    configuration = published()[name]
    rng = np.random.default_rng(2)
    channels, atom = 11, configuration.atom
    x = rng.integers(-128, 128, (channels, 3, 4)).astype(np.int8)
    alu, factor = (rng.integers(-100, 100, x.shape).astype(dtype) for _ in range(2))
    surfaces = -(-channels // atom)
    stored = np.zeros((surfaces, 3, 4, atom, 2), dtype)
    for c, y, column in np.ndindex(*x.shape):
        place = c // atom, y, column, c % atom
        stored[place] = alu[c, y, column], factor[c, y, column]
    size = np.dtype(dtype).itemsize
    data = [
        Data(x.shape, role="input"),
        Data(x.shape, role="output"),
        Data(x.shape, contents=stored.tobytes()),
    ]
    line = 4 * atom * 2 * size
    operands = replace(cube(data, 2, configuration), line_stride=line, surface_stride=3 * line)
    stage = SdpStage(1, 2, 3, 2, truncate=5, precision=size - 1)
    surface = SdpSurface(
        cube(data, 0, configuration), x1=operands, destination=cube(data, 1, configuration)
    )
    step = Step(SdpOperation(x1=stage), surface)
    (found,) = run(handmade([step], data, configuration), configuration, [x])
    for place in np.ndindex(*x.shape):
        value = (int(x[place]) + int(alu[place])) * int(factor[place])
        assert found[place] == nearest(half_away(Fraction(value, 32)), 8)


def through(operation: PdpOperation | CdpOperation, x, shape, kind=Precision.INT8, luts=()):
    data = [Data(x.shape, kind, role="input"), Data(shape, kind, role="output")]
    surface = TwoCubes(cube(data, 0, FULL), cube(data, 1, FULL))
    return handmade([Step(operation, surface)], data, FULL, luts)


AVERAGE = PdpOperation(window_width=2, window_height=1, stride_x=2, stride_y=1)
AVERAGE = replace(AVERAGE, pad_left=2, pad_right=1, pad_top=1, pad_bottom=1)


def test_padding_of_averages_has_a_value() -> None:
    values = (-9, -18, -27, -36, -45, -54, -63)
    x = np.random.default_rng(3).integers(-128, 128, (5, 4, 6)).astype(np.int8)
    loadable = through(replace(AVERAGE, pad_values=values), x, (5, 5, 4))
    (found,) = run(loadable, FULL, [x])
    padded = np.pad(x.astype(int), ((0, 0), (1, 1), (2, 1)), constant_values=-9)
    for c, y, column in np.ndindex(5, 5, 4):
        total = int(padded[c, y : y + 2, 2 * column : 2 * column + 3].sum())
        across = half_away(Fraction(total * (65536 // 3), 65536))
        assert found[c, y, column] == half_away(Fraction(across * (65536 // 2), 65536))
    # The values are sums for each number of columns, and need not be multiples of the first.
    (other,) = run(
        through(replace(AVERAGE, pad_values=(-9, 50, *values[2:])), x, (5, 5, 4)), FULL, [x]
    )
    assert np.array_equal(other[:, :, 1:3], found[:, :, 1:3])
    assert not np.array_equal(other[:, :, 0], found[:, :, 0])


def test_windows_of_padding_alone_are_refused() -> None:
    x = np.zeros((5, 4, 6), np.int8)
    loadable = through(replace(AVERAGE, pad_top=2), x, (5, 6, 4))
    with pytest.raises(CompileError, match="has a window that is padding alone"):
        run(loadable, FULL, [x])


SPLIT = replace(AVERAGE, splits=3)
PARTS = {"input_width_first": 1, "input_width_middle": 2, "input_width_last": 3}
OUTPUTS = {"output_width_first": 1, "output_width_middle": 2, "output_width_last": 1}


def test_parts_of_the_width_have_the_result_of_the_whole() -> None:
    x = np.random.default_rng(4).integers(-128, 128, (5, 4, 6)).astype(np.int8)
    (whole,) = run(through(AVERAGE, x, (5, 5, 4)), FULL, [x])
    (parts,) = run(through(replace(SPLIT, **PARTS, **OUTPUTS), x, (5, 5, 4)), FULL, [x])
    assert np.array_equal(parts, whole)


def test_columns_between_windows_may_be_left_out_of_parts() -> None:
    """As the vendor's compiler does: two windows of one column, 3 apart, in parts of one each."""
    x = np.random.default_rng(4).integers(-128, 128, (5, 4, 4)).astype(np.int8)
    parts = {"input_width_first": 1, "input_width_last": 1}
    parts |= {"output_width_first": 1, "output_width_last": 1}
    operation = PdpOperation(mode=1, stride_x=3, splits=2, **parts)
    (found,) = run(through(operation, x, (5, 4, 2)), FULL, [x])
    assert np.array_equal(found, x[..., ::3])
    short = replace(operation, stride_x=2, stride_y=1)
    (fault,) = lint(through(short, x, (5, 4, 2)), FULL)
    assert fault.message == "has parts of input with 2 columns in all, must be 4"


WRONG = [
    ({"splits": 0}, "has 0 parts of the width, must be 1 to 64"),
    ({"splits": 65}, "has 65 parts of the width, must be 1 to 64"),
    ({"input_width_last": 2}, "has parts of input with 5 columns in all, must be 6"),
    ({"output_width_middle": 3}, "has parts of output with 5 columns in all, must be 4"),
    ({"stride_y": 9, "window_height": 1}, "has strides 2 and 9, must be 8 or less"),
]


@pytest.mark.parametrize(("values", "message"), WRONG)
def test_faults_of_parts(values: dict[str, int], message: str) -> None:
    operation = replace(SPLIT, **(PARTS | OUTPUTS | values))
    found = [
        each.message for each in lint(through(operation, np.zeros((5, 4, 6)), (5, 5, 4)), FULL)
    ]
    assert message in found


def line(start: int, step: int) -> Lut:
    """Return tables of v / 2, from a start in steps of 2**step, with slopes that go on."""
    first = [(start + (i << step + 2)) // 2 for i in range(65)]
    second = [(start + (i << step)) // 2 for i in range(257)]
    half = 1 | 1 << 16
    return Lut(
        tuple(first),
        tuple(second),
        step + 2,
        step,
        start % 2**64,
        start + (64 << step + 2),
        start % 2**64,
        start + (256 << step),
        *[half] * 4,
        hybrid_priority=1,
        method=1,
    )


@pytest.mark.parametrize("kind", [Precision.INT8, Precision.INT16])
def test_normalisation_with_offsets(kind: Precision) -> None:
    bits = 8 * kind.bytes
    limit = 1 << bits - 1
    rng = np.random.default_rng(5)
    x = rng.integers(-limit, limit, (35, 2, 3)).astype(np.int8 if kind == 0 else np.int16)
    inner = Converter(scale=3, truncate=bits - 4, enable=1, offset=-7)
    outer = Converter(scale=5, truncate=9, enable=1, offset=40)
    operation = CdpOperation(kind, kind, 0, inner, outer, local_size=3)
    (found,) = run(through(operation, x, x.shape, kind, [line(-64, 3)]), FULL, [x])
    values = np.zeros((37, 2, 3), int)
    for place in np.ndindex(*x.shape):
        value = half_away(Fraction((int(x[place]) + 7) * 3, 1 << bits - 4))
        values[place[0] + 1, *place[1:]] = nearest(value, bits + 1)
    for c, y, column in np.ndindex(*x.shape):
        total = sum(int(each) ** 2 for each in values[c : c + 3, y, column])
        # Between entries and beyond the tables v / 2 is rounded half away from zero.
        factor = nearest(half_away(Fraction(total, 2)), 16)
        result = half_away(Fraction((factor * int(values[c + 1, y, column]) - 40) * 5, 512))
        assert found[c, y, column] == nearest(result, bits)


def test_operands_of_another_shape_are_refused() -> None:
    data = [Data((8, 2, 2), role="input"), Data((8, 2, 2), role="output"), Data((8, 2, 1))]
    cubes = [cube(data, each, SMALL) for each in range(3)]
    surface = SdpSurface(cubes[0], x1=cubes[2], destination=cubes[1])
    step = Step(SdpOperation(x1=SdpStage(1, 2, 2, 2)), surface)
    with pytest.raises(CompileError, match=r"has operands \(8, 2, 1\), must be \(8, 2, 2\)"):
        run(handmade([step], data, SMALL), SMALL, [np.zeros((8, 2, 2), np.int8)])
