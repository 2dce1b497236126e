"""Sessions that run on a GPU, which is a stand-in here."""

import gc
import os
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from trivium.runtime import load
from trivium.runtime.contents import MemorySpace, Port
from trivium.runtime.copy.step import CopyStep
from trivium.runtime.errors import RunError
from trivium.runtime.gpu.code import GpuCode
from trivium.runtime.host.step import HostStep
from trivium.runtime.package import Package
from trivium.runtime.program import link
from trivium.runtime.session import Session
from trivium.test.unit.runtime.gpu.conftest import (
    ADD,
    BUFFERS,
    COMPUTE,
    DEVICE_ARENA,
    DEVICE_WEIGHTS,
    DEVICE_X,
    DEVICE_Y,
    DOWNLOAD,
    KERNELS,
    RELU,
    SHAPE,
    SIZE,
    UPLOAD,
    WEIGHTS,
    X,
    Y,
    buffer,
    code,
    expected,
    package,
    refusal,
)
from trivium.test.unit.runtime.gpu.stand_in import Run, StandIn
from trivium.test.unit.runtime.mapped_pages import resident

x = np.linspace(-20, 20, 32, dtype=np.float32).reshape(SHAPE)


def test_a_package_runs(session: Session):
    np.testing.assert_array_equal(session(x), expected(x))
    np.testing.assert_array_equal(session.run({"x": 2 * x})["y"], expected(2 * x))
    y = np.zeros(SHAPE, np.float32)
    assert session.run({"x": x}, {"y": y})["y"] is y
    np.testing.assert_array_equal(y, expected(x))


def test_sources_of_kernels_may_be_left_out(stand_in: StandIn):
    (add, relu), source = code("sm_90").kernels, "gpu/sm_90/add.py"
    noted = package(codes=[GpuCode("sm_90", (replace(add, source=source), relu))])
    whole = Package.create(noted.manifest, {**noted.entries, source: b"def add(): ..."})
    small = whole.stripped(["sources"])
    assert (whole.kept, small.kept) == (("sources",), ())
    assert {*whole.entries} - {*small.entries} == {source}
    opened = Package.open(small.to_bytes())
    stand_in.execute(opened, KERNELS)
    with Session(opened, device=stand_in.device()) as session:
        np.testing.assert_array_equal(session(x), expected(x))


def test_results_of_earlier_runs_stay(session: Session):
    first = session(x)
    session(0 * x)
    np.testing.assert_array_equal(first, expected(x))


def test_a_file_runs(stand_in: StandIn, layer: Package, tmp_path: Any):
    layer.save(tmp_path / "layer.trv")
    with load(tmp_path / "layer.trv", device=stand_in.device()) as session:
        np.testing.assert_array_equal(session(x), expected(x))


def test_launches_are_tried_out_recorded_and_replayed(session: Session, stand_in: StandIn):
    session(x)
    launches = stand_in.records("cuLaunchKernel")
    assert [(r["kernel"], r["captured"]) for r in launches] == [
        ("add_kernel", False),
        ("relu_kernel", False),
        ("add_kernel", True),
        ("relu_kernel", True),
    ]
    assert stand_in.runs == ["add_kernel", "relu_kernel"]
    session(x)
    assert len(stand_in.records("cuLaunchKernel")) == 4
    assert len(stand_in.records("cuGraphLaunch")) == 1
    assert stand_in.runs == ["add_kernel", "relu_kernel"] * 2


def test_a_kernel_is_launched_as_the_manifest_says(session: Session, stand_in: StandIn):
    session(x)
    add, relu = stand_in.records("cuLaunchKernel")[:2]
    assert (add["grid"], add["block"], add["shared"]) == ([2, 1, 1], 128, 0)
    assert (relu["grid"], relu["block"], relu["shared"]) == ([3, 2, 1], 256, 60000)
    # Only what is more than any kernel may have is asked for.
    asked = stand_in.records("cuFuncSetAttribute")
    assert [(r["kernel"], r["shared"]) for r in asked] == [("relu_kernel", 60000)]


def test_each_run_of_a_kernel_gets_its_arrays(stand_in: StandIn):
    seen: list[Run] = []
    made = package()
    stand_in.execute(made, seen.append)
    with Session(made, device=stand_in.device()) as session:
        session(x)
    add, relu = seen
    assert (add.kernel.symbol, add.grid) == ("add", (2, 1, 1))
    assert [a.shape for a in add.arrays] == [SHAPE] * 3
    assert (relu.kernel.symbol, relu.grid, len(relu.arrays)) == ("relu", (3, 2, 1), 2)


def test_kernels_of_one_entry_share_a_module(session: Session, stand_in: StandIn):
    assert len(stand_in.records("cuModuleLoadData")) == 1


