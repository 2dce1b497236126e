"""Tuning from end to end: files, packages, and that no schedule changes what a model computes."""

import math
from itertools import count
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper
from trivium.compiler.driver import build
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.machine import host_machine
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.tensor import Array
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.targets.cpu.schedule.apply_tuning import key_of, tunable
from trivium.targets.cpu.schedule.candidates import candidates
from trivium.targets.cpu.schedule.measure import ROUNDS, measure
from trivium.targets.cpu.schedule.schedule import Schedule
from trivium.targets.cpu.schedule.tuning_file import tuning_format
from trivium.targets.options import DEFAULT
from trivium.targets.tuning_file import PACKAGED, Entry

RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((1, 17, 9, 9), np.float32)
SHAPES = {"w": (35, 17, 3, 3), "b": (35,), "p": (50, 35, 1, 1), "m": (9, 70)}
WEIGHTS = {name: RANDOM.standard_normal(shape, np.float32) for name, shape in SHAPES.items()}
ERROR = 2e-5


@pytest.fixture(scope="module")
def model() -> onnx.ModelProto:
    """Return convolutions of 3x3 and 1x1, a bend, and a matrix product; sizes fill no vector."""
    made = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[1, 17, 9, 9] x) => (float[1, 50, 9, 70] y) {
            c = Conv <pads = [1, 1, 1, 1]> (x, w, b)
            r = Relu (c)
            d = Conv (r, p)
            y = MatMul (d, m)
        }
    """)
    made.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in WEIGHTS.items())
    return made


def expected() -> Array:
    """Return what the model computes, in f64."""
    w, b, p, m = (WEIGHTS[name].astype(np.float64) for name in SHAPES)
    x = np.pad(X[0].astype(np.float64), ((0, 0), (1, 1), (1, 1)))
    taps = [(i, j) for i in range(3) for j in range(3)]
    parts = [np.einsum("oc,chw->ohw", w[:, :, i, j], x[:, i : i + 9, j : j + 9]) for i, j in taps]
    relu = np.maximum(sum(parts, b[:, None, None]), 0)
    return (np.einsum("oc,chw->ohw", p[:, :, 0, 0], relu) @ m)[None]


def kinds(model: onnx.ModelProto) -> dict[str, list[Schedule]]:
    """Return the candidates of each op by its key."""
    with new_context():
        found = tunable(import_onnx(model))
        return {key_of(op): candidates(p, host_machine(), ERROR) for op, p in found}


def test_every_schedule_computes_the_same(model: onnx.ModelProto, tmp_path: Path) -> None:
    path, want = str(tmp_path / "t.json"), expected()
    found = kinds(model)
    assert {s.method for s in next(iter(found.values()))} == {"packed", "panel", "winograd"}
    for number in range(max(map(len, found.values()))):
        chosen = {key: schedules[number % len(schedules)] for key, schedules in found.items()}
        entries = {key: Entry.of({schedule: 1.0}) for key, schedule in chosen.items()}
        tuning_format(host_machine()).write(path, entries)
        package = build(model, tuning=path, winograd_error=ERROR)
        (y,) = Session(package).run({"x": X}).values()
        # What Winograd's method may lose, and as much for sums in another order.
        assert np.abs(y - want).max() <= 2 * ERROR * np.abs(want).max(), chosen
        taken = tuning_format(host_machine()).parse(bytes(package.entries[PACKAGED]).decode(), "")
        assert {key: entry.schedule for key, entry in taken.entries.items()} == chosen


def test_packages_without_tuning_are_equal_to_the_byte(model: onnx.ModelProto) -> None:
    first, second = build(model), build(model)
    assert first.manifest == second.manifest
    assert {n: bytes(d) for n, d in first.entries.items()} == {
        n: bytes(d) for n, d in second.entries.items()
    }
    assert PACKAGED not in first.entries


def test_tuned_packages_bring_their_schedules_along(model: onnx.ModelProto, tmp_path: Path) -> None:
    path, package, again = (tmp_path / name for name in ("t.json", "net.trv", "again.trv"))
    build(model, tune=str(path)).save(package)
    held = Package.open(package)
    assert bytes(held.entries[PACKAGED]) == path.read_bytes()
    # Tuning by a package gives the same package, and so does compiling its IR again.
    build(model, tuning=str(package)).save(again)
    assert again.read_bytes() == package.read_bytes()
    assert bytes(build(str(package)).entries[PACKAGED]) == path.read_bytes()


def test_refuses_packages_that_hold_no_tuning(model: onnx.ModelProto, tmp_path: Path) -> None:
    package = tmp_path / "net.trv"
    build(model).save(package)
    with pytest.raises(CompileError, match=r"net.trv: the package was not tuned"):
        build(model, tuning=str(package))
    with pytest.raises(CompileError, match=r"tune is '.*net.trv', must be a file of its own"):
        build(model, tune=str(package))
    with pytest.raises(CompileError, match="tuning and tune name one file each"):
        build(model, tune="a.json", tuning="b.json")


def test_says_when_nothing_is_tuned(model: onnx.ModelProto, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    heard: list[str] = []
    build(model, opt_level=0, tune=str(path), progress=heard.append)
    build(model, target="host", tune=str(path), progress=heard.append)
    note = f"note: {path} is not used: nothing here has schedules"
    assert [line for line in heard if line.startswith("note")] == [note, note]
    assert not path.exists()


def test_measuring_takes_the_least_time_of_turns(model: onnx.ModelProto) -> None:
    starts = count(0, 2)  # turns of the first schedule start at 0, 4, …, of the second at 2, 6, …
    spent = iter([9000, 500, *[7000, 8000] * (ROUNDS - 1)])
    ticks: list[int] = []

    def clock() -> int:
        ticks.append(next(spent) if len(ticks) % 2 else next(starts) * 10**6)
        return ticks[-1] + (ticks[-2] if len(ticks) % 2 == 0 else 0)

    with new_context():
        module = import_onnx(model)
        op, product = next(tunable(module))
        schedules = candidates(product, host_machine(), 0.0)[:2]
        assert measure(op, schedules, host_machine(), DEFAULT, clock) == [7.0, 0.5]


def test_measuring_really_runs_every_kind_of_op(model: onnx.ModelProto) -> None:
    with new_context():
        module = import_onnx(model)
        for op, product in tunable(module):
            schedules = candidates(product, host_machine(), ERROR)[:2]
            times = measure(op, schedules, host_machine(), DEFAULT)
            assert all(0 < time < math.inf for time in times)
