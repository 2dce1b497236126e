"""Tuning: what is measured, what wins, what is kept; nobody measures anything here."""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pytest
from trivium.dialects import cpu, tri
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.machine import Machine, host_machine
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array
from trivium.passes.pipeline import Pipeline
from trivium.targets.choices import WINOGRAD_ERROR
from trivium.targets.cpu.schedule.apply_tuning import key_of
from trivium.targets.cpu.schedule.candidates import candidates
from trivium.targets.cpu.schedule.measure import measure
from trivium.targets.cpu.schedule.products import product_of
from trivium.targets.cpu.schedule.schedule import Schedule
from trivium.targets.cpu.schedule.tune import Tuner
from trivium.targets.cpu.schedule.tuning_file import tuning_format
from trivium.targets.options import CompileOptions
from trivium.targets.registry import find_target

TEXT = """
func.func @main(%x: tensor<1x18x9x9xf32>, %v: tensor<18x18x3x3xf32>) -> tensor<1x18x9x9xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<18x18x3x3xf32>} : () -> tensor<18x18x3x3xf32>
  %d = "tri.weight"() {name = "d", type = tensor<18x1x3x3xf32>} : () -> tensor<18x1x3x3xf32>
  %0 = "tri.conv"(%x, %w) {WINDOW} : (tensor<1x18x9x9xf32>, tensor<18x18x3x3xf32>) -> tensor<1x18x9x9xf32>
  %1 = "tri.conv"(%0, %w) {WINDOW} : (tensor<1x18x9x9xf32>, tensor<18x18x3x3xf32>) -> tensor<1x18x9x9xf32>
  %2 = "tri.conv"(%1, %d) {WINDOW, group = 18} : (tensor<1x18x9x9xf32>, tensor<18x1x3x3xf32>) -> tensor<1x18x9x9xf32>
  %3 = "tri.conv"(%2, %v) {WINDOW} : (tensor<1x18x9x9xf32>, tensor<18x18x3x3xf32>) -> tensor<1x18x9x9xf32>
  %m = "tri.weight"() {name = "m", type = tensor<9x9xf32>} : () -> tensor<9x9xf32>
  %4 = "tri.mat_mul"(%3, %m) : (tensor<1x18x9x9xf32>, tensor<9x9xf32>) -> tensor<1x18x9x9xf32>
  return %4 : tensor<1x18x9x9xf32>
}
""".replace(  # noqa: E501
    "WINDOW",
    "dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>",
)
SHAPES = {"w": (18, 18, 3, 3), "d": (18, 1, 3, 3), "m": (9, 9)}
WEIGHTS: dict[str, Array] = {n: np.ones(shape, np.float32) for n, shape in SHAPES.items()}
CONV = "tri.conv x=1x18x9x9xf32 w=18x18x3x3xf32 dilations=1,1 group=1 pads=1,1,1,1 strides=1,1"


class Bench:
    """Stand in for measuring: what is in `fast` takes 1 microsecond, all else 5 or more."""

    def __init__(self, *fast: str, fail_after: int = 99) -> None:
        self.fast, self.fail_after = fast, fail_after
        self.measured: list[tuple[str, list[str]]] = []

    def __call__(
        self, op: Op, schedules: Sequence[Schedule], machine: Machine, options: CompileOptions
    ) -> list[float]:
        if len(self.measured) == self.fail_after:
            raise KeyboardInterrupt
        names = list(map(str, schedules))
        self.measured.append((op.op_name, names))
        return [1.0 if n in self.fast else 5.0 + i for i, n in enumerate(names)]


Compiled = list[tuple[str, dict[str, object]]]


def convolutions(
    options: CompileOptions,
    bench: Bench,
    notes: list[str] | None = None,
    text: str = TEXT,
    weights: dict[str, Array] = WEIGHTS,
) -> Compiled:
    """Return what the CPU's passes make of the convolutions: names of ops, and attributes."""
    heard: list[str] = [] if notes is None else notes
    with new_context():
        module = Module.parse(text, weights)
        tuner = Tuner(options, host_machine(), heard.append, bench)
        Pipeline(find_target("cpu").passes(2, options)).run(module, tuner)
        return [(o.op_name, o.attributes) for o in ops(module.operation) if "conv" in o.op_name]


def conv_candidates() -> list[Schedule]:
    with new_context():
        module = Module.parse(TEXT, WEIGHTS)
        conv = next(op for op in ops(module.operation) if isinstance(op, tri.Conv))
        product = product_of(conv)
        assert product is not None
        return candidates(product, host_machine(), WINOGRAD_ERROR)


def test_equal_ops_are_measured_once_and_others_not_at_all(tmp_path: Path) -> None:
    bench = Bench()
    convolutions(CompileOptions(tune=str(tmp_path / "t.json")), bench)
    # Not the depthwise convolution, nor the one whose weights come in.
    assert [name for name, _ in bench.measured] == ["tri.conv"]
    assert bench.measured[0][1] == list(map(str, conv_candidates()))
    assert len(set(bench.measured[0][1])) == len(bench.measured[0][1])


