"""Look-up tables of SDP and CDP, value by value from their description with exact fractions."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.format.dla_task import Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.network import NEWEST
from trivium.targets.dla.nvdla.format.operations import (
    CdpOperation,
    Converter,
    Lut,
    SdpOperation,
    SdpStage,
)
from trivium.targets.dla.nvdla.format.packed import encode
from trivium.targets.dla.nvdla.reference.cdp import normalize
from trivium.targets.dla.nvdla.reference.lookup import table_fault
from trivium.targets.dla.nvdla.reference.sdp import look_up, process
from trivium.targets.dla.nvdla.simulator import run
from trivium.test.unit.targets.dla.nvdla.descriptor_edits import encoded
from trivium.test.unit.targets.dla.nvdla.recorded import vector


def half_away(value: Fraction) -> int:
    whole = int(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole


def nearest(value: int, bits: int) -> int:
    return min(max(value, -(2 ** (bits - 1))), 2 ** (bits - 1) - 1)


def slope(scale: int, shift: int) -> int:
    """Return the bits of a slope's field."""
    return (scale & 0xFFFF) | (shift & 0xFF) << 16


class Case:
    """A descriptor, and its two tables as plain numbers."""

    def __init__(self, method: int, offset: int, priorities: tuple[int, int, int], step: int):
        rng = np.random.default_rng(11)
        self.first = [int(each) for each in rng.integers(-(2**15), 2**15, 65)]
        self.second = [int(each) for each in rng.integers(-(2**15), 2**15, 257)]
        self.method, self.offset, self.priorities, self.step = method, offset, priorities, step
        self.starts, self.ends = (-700, -300), (5000, 4000)
        self.slopes = [(-300, 3), (77, -2), (1000, 9), (-9, 0)]
        fields = [slope(*each) for each in self.slopes]
        modulus = 2**64
        self.lut = Lut(
            tuple(self.first),
            tuple(self.second),
            offset & 0xFF,
            step & 0xFF,
            self.starts[0] % modulus,
            self.ends[0],
            self.starts[1] % modulus,
            self.ends[1],
            *fields,
            *priorities,
            method,
        )

    def expected(self, value: int, fraction_bits: int, bits: int) -> int:
        """Return the result for a value; SDP and CDP round in different places."""
        first = self._result(value, 0, fraction_bits, bits)
        second = self._result(value, 1, fraction_bits, bits)
        hybrid, below, above = self.priorities
        if first[0] == second[0] != "hit":
            chosen = below if first[0] == "below" else above
        elif (first[0] == "hit") == (second[0] == "hit"):
            chosen = hybrid
        else:
            chosen = int(second[0] == "hit")
        return (first, second)[chosen][1]

    def _result(self, value: int, number: int, fraction_bits: int, bits: int) -> tuple[str, int]:
        entries = (self.first, self.second)[number]
        exponential = number == 0 and self.method == 0
        width = (self.offset, self.step)[number]
        distance = value - self.starts[number]
        if distance > 0 and exponential:
            log = distance.bit_length() - 1
            index, part = log - width, Fraction(distance - 2**log, 2**log)
        else:
            index = distance // 2**width if width >= 0 else distance * 2**-width
            part = Fraction(distance, 2**width) - index if width >= 0 else Fraction(0)
        if distance <= 0 or index < 0:
            smallest = 0 if bits == 32 else -1
            bias = 2**width if exponential and width > smallest else 0
            rise = self._rise(2 * number, distance - bias)
            return "below", nearest(entries[0] + rise, bits)
        if index >= len(entries) - 1:
            rise = self._rise(2 * number + 1, value - self.ends[number])
            return "above", nearest(entries[-1] + rise, bits)
        unit = 2**fraction_bits
        part = Fraction(int(part * unit), unit)
        low, high = entries[index], entries[index + 1]
        if bits == 32:
            return "hit", half_away(low * (1 - part) + high * part)
        return "hit", nearest(low + half_away((high - low) * part), bits)

    def _rise(self, number: int, distance: int) -> int:
        scale, shift = self.slopes[number]
        return nearest(half_away(distance * scale / Fraction(2) ** shift), 32)


