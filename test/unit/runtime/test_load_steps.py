"""Steps that run once, when a package is loaded, and compute constants from the weights."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from trivium.runtime.contents import ARENA, FIRST_PORT, PREPARED, WEIGHTS, Buffer, Memory, Port
from trivium.runtime.cpu.step import CpuStep
from trivium.runtime.errors import PackageError
from trivium.runtime.gpu.step import GpuStep
from trivium.runtime.host.step import HostStep, Ops
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.runtime.step import Step

STORED = np.array([-1, 0, 1, 127], np.int8)
SCALE = np.float32(0.5)

BUFFERS = (
    Buffer("x", FIRST_PORT, 0, (4,), "float32"),
    Buffer("y", FIRST_PORT + 1, 0, (4,), "float32"),
    Buffer("w", WEIGHTS, 0, (4,), "int8"),
    Buffer("wide", PREPARED, 0, (4,), "float32"),
    Buffer("t", ARENA, 0, (4,), "float32"),
    Buffer("first", PREPARED, 16, (4,), "float32"),
)
X, Y, W, WIDE, T, FIRST = range(6)


def host(op: str, operands: tuple[int, ...], results: tuple[int, ...]) -> Step:
    return HostStep(op=f"toy.{op}", operands=operands, results=results)


LOAD = (host("widen", (W,), (FIRST,)), host("copy", (FIRST,), (WIDE,)))


def package(
    load_steps: tuple[Step, ...] = LOAD,
    steps: tuple[Step, ...] = (host("add", (X, WIDE), (Y,)),),
) -> Package:
    """Return the package of y = x + w * scale, whose weights are stored as bytes."""
    manifest = Manifest(
        producer="test",
        source="",
        target="host",
        inputs=(Port("x", (4,), "float32", X),),
        outputs=(Port("y", (4,), "float32", Y),),
        buffers=BUFFERS,
        steps=steps,
        load_steps=load_steps,
        memory=Memory(16, 16, 4, prepared_bytes=32),
    )
    return Package.create(manifest, {"weights.bin": STORED.tobytes()})


class Counted:
    """Widen weights, and count how often."""

    def __init__(self) -> None:
        self.calls = 0

    def widen(self, w: NDArray[Any]) -> NDArray[Any]:
        self.calls += 1
        return w.astype(np.float32) * SCALE


def dialects(counted: Counted) -> dict[str, Ops]:
    references = {"widen": counted.widen, "copy": np.copy, "add": np.add}
    return {
        "toy": {f"toy.{n}": partial(SimpleNamespace, reference=f) for n, f in references.items()}
    }


def test_they_run_once_for_all_runs_and_clones():
    counted = Counted()
    session = Session(package(), dialects(counted))
    x = np.arange(4, dtype=np.float32)
    for each in (session, session, session.clone()):
        np.testing.assert_array_equal(each(x), x + STORED * SCALE)
    assert counted.calls == 1


def test_they_run_again_for_each_package_that_is_opened(tmp_path: Path):
    package().save(tmp_path / "wide.trv")
    counted = Counted()
    for _ in range(2):
        Session(Package.open(tmp_path / "wide.trv"), dialects(counted))
    assert counted.calls == 2


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (host("widen", (X,), (WIDE,)), "'load_steps[0].operands[0]' is 0, must be a constant"),
        (host("widen", (T,), (WIDE,)), "'load_steps[0].operands[0]' is 4, must be a constant"),
        (host("widen", (W,), (Y,)), "'load_steps[0].results[0]' is 1, must be a constant"),
        (host("widen", (W,), (W,)), "'load_steps[0].results[0]' is 2, must be a constant"),
        (
            host("widen", (9,), (WIDE,)),
            "'load_steps[0].operands[0]' is 9, must be at least -1 and below 6",
        ),
        (CpuStep(symbol=""), "'load_steps[0].symbol' is empty, must name a function"),
        (GpuStep(launches=()), "'load_steps[0].kind' is 'gpu', which cannot run at load"),
        (replace(LOAD[0], op="widen"), "'load_steps[0].op' is 'widen', must look like"),
    ],
)
def test_a_load_step_reads_and_writes_constants_only(step: Step, message: str):
    with pytest.raises(PackageError) as caught:
        package(load_steps=(step,))
    assert message in str(caught.value)


def test_a_step_of_a_run_cannot_write_what_is_prepared():
    with pytest.raises(PackageError, match="is 3, which would overwrite the weights"):
        package(steps=(host("add", (X, X), (WIDE,)),))