@pytest.mark.parametrize("wanted", ["winograd 2x2", "packed", "panel"])
def test_the_winner_is_what_the_code_will_be(tmp_path: Path, wanted: str) -> None:
    schedule = next(s for s in conv_candidates() if str(s).startswith(wanted))
    found = convolutions(CompileOptions(tune=str(tmp_path / "t.json")), Bench(str(schedule)))
    kinds = {
        "winograd": (cpu.WinogradConv, {"tile": schedule.rows}),
        "packed": (cpu.PackedConv, {"block": schedule.rows, "vectors": schedule.vectors}),
        "panel": (cpu.PanelConv, {"rows": schedule.rows}),
    }
    cls, tile = kinds[schedule.method]
    for name, attributes in found[:2]:
        assert name == cls.op_name
        assert tile.items() <= attributes.items()


def test_a_file_is_used_without_measuring(tmp_path: Path) -> None:
    path = str(tmp_path / "t.json")
    fast = str(conv_candidates()[-1])
    tuned = convolutions(CompileOptions(tune=path), Bench(fast))
    text = Path(path).read_bytes()
    again = Bench()
    for options in (CompileOptions(tuning=path), CompileOptions(tune=path)):
        assert convolutions(options, again) == tuned
    assert not again.measured
    assert Path(path).read_bytes() == text
    assert convolutions(CompileOptions(), again) != tuned


def test_only_what_a_file_lacks_is_measured(tmp_path: Path) -> None:
    path = str(tmp_path / "t.json")
    first, again = Bench(), Bench()
    convolutions(CompileOptions(winograd_error=2e-6, tune=path), first)
    convolutions(CompileOptions(tune=path), again)
    # The larger error allows one more; all are measured again, because only then they compare.
    assert "winograd 4x4" in again.measured[0][1]
    assert set(first.measured[0][1]) < set(again.measured[0][1])


def test_a_winner_that_loses_too_much_gives_way_to_the_next(tmp_path: Path) -> None:
    path = str(tmp_path / "t.json")
    convolutions(CompileOptions(tune=path), Bench("winograd 4x4"))
    fast, less = Bench("never"), CompileOptions(winograd_error=2e-6, tuning=path)
    names = [name for name, _ in convolutions(less, fast)]
    assert names[0] == "cpu.winograd_conv"
    assert convolutions(less, fast)[0][1]["tile"] == 2
    strict = convolutions(CompileOptions(math="strict", tuning=path), fast)
    assert strict[0][0] in ("cpu.packed_conv", "cpu.panel_conv")


def test_a_winner_that_somebody_wrote_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    convolutions(CompileOptions(tune=str(path)), Bench())
    first = tuning_format(host_machine()).read(str(path)).entries[CONV].schedule
    path.write_text(path.read_text().replace(f'"schedule": "{first}"', '"schedule": "packed 5x1"'))
    name, attributes = convolutions(CompileOptions(tuning=str(path)), Bench())[0]
    assert (name, attributes["block"], attributes["vectors"]) == ("cpu.packed_conv", 5, 1)