CASES = [
    Case(0, 2, (0, 1, 0), 4),
    Case(0, 0, (1, 0, 1), 6),
    Case(0, -3, (1, 1, 1), 0),
    Case(1, 5, (1, 0, 0), 3),
    Case(1, -1, (0, 0, 1), -2),
]


def interesting(case: Case) -> list[int]:
    near = [each + d for each in (*case.starts, *case.ends, 0) for d in range(-3, 4)]
    steps = [start + 2**e + d for start in case.starts for e in range(14) for d in (-1, 0, 1)]
    far = [-(2**31), 2**31 - 1, -(2**20), 2**22]
    return [*near, *steps, *far, *range(-1000, 7000, 37)]


@pytest.mark.parametrize("case", CASES)
def test_tables_of_sdp(case: Case) -> None:
    values = interesting(case)
    found = look_up(np.array(values), case.lut)
    assert found.tolist() == [case.expected(each, 35, 32) for each in values]


def test_a_table_of_sdp_whose_fractions_are_long() -> None:
    case = Case(0, 24, (0, 0, 0), 20)
    values = [2**30 + 12345, 2**28 + 7, 2**26 - 1]
    found = look_up(np.array(values), case.lut)
    assert found.tolist() == [case.expected(each, 35, 32) for each in values]


def expected_normal(
    column: Sequence[int], channel: int, operation: CdpOperation, case: Case
) -> int:
    """Compute a result of CDP from the channels of a pixel."""

    def converted(value: int) -> int:
        scale, shift = operation.input_converter.scale, operation.input_converter.truncate
        return nearest(half_away(Fraction(value * scale, 2**shift)), 9)

    half = operation.local_size // 2
    around = range(max(channel - half, 0), min(channel + half + 1, len(column)))
    total = sum(converted(column[each]) ** 2 for each in around)
    own = converted(column[channel])
    factor = case.expected(own if operation.bypass_square_sum else total, 16, 16)
    value = factor if operation.bypass_output_multiplier else factor * own
    out = operation.output_converter
    return nearest(half_away(Fraction((value - out.offset) * out.scale, 2**out.truncate)), 8)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("size", [3, 5, 9])
def test_normalization(case: Case, size: int) -> None:
    operation = CdpOperation(
        local_size=size,
        input_converter=Converter(scale=3, truncate=2),
        output_converter=Converter(scale=5, truncate=14, offset=-40),
        bypass_square_sum=int(size == 5),
        bypass_output_multiplier=int(size == 9),
    )
    image = np.random.default_rng(size).integers(-128, 128, (11, 2, 3))
    found = normalize(image, operation, case.lut)
    for channel, row, column in np.ndindex(11, 2, 3):
        pixel = [int(each) for each in image[:, row, column]]
        expected = expected_normal(pixel, channel, operation, case)
        assert found[channel, row, column] == expected


def test_entries_that_are_too_far_apart() -> None:
    assert table_fault(CASES[0].lut) is None
    fault = table_fault(replace(CASES[0].lut, linear_offset=0x20))
    assert fault == "entries 2**32 apart, must be 2**-128 to 2**31"
    fault = table_fault(replace(CASES[0].lut, exponential_offset=0x80))
    assert fault == "entries 2**-128 apart, must be 2**-31 to 2**31"
    assert table_fault(replace(CASES[0].lut, exponential_offset=0x80, method=1)) is None


def test_the_closest_entries_are_those_of_a_table_that_has_no_part() -> None:
    """What is behind the start is behind the end: the first, and then the last entry."""
    lut = Lut(tuple(range(65)), (7, *range(255), 9), linear_offset=0x80, linear_start=5)
    lut = replace(lut, exponential_offset=3, exponential_start=2**64 - 4, hybrid_priority=1)
    assert table_fault(lut) is None
    # The first table starts 8 behind -4, and has 1 after 8 more; below it both have nothing.
    values = [-100, 3, 4, 5, 6, 11, 12]
    assert look_up(np.array(values), lut).tolist() == [0, 0, 0, 0, 0, 1, 1]
    second = replace(lut, underflow_priority=1, exponential_offset=20)
    assert look_up(np.array(values), second).tolist() == [7, 7, 7, 7, 9, 9, 9]


