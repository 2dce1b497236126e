"""Steps of an accelerator: checked, run on the simulated machine, or by a driver."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trivium.runtime import load
from trivium.runtime.checks import check
from trivium.runtime.contents import ARENA, WEIGHTS, Buffer, Memory, MemorySpace
from trivium.runtime.dla.part import DESCRIPTION
from trivium.runtime.errors import Fault, PackageError, RunError
from trivium.runtime.host.step import HostStep
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.targets.dla.core import container
from trivium.test.unit.targets.dla.core.test_container import sealed
from trivium.test.unit.targets.dla.streams import (
    DESCRIPTION_BYTES,
    STEP,
    VANILLA,
    TwoConvs,
    manifest,
    package,
    two_convs,
)

CONVS = TwoConvs()
X, Y = (1, 6, 6, 3), (1, 6, 6, 4)


def refusal(made: Package) -> str:
    with pytest.raises(PackageError) as caught:
        Session(made)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def with_stream(packets: Sequence[Any]) -> bytes:
    return container.save(VANILLA.description, CONVS.container(list(packets)))


def test_a_saved_package_runs_on_the_simulated_machine(tmp_path: Path) -> None:
    package(CONVS).save(tmp_path / "convs.trv")
    session = load(tmp_path / "convs.trv")
    for seed in (1, 2, 1):
        x = CONVS.inputs(seed)
        assert (session(x) == CONVS.expected(x)).all()


def test_steps_of_an_accelerator_and_of_the_host_take_turns() -> None:
    """z = convs(convs(x)[..., :3]), by way of the arena."""
    first = manifest()
    ends = {"starts": (0, 0, 0, 0), "sizes": X, "steps": (1, 1, 1, 1)}
    made = Package.create(
        replace(
            first,
            buffers=(*first.buffers, Buffer("t", ARENA, 0, Y, "int8"),
                     Buffer("s", ARENA, 144, X, "int8")),
            steps=(
                replace(STEP, operands=(0,), results=(2,)),
                HostStep(op="tri.slice", attributes=ends, operands=(2,), results=(3,)),
                replace(STEP, operands=(3,), results=(1,)),
            ),
            memory=Memory(252, 252, 0),
        ),
        package(CONVS).entries,
    )  # fmt: skip
    x = CONVS.inputs(4)
    assert (Session(made)(x) == CONVS.expected(CONVS.expected(x)[..., :3])).all()


def test_clones_run_at_once() -> None:
    session = Session(package(CONVS))
    sessions = [session, session.clone(), session.clone()]
    with ThreadPoolExecutor(3) as pool:
        for seed in range(5):
            xs = [CONVS.inputs(3 * seed + i) for i in range(3)]
            for x, y in zip(xs, pool.map(lambda s, x: s(x), sessions, xs), strict=True):
                assert (y == CONVS.expected(x)).all()


class Recorder:
    """A driver that keeps what it was opened with and what it got."""

    def __init__(self, outputs: list[np.ndarray]) -> None:
        self.outputs = outputs
        self.opened: list[tuple[bytes, bytes]] = []
        self.inputs: list[np.ndarray] = []

    def open(self, description: bytes, data: bytes, sizes: Mapping[str, int]) -> "Recorder":
        assert not sizes
        self.opened.append((description, data))
        return self

    def run(self, inputs: Sequence[np.ndarray], /) -> list[np.ndarray]:
        self.inputs = [array.copy() for array in inputs]
        return self.outputs


def test_a_driver_takes_the_place_of_the_simulated_machine(tmp_path: Path) -> None:
    y = np.arange(144, dtype=np.int8).reshape(Y)
    driver = Recorder([y])
    package(CONVS, b"anything").save(tmp_path / "a.trv")
    session = load(tmp_path / "a.trv", drivers={"vanilla": driver.open})
    x = CONVS.inputs(1)
    assert (session(x) == y).all()
    assert driver.opened == [(DESCRIPTION_BYTES, b"anything")]
    assert (driver.inputs[0] == x).all()
    session.clone()(x)
    assert len(driver.opened) == 1


@pytest.mark.parametrize(
    "outputs", [[], [np.zeros((6, 6, 4), np.int8)], [np.zeros(Y, np.uint8)], [np.zeros(Y)] * 2]
)
def test_a_driver_that_gives_something_else_is_refused(outputs: list[np.ndarray]) -> None:
    session = Session(package(CONVS), drivers={"vanilla": Recorder(outputs).open})
    with pytest.raises(RunError, match=r"'dla/a.tdla' gave .*, must give \['int8\[1, 6, 6, 4\]'\]"):
        session(CONVS.inputs(1))


def test_a_driver_cannot_write_to_inputs_and_its_errors_name_the_step() -> None:
    class Writer:
        def run(self, inputs: Sequence[np.ndarray], /) -> list[np.ndarray]:
            inputs[0][:] = 0
            return []

    session = Session(package(CONVS), drivers={"vanilla": lambda *_: Writer()})
    with pytest.raises(ValueError, match="read-only") as caught:
        session(CONVS.inputs(1))
    assert caught.value.__notes__ == ["in step 'dla/a.tdla' of conv_1, conv_2"]


def test_what_hardware_could_not_do_is_an_error_of_the_run() -> None:
    load_x, weights, first, second, store, end = two_convs()
    data = with_stream([load_x, weights, replace(first, waits={"load": 1}), second, store, end])
    session = Session(package(CONVS, data))
    assert (session(CONVS.inputs(1)) == CONVS.expected(CONVS.inputs(1))).all()
    data = with_stream([load_x, replace(weights, length=16), first, second, store, end])
    session = Session(package(CONVS, data))
    with pytest.raises(RunError, match=r"'dla/a.tdla' cannot run: packet 2 \(conv\) at .* never w"):
        session(CONVS.inputs(1))


def changed(offset: int, value: bytes) -> bytes:
    data = bytearray(CONVS.file())
    data[offset : offset + len(value)] = value
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "dla/a.tdla, offset 0x0: error: starts with b'', not b'TDLA': no container"),
        (changed(4, b"\x09"), "dla/a.tdla, offset 0x4: error: version 9 of the format, this"),
        (changed(9, b"\0"), "dla/a.tdla, offset 0x8: error: made for another description"),
        (changed(400, b"?"), "dla/a.tdla, offset 0x24: error: the checksum does not match"),
        (CONVS.file()[:-1], "dla/a.tdla, offset 0x"),
        (changed(40, b"laniva\0"), "no accelerator is called 'laniva'"),
    ],
)
def test_a_foreign_container_is_refused_by_its_entry(data: bytes, message: str) -> None:
    assert message in refusal(package(CONVS, data))


def test_another_description_is_refused() -> None:
    made = package(CONVS)
    for text, message in (
        (DESCRIPTION_BYTES.replace(b"atom = 16", b"atom = 8"), "made for another description"),
        (b"name = 3\nsummary = 4", "'name' must be a text; "),
        (b"\xff", "description: error: is no text"),
    ):
        assert message in refusal(
            Package.create(made.manifest, {**made.entries, DESCRIPTION: text})
        )


def test_ports_of_other_shapes_are_refused() -> None:
    made = package(TwoConvs(0, 5))
    other = package(CONVS, bytes(made.entries["dla/a.tdla"]))
    assert refusal(other) == (
        "'dla/a.tdla' has ports of shapes [(1, 5, 5, 3)], the operands of its step have "
        "[(1, 6, 6, 3)]"
    )
    missing = replace(manifest(), steps=(replace(STEP, operands=(0,)),))
    said = "'dla/a.tdla' has ports of shapes [(1, 6, 6, 4)], the results of its step have []"
    assert refusal(Package.create(missing, package(CONVS).entries)) == said
    step = replace(manifest().steps[0], accelerator="banana")
    banana = Package.create(replace(manifest(), steps=(step,)), package(CONVS).entries)
    assert refusal(banana) == "'dla/a.tdla' is for 'vanilla', its step for 'banana'"


def buffer(index: int, **changes: Any) -> dict[str, Any]:
    buffers = list(manifest().buffers)
    buffers[index] = replace(buffers[index], **changes)
    return {"buffers": tuple(buffers)}


def step(**changes: Any) -> dict[str, Any]:
    return {"steps": (replace(manifest().steps[0], **changes),)}


FLAT = Buffer("f", ARENA, 0, (144,), "int8")
FLOATS = Buffer("f", ARENA, 0, (1, 1, 1, 36), "float32")
CONSTANT = Buffer("w", WEIGHTS, 0, Y, "int8")
ON_GPU = Buffer("d", manifest().first_space, 0, Y, "int8")
ROOM = Memory(144, 144, 144)
GPU = MemorySpace("gpu", 144, 144, 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (step(entry="dla/b.tdla"), "'steps[0].entry' is 'dla/b.tdla', which is not stored"),
        (step(entry=""), "'steps[0].entry' is '', which is not stored"),
        (step(accelerator=""), "'steps[0].accelerator' is empty, must name an accelerator"),
        (step(operands=(9,)), "'steps[0].operands[0]' is 9, must be at least -1 and"),
        (
            step(operands=(-1,)),
            "'steps[0].operands[0]' is absent, must be int8 or float16 of 4 axes",
        ),
        (
            step(operands=(2,)),
            "'steps[0].operands[0]' is int8[144], must be int8 or float16 of 4 axes",
        ),
        (step(results=(3,)), "'steps[0].results[0]' is float32[1, 1, 1, 36], must be int8"),
        (step(results=(0,)), "'steps[0].results[0]' is 0, which would overwrite an input"),
        (step(results=(4,)), "'steps[0].results[0]' is 4, which would overwrite the weights"),
        (step(results=(5,)), "is 5, which is in memory 'gpu', must be in 'host'"),
    ],
)
def test_a_step_that_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    first = manifest()
    buffers = (*first.buffers, FLAT, FLOATS, CONSTANT, ON_GPU)
    whole = replace(first, buffers=buffers, memory=ROOM, spaces=(GPU,), **changes)
    with pytest.raises(PackageError) as caught:
        Package.create(whole, {**package(CONVS).entries, "weights.bin": bytes(144)})
    assert message in str(caught.value)


def test_a_package_without_description_is_refused() -> None:
    with pytest.raises(PackageError, match=r"is 'dla', but the package has no 'dla/"):
        Package.create(manifest(), {"dla/a.tdla": CONVS.file()})


@settings(
    deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(0, 1 << 30))
def test_a_forged_manifest_is_refused_or_runs(forge: Callable[[Any, int], Any], seed: int) -> None:
    try:
        text = json.dumps(forge(json.loads(manifest().to_json()), seed))
        made = Package.create(Manifest.from_json(text), package(CONVS).entries)
        check(made.manifest)
        session = Session(made)
        feeds = {port.name: np.zeros(port.shape, port.dtype) for port in session.inputs}
        session.run(feeds)
    except Fault as error:
        assert "\n" not in str(error)  # noqa: PT017


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), min_size=1, max_size=3))
def test_a_changed_container_is_refused_or_runs(edits: list[tuple[int, int]]) -> None:
    """The checksum is right here, so all depends on the checks and on the machine's own."""
    data = bytearray(CONVS.file())
    for place, value in edits:
        data[place % len(data)] = value
    try:
        Session(package(CONVS, sealed(data)))(CONVS.inputs(1))
    except Fault as error:
        assert "\n" not in str(error)  # noqa: PT017


def test_a_session_needs_no_mlir_and_says_what_is_missing(tmp_path: Path) -> None:
    package(CONVS).save(tmp_path / "a.trv")
    x = CONVS.inputs(1)
    np.save(tmp_path / "x.npy", x)
    script = """
import sys
for name in ("torch_mlir", "onnx", "torch", "triton", "ml_dtypes"):
    sys.modules[name] = None
import numpy as np
import trivium
np.save("y.npy", trivium.load("a.trv")(np.load("x.npy")))
for name in [name for name in sys.modules if name.startswith("trivium.targets")]:
    del sys.modules[name]
sys.modules["trivium.targets"] = None
try:
    trivium.load("a.trv")
except trivium.RunError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (np.load(tmp_path / "y.npy") == CONVS.expected(x)).all()
    assert done.stdout == (
        "nodes conv_1, conv_2 need the accelerator 'vanilla', but module 'trivium.targets.dla' is "
        "not installed: install what compiled the package, or give a driver\n"
    )