def test_a_foreign_file_is_ignored_with_a_note_and_never_lost(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    convolutions(CompileOptions(tune=str(path)), Bench(str(conv_candidates()[-1])))
    foreign = path.read_text().replace('"model": "', '"model": "Not ')
    path.write_text(foreign)
    notes: list[str] = []
    found = convolutions(CompileOptions(tuning=str(path)), Bench(), notes)
    assert found == convolutions(CompileOptions(), Bench())
    assert len(notes) == 1
    assert notes[0].startswith(f"note: {path} is of another machine: model 'Not ")
    assert notes[0].endswith("; it is not used")
    with pytest.raises(CompileError, match=r"is of another machine: .*: tune to another file"):
        convolutions(CompileOptions(tune=str(path)), Bench())
    assert path.read_text() == foreign


def test_an_interrupted_tuning_keeps_what_it_measured(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    two = TEXT.replace("9x9", "40x40")
    weights_of_two = {**WEIGHTS, "m": np.ones((40, 40), np.float32)}
    options = CompileOptions(tune=str(path))
    with pytest.raises(KeyboardInterrupt):
        convolutions(options, Bench(fail_after=1), text=two, weights=weights_of_two)
    assert len(tuning_format(host_machine()).read(str(path)).entries) == 1
    again = Bench()
    convolutions(options, again, text=two, weights=weights_of_two)
    assert [name for name, _ in again.measured] == ["tri.mat_mul"]


CHAIN = """
func.func @main(%x: tensor<40x8xf32>) -> tensor<40x96xf32> {
  %a = "tri.weight"() {name = "a", type = tensor<8x16xf32>} : () -> tensor<8x16xf32>
  %b = "tri.weight"() {name = "b", type = tensor<16x24xf32>} : () -> tensor<16x24xf32>
  %c = "tri.weight"() {name = "c", type = tensor<24x48xf32>} : () -> tensor<24x48xf32>
  %d = "tri.weight"() {name = "d", type = tensor<48x96xf32>} : () -> tensor<48x96xf32>
  %0 = "tri.mat_mul"(%x, %a) : (tensor<40x8xf32>, tensor<8x16xf32>) -> tensor<40x16xf32>
  %1 = "tri.mat_mul"(%0, %b) : (tensor<40x16xf32>, tensor<16x24xf32>) -> tensor<40x24xf32>
  %2 = "tri.mat_mul"(%1, %c) : (tensor<40x24xf32>, tensor<24x48xf32>) -> tensor<40x48xf32>
  %3 = "tri.mat_mul"(%2, %d) : (tensor<40x48xf32>, tensor<48x96xf32>) -> tensor<40x96xf32>
  return %3 : tensor<40x96xf32>
}
"""


def test_shares_divide_what_there_is_to_measure(tmp_path: Path) -> None:
    """Each kind is in one share; shares get kinds in turns, those with most schedules first."""
    sizes = {"a": (8, 16), "b": (16, 24), "c": (24, 48), "d": (48, 96)}
    weights: dict[str, Array] = {n: np.ones(shape, np.float32) for n, shape in sizes.items()}
    whole, *shares = benches = (Bench(), Bench(), Bench())
    for number, bench in enumerate(benches):
        share = (number - 1, 2) if number else (0, 1)
        options = CompileOptions(tune=str(tmp_path / f"{number}.json"), tune_share=share)
        convolutions(options, bench, text=CHAIN, weights=weights)
    counts = [[len(schedules) for _, schedules in bench.measured] for bench in shares]
    assert len(whole.measured) >= 2
    assert sorted(shares[0].measured + shares[1].measured) == sorted(whole.measured)
    dealt = [count for turn in zip_longest(*counts, fillvalue=0) for count in turn]
    assert dealt == sorted(dealt, reverse=True)
    assert len(counts[0]) - len(counts[1]) in (0, 1)


BLOCKED = """
func.func @main(%x: tensor<1x32x14x14xf32>) -> tensor<1x64x14x14xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<64x32x1x1xf32>} : () -> tensor<64x32x1x1xf32>
  %v = "tri.weight"() {name = "v", type = tensor<64x1x3x3xf32>} : () -> tensor<64x1x3x3xf32>
  %0 = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x32x14x14xf32>, tensor<64x32x1x1xf32>) -> tensor<1x64x14x14xf32>
  %1 = "tri.conv"(%0, %v) {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>, group = 64} : (tensor<1x64x14x14xf32>, tensor<64x1x3x3xf32>) -> tensor<1x64x14x14xf32>
  return %1 : tensor<1x64x14x14xf32>
}
"""  # noqa: E501


def test_tiles_of_blocked_convolutions_are_tuned(tmp_path: Path) -> None:
    weights: dict[str, Array] = {
        "w": np.arange(2048, dtype=np.float32).reshape(64, 32, 1, 1),
        "v": np.ones((64, 1, 3, 3), np.float32),
    }
    options, bench = CompileOptions(tune=str(tmp_path / "t.json")), Bench("panel 29x1")
    before = dict(convolutions(CompileOptions(), bench, text=BLOCKED, weights=weights))
    after = dict(convolutions(options, bench, text=BLOCKED, weights=weights))
    assert list(before) == list(after) == ["cpu.blocked_conv", "cpu.lane_conv"]
    ((name, measured),) = bench.measured
    assert name == "cpu.blocked_conv"
    assert "panel 29x1" in measured
    assert before["cpu.blocked_conv"]["rows"] != 29
    assert after["cpu.blocked_conv"]["rows"] == 29


SYMBOLIC = """
func.func @main(%x: TYPE) -> TYPE attributes {trivium.symbols = {N = "1..:4", H = "8..64:9"}} {
  %w = "tri.weight"() {name = "w", type = tensor<18x18x3x3xf32>} : () -> tensor<18x18x3x3xf32>
  %0 = "tri.conv"(%x, %w) {WINDOW} : (TYPE, tensor<18x18x3x3xf32>) -> TYPE
  return %0 : TYPE
}
""".replace("TYPE", 'tensor<?x18x?x9xf32, ["N", "", "H", ""]>').replace(
    "WINDOW",
    "dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>",
)


def test_ops_with_symbols_are_measured_at_likely_sizes(tmp_path: Path) -> None:
    with new_context():
        module = Module.parse(SYMBOLIC, {"w": WEIGHTS["w"]})
        _, conv = ops(module.main)
        key = CONV.replace("x=1x", "x=4x")
        assert key_of(conv) == key
        product = product_of(conv)
        assert product is not None
        schedules = candidates(product, host_machine(), 1.0)
        options = CompileOptions(tune=str(tmp_path / "t.csv"))
        times = measure(conv, schedules[:2], host_machine(), options)
        assert all(time > 0 for time in times)