def halves(numbers: Sequence[float]) -> tuple[int, ...]:
    return tuple(np.array(numbers, np.float16).view(np.int16).tolist())


def test_a_table_of_the_vendors_compiler_for_stage_y() -> None:
    """One part, from -16 in steps of an eighth; the other has none, and starts at 0."""
    lut = Lut(
        (0,) * 65,
        halves(range(257)),
        exponential_offset=-128 & 0xFFFF,
        linear_offset=-3 & 0xFFFF,
        linear_start=int(np.float32(-16).view(np.uint32)),
        hybrid_priority=1,
        underflow_priority=1,
        overflow_priority=1,
        method=1,
    )
    assert table_fault(lut) is None
    operation = SdpOperation(2, 2, 0, y=SdpStage(1, activation=2))
    x = np.array([-20, -16, -15.9375, -0.125, 0, 2.0**-24, 1.0625, 15.75, 16, 20], np.float16)
    found = process(x.reshape(-1, 1, 1), operation, lut=lut).ravel().tolist()
    assert found == [0, 0, 0.5, 127, 128, 128, 136.5, 254, 256, 256]


def test_a_table_of_the_vendors_compiler_for_normalisation() -> None:
    """Entries at powers of 2 from 1; what is below 1 has the first, and the other has no part."""
    lut = Lut(
        halves(range(1, 66)),
        (0,) * 257,
        linear_offset=-128 & 0xFFFF,
        linear_start=1,
        linear_end=1,
    )
    assert table_fault(lut) is None
    operation = CdpOperation(2, 2, 0, local_size=3, bypass_output_multiplier=1)
    # Squares of single channels, 2 apart: 0, 2**-48, 1/4, 1, 9/4, 4 and 2**30.
    x = np.array([0, 0, 2.0**-24, 0, 0.5, 0, 1, 0, 1.5, 0, 2, 0, 2.0**15], np.float16)
    found = normalize(x.reshape(-1, 1, 1), operation, lut).ravel()[::2].tolist()
    assert found == [1, 1, 1, 1, 2.125, 3, 31]


def with_table(lut: Lut, index: int) -> Loadable:
    """Return the addition of a recorded loadable, with a table in stage Y in the last place."""
    loadable = Loadable.read(vector("nv_full", "11_eltadd").loadable)
    (task,) = dla_tasks(Tables(loadable))
    (operation,) = task.operations
    y = replace(operation.descriptor.y, enable=1, activation=2)  # type: ignore[union-attr]
    last = len(loadable.memory_list)
    network = replace(task.network, luts_index=last, luts=1, addresses=last + 1)
    edited = replace(operation, descriptor=replace(operation.descriptor, y=y, lut=index))
    found = encoded(loadable, replace(task, network=network, operations=(edited,)))
    blob = replace(found.blobs[0], name="lut", size=700, data=encode(lut, NEWEST))
    memory = replace(found.memory_list[0], id=last, size=700, contents=("lut",))
    address = replace(found.address_list[0], id=last, mem_id=last, size=700)
    (entry,) = found.task_list
    return replace(
        found,
        blobs=(*found.blobs, blob),
        memory_list=(*found.memory_list, memory),
        address_list=(*found.address_list, address),
        task_list=(replace(entry, address_list=(*entry.address_list, last)),),
    )


def test_the_simulator_reads_the_table_of_a_stage() -> None:
    each, case = vector("nv_full", "11_eltadd"), CASES[3]
    full = published()["nv_full"]
    (found,) = run(with_table(case.lut, 0), full, each.inputs)
    sums = np.maximum(each.inputs[0].astype(int) + each.inputs[1], 0)
    scale, shift = each.facts["scale"], each.facts["shift"]
    results = [case.expected(int(value), 35, 32) for value in sums.ravel()]
    expected = [nearest(half_away(Fraction(r * scale, 2**shift)), 8) for r in results]
    assert found.ravel().tolist() == expected
    with pytest.raises(CompileError, match=r"operation 0 \(SDP\): error: has table 1, the task"):
        run(with_table(case.lut, 1), full, each.inputs)
