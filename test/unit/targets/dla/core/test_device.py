"""A device runs a container's stream on arrays: right, in any order, each run by itself."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.core import container
from trivium.targets.dla.core.device import Device
from trivium.targets.dla.core.packet import Packet
from trivium.targets.dla.registry import find_classes, open_device
from trivium.targets.dla.vanilla.packets import FILE
from trivium.test.unit.targets.dla.streams import DESCRIPTION_BYTES, VANILLA, TwoConvs, two_convs

CONVS = TwoConvs()


def opened(seed: int | None = None, stream: list[Packet] | None = None) -> Device:
    data = container.save(VANILLA.description, CONVS.container(stream))
    return Device.open(DESCRIPTION_BYTES, data, find_classes, "a.tdla", seed)


@given(st.integers(0, 1 << 30), st.one_of(st.none(), st.integers(0, 1 << 30)))
def test_two_convs_compute_what_integers_say_in_any_order(seed: int, order: int | None) -> None:
    convs = TwoConvs(seed % 7)
    device = open_device(DESCRIPTION_BYTES.decode(), convs.file(), seed=order)
    x = convs.inputs(seed)
    (y,) = device.run([x])
    assert y.dtype == np.int8
    assert (y == convs.expected(x)).all()


def test_runs_do_not_see_each_other() -> None:
    device = opened()
    for seed in (1, 2, 1):
        x = CONVS.inputs(seed)
        assert (device.run([x])[0] == CONVS.expected(x)).all()


def test_what_a_run_left_behind_is_poison_for_the_next() -> None:
    """A stream that reads before it writes meets what no run wrote, even after another run."""
    load, weights, first, second, store, end = two_convs()
    early = replace(second, waits={"load": 2})
    device = opened(stream=[load, weights, early, replace(first, waits={}), store, end])
    for _ in range(2):
        with pytest.raises(CompileError, match=r"packet 2 .* that were never written"):
            device.run([CONVS.inputs(1)])


def test_the_report_is_of_the_last_run() -> None:
    device = opened()
    assert device.report().runs == ()
    device.run([CONVS.inputs(1)])
    assert [run.name for run in device.report().runs] == [p.name for p in two_convs()]
    assert device.report().bytes_moved["dram.outputs written"] == 6 * 6 * 16
    assert device.lint() == []


def test_an_output_that_nothing_wrote_is_a_fault() -> None:
    stream = two_convs()
    short = [*stream[:4], replace(stream[4], rows=5), stream[5]]
    with pytest.raises(CompileError, match=r"reads bytes of dram\.outputs that were never"):
        opened(stream=short).run([CONVS.inputs(1)])


def test_constants_are_written_by_no_stream() -> None:
    stream = two_convs()
    device = opened(stream=[*stream[:4], replace(stream[4], region=0), stream[5]])
    said = "writes bytes of dram.constants, which every run reads"
    assert [finding.message for finding in device.lint()] == [said]
    with pytest.raises(CompileError, match=rf"packet 4 \(store\) at offset 0xd0: error: {said}"):
        device.run([CONVS.inputs(1)])


def test_a_missing_wait_shows_in_some_order_and_is_linted() -> None:
    load, weights, *rest = two_convs()
    hasty = [load, weights, replace(rest[0], waits={"load": 1}), *rest[1:]]
    assert {finding.kind for finding in opened(stream=hasty).lint()} >= {"missing dependency"}
    said = set()
    for seed in range(10):
        try:
            opened(seed, hasty).run([CONVS.inputs(1)])
        except CompileError as error:
            said.add("reads bytes of weights that were never written" in str(error))
    assert said == {True}


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([], "got 0 inputs, must get 1"),
        ([np.zeros((1, 6, 6, 4), np.int8)], r"'x' is int8\[1, 6, 6, 4\], must be int8\[1, 6, 6"),
        ([np.zeros((1, 6, 6, 3), np.float32)], r"'x' is float32\[1, 6, 6, 3\], must be int8"),
    ],
)
def test_other_arrays_are_refused(inputs: Sequence[np.ndarray], message: str) -> None:
    with pytest.raises(CompileError, match=message):
        opened().run(inputs)


@pytest.mark.parametrize(
    ("description", "data", "message"),
    [
        (DESCRIPTION_BYTES, b"TDLA", "a.tdla, offset 0x4: error: the header is cut short"),
        (b"\xff", CONVS.file(), "description: error: is no text"),
        ("", CONVS.file(), "the description lacks 'name'"),
        (
            DESCRIPTION_BYTES.replace(b"lanes = 16", b"lanes = 8"),
            CONVS.file(),
            "a.tdla, offset 0x8: error: made for another description",
        ),
        (
            DESCRIPTION_BYTES,
            CONVS.file()[:40] + b"other\0\0" + CONVS.file()[47:],
            "a.tdla, offset 0x28: error: no accelerator is called 'other', there are: vanilla",
        ),
    ],
)
def test_files_that_do_not_fit_are_refused(
    description: bytes | str, data: bytes, message: str
) -> None:
    with pytest.raises(CompileError) as caught:
        open_device(description, data, "a.tdla")
    assert message in str(caught.value)


def test_regions_beyond_memory_are_refused() -> None:
    made = replace(CONVS.container(), regions={**CONVS.container().regions, "activations": 3 << 30})
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({1 << 32}, {1 << 32}))"
    script = f"""
{limit}
import sys
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.registry import open_device
try:
    open_device(open(sys.argv[1], "rb").read(), sys.stdin.buffer.read())
except CompileError as error:
    print(error)
"""
    data = container.save(VANILLA.description, made)
    done = subprocess.run([sys.executable, "-c", script, FILE], input=data, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert b"container: error: this computer has no memory for regions" in done.stdout


def test_a_device_needs_no_mlir(tmp_path: Path) -> None:
    """Only numpy: another process, in which the bindings cannot be imported, runs it, too."""
    (tmp_path / "a.tdla").write_bytes(CONVS.file())
    x = CONVS.inputs(3)
    np.save(tmp_path / "x.npy", x)
    script = """
import sys
for name in ("torch_mlir", "onnx", "torch", "triton", "ml_dtypes"):
    sys.modules[name] = None
import numpy as np
from trivium.targets.dla.registry import open_device
with open(sys.argv[1], "rb") as description, open("a.tdla", "rb") as file:
    device = open_device(description.read(), file.read())
np.save("y.npy", device.run([np.load("x.npy")])[0])
assert not device.lint()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, FILE], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (np.load(tmp_path / "y.npy") == CONVS.expected(x)).all()