def test_equal_weights_are_uploaded_once(stand_in: StandIn, layer: Package):
    device = stand_in.device()
    sessions = [Session(layer, device=device), Session(package(), device=device)]
    sessions.append(sessions[0].clone())
    assert [r["size"] for r in stand_in.records("cuMemAlloc")] == [SIZE, *[3 * SIZE] * 3]
    assert len(stand_in.records("cuMemcpyHtoDAsync")) == 1
    other = package(weights=2 * WEIGHTS)
    sessions.append(Session(other, device=device))
    assert len(stand_in.records("cuMemcpyHtoDAsync")) == 2
    np.testing.assert_array_equal(sessions[1](x), expected(x))
    np.testing.assert_array_equal(sessions[3](x), expected(x, 2 * WEIGHTS))


def _large(bytes_: np.ndarray) -> Package:
    """Return the package with more constants, of which kernels read the first."""
    spaces = (MemorySpace("gpu", 3 * SIZE, 3 * SIZE, bytes_.nbytes),)
    return package(weights=bytes_, spaces=spaces)


def test_weights_of_equal_checksums_are_not_mixed_up(stand_in: StandIn):
    # Of each block of 128 x 256 words, checksums are of the sums of rows and the xors of columns.
    words = np.random.default_rng(0).integers(0, 1 << 50, 1 << 19, np.uint64)
    rows = words[: 128 * 256].reshape(128, 256)
    numbers = np.arange(1, 5, dtype=np.float32).view(np.uint64)
    rows[0, :2], rows[1, :2] = numbers, numbers[::-1]
    forged = words.copy()
    forged[: 128 * 256].reshape(128, 256)[:2, :2] = rows[1::-1, :2]
    pair = [_large(words), _large(forged)]
    (one,), (other,) = ([e for e in p.manifest.entries if "weights" in e.name] for p in pair)
    assert one == other
    for each in pair:
        stand_in.execute(each, KERNELS)
    sessions = [Session(each, device=stand_in.device()) for each in pair]
    for session, bytes_ in zip(sessions, (words, forged), strict=True):
        w = bytes_.view(np.float32)[:32].reshape(SHAPE)
        np.testing.assert_array_equal(session(x), expected(x, w))
    assert [session(0 * x)[0, 0] for session in sessions] == [1, 3]


def test_the_host_gives_back_what_the_device_has(stand_in: StandIn, tmp_path: Path):
    numbers = np.random.default_rng(0).random(4 << 20, np.float32)
    made, path = _large(numbers), tmp_path / "net.trv"
    stand_in.execute(made, KERNELS)
    made.save(path)
    mapped = Package.open(path)
    bytes(mapped.entries["gpu/weights.bin"])
    assert resident(path) > numbers.nbytes
    with Session(mapped, device=stand_in.device()) as session:
        assert resident(path) < 1 << 20
        w = numbers[:32].reshape(SHAPE)
        np.testing.assert_array_equal(session(x), expected(x, w))
        uploads = len(stand_in.records("cuMemcpyHtoDAsync"))
        with Session(mapped, device=stand_in.device()) as other, session.clone() as twin:
            assert resident(path) < 1 << 20
            for each in (other, twin, session):
                np.testing.assert_array_equal(each(-x), expected(-x, w))
        # Only inputs were copied: x, three times.
        assert len(stand_in.records("cuMemcpyHtoDAsync")) == uploads + 3
        session.save(tmp_path / "again.trv")
    assert (tmp_path / "again.trv").read_bytes() == path.read_bytes()
    np.testing.assert_array_equal(np.frombuffer(mapped.entries["gpu/weights.bin"], "f4"), numbers)


def test_weights_go_when_nobody_needs_them(stand_in: StandIn, layer: Package):
    for _ in range(2):
        session = Session(layer, device=stand_in.device())
        twin = session.clone()
        session.close()
        np.testing.assert_array_equal(twin(x), expected(x))
        del session, twin
        gc.collect()
        assert stand_in.live == 0


