"""Packets compute what loops over integers say, for 1000 random ones: Python's own arithmetic."""

import random
from fractions import Fraction

import numpy as np
import pytest
from trivium.targets.dla.core.packet import InstructionSet, Packet
from trivium.targets.dla.core.simulator import simulate
from trivium.targets.dla.core.simulator_state import SimulatorState
from trivium.targets.dla.core.toml_file import parse_description
from trivium.targets.dla.vanilla.packets import (
    CLASSES,
    FILE,
    Conv,
    Copy,
    Eltwise,
    End,
    Lookup,
    Pool,
    Resize,
    instruction_set,
)

VANILLA = instruction_set()
ATOM, TARGET = 16, 1 << 17


def rounded(value: Fraction) -> int:
    """Round half away from zero."""
    size = int(abs(value) + Fraction(1, 2))
    return size if value >= 0 else -size


def clamped(value: Fraction, zero: int, low: int, high: int) -> int:
    return max(low, min(high, rounded(value) + zero))


class Case:
    """A machine with one random image in sram, and the run of one packet on it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.machine = SimulatorState(VANILLA.description, {})
        integer = self.random.randint
        self.rows, self.columns, self.channels = integer(1, 7), integer(1, 7), integer(1, 19)
        self.pixel = -(-self.channels // ATOM) * ATOM + 16 * integer(0, 1)
        self.row = self.pixel * self.columns + 16 * integer(0, 1)
        self.x = self.image(0)
        self.zero, self.out_zero = integer(-128, 127), integer(-128, 127)
        self.low, self.high = sorted((integer(-128, 127), integer(-128, 127)))
        if integer(0, 1):
            self.low, self.high = -128, 127

    def image(self, start: int) -> np.ndarray:
        values = np.random.RandomState(self.random.randint(0, 1 << 30))
        x = values.randint(-128, 128, (self.rows, self.columns, self.channels)).astype(np.int8)
        for row in range(self.rows):
            for column in range(self.columns):
                at = start + row * self.row + column * self.pixel
                self.machine.fill("sram", x[row, column].tobytes(), at)
        return x

    def source(self) -> dict[str, int]:
        sizes = {"rows": self.rows, "columns": self.columns, "channels": self.channels}
        strides = {"source_row": self.row, "source_pixel": self.pixel}
        return {"source": 0, "source_zero": self.zero, **sizes, **strides}

    def target(self, columns: int, channels: int) -> dict[str, int]:
        padded = -(-channels // ATOM) * ATOM
        strides = {"destination_row": padded * columns, "destination_pixel": padded}
        return {"destination": TARGET, "destination_zero": self.out_zero, **strides}

    def clamp(self) -> dict[str, int]:
        return {"low": self.low, "high": self.high}

    def kernel(self) -> dict[str, int]:
        """Draw a kernel with at least one output, and none that is outside altogether."""
        integer = self.random.randint
        while True:
            drawn = {}
            for axis, size in (("rows", self.rows), ("columns", self.columns)):
                kernel, dilation = integer(1, 4), integer(1, 3)
                pad = integer(0, 3)
                reach = (kernel - 1) * dilation + 1
                drawn[f"kernel_{axis}"] = kernel
                drawn[f"dilation_{axis}"] = dilation
                drawn[f"stride_{axis}"] = integer(1, 3)
                drawn["pad_top" if axis == "rows" else "pad_left"] = pad
                total = size + pad + integer(0, pad) - reach
                drawn[f"out_{axis}"] = total // drawn[f"stride_{axis}"] + 1 if total >= 0 else 0
            if drawn["out_rows"] and drawn["out_columns"]:
                return drawn

    def run(self, packet: Packet, shape: tuple[int, int, int]) -> np.ndarray:
        simulate(VANILLA, VANILLA.encode_stream([packet, End()]), self.machine)
        padded = -(-shape[2] // ATOM) * ATOM
        data = self.machine.data["sram"][TARGET : TARGET + shape[0] * shape[1] * padded]
        y = data.view(np.int8).reshape(shape[0], shape[1], padded)
        assert (y[..., shape[2] :] == self.out_zero).all()
        return y[..., : shape[2]]


def taps(case: Case, k: dict[str, int], row: int, column: int) -> list[tuple[int, int, int]]:
    """List the taps of an output: number, row, column of the image, which may be outside."""
    found = []
    for i in range(k["kernel_rows"]):
        for j in range(k["kernel_columns"]):
            y = row * k["stride_rows"] + i * k["dilation_rows"] - k["pad_top"]
            x = column * k["stride_columns"] + j * k["dilation_columns"] - k["pad_left"]
            found.append((i * k["kernel_columns"] + j, y, x))
    return found


def inside(case: Case, y: int, x: int) -> bool:
    return 0 <= y < case.rows and 0 <= x < case.columns


@pytest.mark.parametrize("block", range(10))
def test_convs(block: int) -> None:
    for seed in range(block * 40, block * 40 + 40):
        case = Case(seed)
        k, integer = case.kernel(), case.random.randint
        depthwise = integer(0, 2) == 0
        filters = case.channels if depthwise else integer(1, 20)
        padded = -(-filters // ATOM) * ATOM
        count = k["kernel_rows"] * k["kernel_columns"]
        values = np.random.RandomState(seed)
        depth = 1 if depthwise else case.channels
        w = values.randint(-128, 128, (count, depth, padded)).astype(np.int8)
        bias = values.randint(-50000, 50000, padded).astype(np.int32)
        multiplier = values.randint(0, 2**31 - 1, padded).astype(np.int32)
        shift = values.randint(30, 48, padded).astype(np.int8)
        case.machine.fill("weights", w.tobytes())
        table = (w.size + 15) // 16 * 16
        case.machine.fill("weights", bias.tobytes() + multiplier.tobytes(), table)
        case.machine.fill("weights", shift.tobytes(), table + 8 * padded)
        mode = "depthwise" if depthwise else "dense"
        rest = {"filters": filters, "mode": mode, "weights": 0, "table": table}
        target = case.target(k["out_columns"], filters)
        whole = {"begin": 1, "finish": 1, **rest, **case.clamp()}
        packet = Conv(**case.source(), **target, **k, **whole)  # type: ignore[arg-type]
        got = case.run(packet, (k["out_rows"], k["out_columns"], filters))
        for row in range(k["out_rows"]):
            for column in range(k["out_columns"]):
                met = np.full((count, case.channels), case.zero, np.int64)
                for tap, y, x in taps(case, k, row, column):
                    if inside(case, y, x):
                        met[tap] = case.x[y, x]
                for f in range(filters):
                    seen = met[:, f : f + 1] if depthwise else met
                    acc = int(bias[f]) + int((seen * w[:, :, f].astype(np.int64)).sum())
                    real = Fraction(acc * int(multiplier[f]), 1 << int(shift[f]))
                    want = clamped(real, case.out_zero, case.low, case.high)
                    assert got[row, column, f] == want, seed


def windows(case: Case) -> tuple[dict[str, int], dict[tuple[int, int], list[tuple[int, int]]]]:
    """Draw a kernel of which each window meets the image, and list where each does."""
    while True:
        k = case.kernel()
        outputs = [(r, c) for r in range(k["out_rows"]) for c in range(k["out_columns"])]
        found = {p: [t[1:] for t in taps(case, k, *p) if inside(case, *t[1:])] for p in outputs}
        if all(found.values()):
            return k, found


@pytest.mark.parametrize("block", range(5))
def test_pools(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        case = Case(seed)
        k, met = windows(case)
        integer = case.random.randint
        mode = case.random.choice(["max", "average"])
        divisor = case.random.choice(["none", "inside"])
        multiplier, shift = integer(0, 2**31 - 1), integer(28, 36)
        scale = {"multiplier": multiplier, "shift": shift, "mode": mode, "divisor": divisor}
        target = case.target(k["out_columns"], case.channels)
        packet = Pool(**case.source(), **target, **k, **scale, **case.clamp())  # type: ignore[arg-type]
        got = case.run(packet, (k["out_rows"], k["out_columns"], case.channels))
        for position, places in met.items():
            for channel in range(case.channels):
                values = [int(case.x[y, x, channel]) - case.zero for y, x in places]
                count = len(values) if divisor == "inside" else 1
                real = Fraction(sum(values), count) if mode == "average" else Fraction(max(values))
                real = real * multiplier / (1 << shift)
                want = clamped(real, case.out_zero, case.low, case.high)
                assert got[(*position, channel)] == want, seed


def average(
    instructions: InstructionSet, x: np.ndarray, divisor: str, multiplier: int, shift: int
) -> int:
    """Return the average of an image of one channel, as a packet computes it."""
    rows, columns = x.shape
    machine = SimulatorState(instructions.description, {})
    machine.fill("sram", np.repeat(x, ATOM).astype(np.int8).view(np.uint8))
    packet = Pool(
        source=0, source_row=columns * ATOM, source_pixel=ATOM, rows=rows, columns=columns,
        channels=1, source_zero=0, mode="average", divisor=divisor, multiplier=multiplier,
        shift=shift, destination=TARGET, destination_row=ATOM, destination_pixel=ATOM,
        destination_zero=0, out_rows=1, out_columns=1, kernel_rows=rows, kernel_columns=columns,
        stride_rows=1, stride_columns=1, dilation_rows=1, dilation_columns=1,
        pad_top=0, pad_left=0, low=-128, high=127,
    )  # fmt: skip
    simulate(instructions, instructions.encode_stream([packet, End()]), machine)
    return int(machine.data["sram"][TARGET : TARGET + 1].view(np.int8)[0])


def test_the_average_of_the_largest_window_is_exact() -> None:
    x, most = np.full((64, 64), -128), 2**31 - 1
    total = Fraction(-128 * 64 * 64 * most)
    assert average(VANILLA, x, "none", most, 43) == rounded(total / 2**43) == -128
    assert average(VANILLA, x, "none", most, 48) == rounded(total / 2**48) == -4
    assert average(VANILLA, x, "inside", most, 31) == rounded(total / 4096 / 2**31) == -128
    assert average(VANILLA, x, "inside", most, 37) == rounded(total / 4096 / 2**37) == -2


@pytest.mark.parametrize(
    ("rounding", "middle"), [("half_away", -3), ("half_even", -2), ("half_up", -2)]
)
def test_an_average_without_divisor_rounds_as_the_description_says(
    rounding: str, middle: int
) -> None:
    text = FILE.read_text().replace('rounding = "half_away"', f'rounding = "{rounding}"')
    other = InstructionSet(parse_description(text), CLASSES)
    x = np.array([[-1, -2, 0, -1, -1]])
    assert average(other, x, "none", 1, 1) == middle  # -5 / 2
    assert average(other, x[:, :2], "inside", 1, 0) == -2  # -3 / 2


@pytest.mark.parametrize("kind", ["add", "mul", "max", "min", "copy", "lookup", "resize"])
def test_elements(kind: str) -> None:
    for seed in range(50):
        case = Case(seed)
        integer = case.random.randint
        shape = (case.rows, case.columns, case.channels)
        shift, m, n = integer(0, 40), integer(0, 2**31 - 1), integer(0, 2**31 - 1)
        target = case.target(case.columns, case.channels)
        scale = {"multiplier": m, "shift": shift, **case.clamp()}
        source = case.source()
        del source["source_zero"]
        a = case.x.astype(object) - case.zero
        power = Fraction(1, 1 << shift)
        if kind == "lookup":
            table = np.random.RandomState(seed).randint(-128, 128, 256).astype(np.int8)
            case.machine.fill("weights", table.tobytes(), 64)
            got = case.run(Lookup(**source, **target, table=64), shape)
            assert got.tolist() == [
                [[table[v + 128] for v in p] for p in r] for r in case.x.tolist()
            ]
            continue
        if kind == "resize":
            twice = (2 * case.rows, 2 * case.columns, case.channels)
            steps = {"start_rows": 0, "start_columns": 0, "step_rows": 32768, "step_columns": 32768}
            target = case.target(twice[1], case.channels)
            sizes = {"out_rows": twice[0], "out_columns": twice[1]}
            got = case.run(Resize(**source, **target, **sizes, **steps), twice)
            assert (got == case.x.repeat(2, 0).repeat(2, 1)).all()
            continue
        if kind == "copy":
            got = case.run(Copy(**case.source(), **target, **scale), shape)
            reals = a * m * power
        else:
            repeated = integer(0, 1)
            other = case.image(1 << 16)
            other_zero = integer(-128, 127)
            strides = {"other_row": 0, "other_pixel": 0} if repeated else {}
            strides = strides or {"other_row": case.row, "other_pixel": case.pixel}
            rest = {"other": 1 << 16, "other_zero": other_zero, "operator": kind, **strides}
            packet = Eltwise(**case.source(), **target, **scale, **rest, other_multiplier=n)  # type: ignore[arg-type]
            got = case.run(packet, shape)
            b = (other[:1, :1] if repeated else other).astype(object) - other_zero
            b = np.broadcast_to(b, shape)
            combine = {"add": np.add, "max": np.maximum, "min": np.minimum}
            reals = a * b * m if kind == "mul" else combine[kind](a * m, b * n)
            reals = reals * power
        for place in np.ndindex(*shape):
            want = clamped(Fraction(reals[place]), case.out_zero, case.low, case.high)
            assert got[place] == want, (seed, place)