def test_clones_run_side_by_side(session: Session):
    wrong: list[int] = []

    def work(twin: Session, k: int) -> None:
        for _ in range(50):
            if not np.array_equal(twin(k * x), expected(k * x)):
                wrong.append(k)
        twin.close()

    threads = [threading.Thread(target=work, args=(session.clone(), k)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_closed_session_is_refused(session: Session, stand_in: StandIn):
    session(x)
    session.close()
    session.close()
    assert stand_in.live == 0
    for use in (session.clone, lambda: session(x), session.replay):
        assert refusal(use) == "the session is closed: open the package again"
    assert session.manifest.target == "gpu"


def test_a_host_step_waits_for_the_gpu(stand_in: StandIn):
    """y = relu(x + w) on the GPU, doubled on the host in the arena, copied to the output."""
    buffers = (*BUFFERS, buffer("t", 0))
    steps = (
        UPLOAD,
        COMPUTE,
        CopyStep(operands=(DEVICE_Y,), results=(6,)),
        HostStep(op="toy.double", operands=(6,), results=(6,), nodes=("Double_2",)),
        CopyStep(operands=(6,), results=(DEVICE_X,)),
        replace(COMPUTE, launches=(ADD, RELU)),
        DOWNLOAD,
    )
    made = package(steps, buffers=buffers)
    stand_in.execute(made, KERNELS)
    calls: list[int] = []

    def double(t: np.ndarray) -> np.ndarray:
        calls.append(len(stand_in.records()))
        return 2 * t

    dialects = {"toy": {"toy.double": lambda: SimpleNamespace(reference=double)}}
    with Session(made, dialects, device=stand_in.device()) as session:
        for k in (1, 2):
            result = expected(2 * expected(k * x))
            np.testing.assert_array_equal(session(k * x), result)
        message = refusal(session.replay)
    assert message == (
        "there is no graph of the whole package, for toy.double of Double_2 is a step of kind "
        "'host': use run"
    )
    before = [stand_in.records()[n - 1] for n in calls]
    assert [r.get("call") for r in before] == ["cuStreamSynchronize"] * 2


def test_an_error_on_the_host_leaves_nothing_under_way(stand_in: StandIn):
    steps = (UPLOAD, COMPUTE, HostStep(op="toy.fail", operands=(X,), results=(Y,)))
    made = package(steps)
    stand_in.execute(made, KERNELS)

    def fail(_: np.ndarray) -> np.ndarray:
        raise KeyError("x")

    dialects = {"toy": {"toy.fail": lambda: SimpleNamespace(reference=fail)}}
    with Session(made, dialects, device=stand_in.device()) as session:
        with pytest.raises(KeyError):
            session(x)
        assert stand_in.records()[-1]["call"] == "cuStreamSynchronize"
        with pytest.raises(KeyError):
            session(x)


def test_outputs_may_be_one_value_an_input_or_a_constant(stand_in: StandIn):
    """z is x itself, v the same value as y, c a constant of the host."""
    on_device = (replace(b, base=b.base + 3) for b in BUFFERS[2:])  # after the other outputs
    buffers = (*BUFFERS[:2], *on_device, buffer("c", 1))
    outputs = tuple(
        Port(name, SHAPE, "float32", index)
        for name, index in (("y", Y), ("v", Y), ("z", X), ("c", 6))
    )
    manifest = replace(package().manifest, buffers=buffers, outputs=outputs)
    manifest = replace(manifest, memory=replace(manifest.memory, weight_bytes=SIZE))
    entries = {**package().entries, "weights.bin": (WEIGHTS + 1).tobytes()}
    made = Package.create(manifest, entries)
    stand_in.execute(made, KERNELS)
    with Session(made, device=stand_in.device()) as session:
        wanted = {"y": expected(x), "v": expected(x), "z": x, "c": WEIGHTS + 1}
        for results in (session.run({"x": x}), session.run_on_device({"x": x})):
            assert list(results) == list(wanted)
            for name, array in results.items():
                values = array if isinstance(array, np.ndarray) else array.numpy()
                np.testing.assert_array_equal(values, wanted[name])
        assert "'c' is in the memory of the process" in refusal(session.replay)


def test_an_empty_tensor_is_not_copied(stand_in: StandIn):
    empty = [replace(b, shape=(0, 8)) if i in (X, DEVICE_X) else b for i, b in enumerate(BUFFERS)]
    made = package((UPLOAD,), buffers=tuple(empty), inputs=(Port("x", (0, 8), "float32", X),))
    with Session(made, device=stand_in.device()) as session:
        session(x[:0])
        assert len(stand_in.records("cuMemcpyHtoDAsync")) == 1  # the weights


def test_a_package_without_weights_runs(stand_in: StandIn):
    zeros = buffer("w", DEVICE_ARENA, 3 * SIZE)
    buffers = tuple(zeros if b.base == DEVICE_WEIGHTS else b for b in BUFFERS)
    manifest, entries = package().manifest, dict(package().entries)
    del entries["gpu/weights.bin"]
    spaces = (MemorySpace("gpu", 4 * SIZE, 4 * SIZE, 0),)
    made = Package.create(replace(manifest, spaces=spaces, buffers=buffers), entries)
    stand_in.execute(made, {**KERNELS, "add": lambda x, w, y: np.copyto(y, x)})
    with Session(made, device=stand_in.device()) as session:
        np.testing.assert_array_equal(session(x), np.maximum(x, 0))


def test_a_package_for_a_gpu_without_code_for_one_is_refused(stand_in: StandIn):
    made = package((UPLOAD,), codes=())
    assert refusal(Session, made, device=stand_in.device()) == (
        "the package has memory 'gpu', but no code for a GPU"
    )


def test_a_forked_process_must_open_the_package_itself(session: Session):
    session(x)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            session(x)
            text = "it ran"
        except RunError as error:
            text = str(error)
        os.write(writing, text.encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with open(reading) as file:
        assert file.read().startswith("this process was forked from one that uses the GPU: open")
    np.testing.assert_array_equal(session(x), expected(x))


def test_an_arena_of_static_sizes_is_not_trimmed(stand_in: StandIn, layer: Package):
    state = link(layer, {"device": stand_in.device(), "dialects": {}, "drivers": {}}).open(1)
    workspace = state.spaces["gpu"]
    before = dict(workspace.addresses)
    state.trim()
    assert workspace.addresses == before
    workspace.close()
