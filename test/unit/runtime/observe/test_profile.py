"""Profiles: each call of a run with its time, from the code that always runs."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from trivium.runtime.errors import PackageError, RunError
from trivium.runtime.observe.calls import CALLS, CallTable
from trivium.runtime.observe.peaks import Peaks
from trivium.runtime.package import Package
from trivium.tools.main import main

NET = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[N, 256] x) => (float[N, 256] y)
    {
        [first] a = MatMul (x, w)
        [bend] b = Relu (a)
        [second] c = MatMul (b, w)
        [curve] d = Softmax (c)
        [third] y = MatMul (d, w)
    }
""")
NET.graph.initializer.append(onnx.numpy_helper.from_array(np.eye(256, dtype=np.float32) * 0.5, "w"))

LOOP = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (int64 count, float[8] x) => (float[8] y)
    <bool yes = {1}> {
        [repeat] last = Loop (count, yes, x) <body = body (int64 i, bool go, float[8] v)
            => (bool on, float[8] next) {
                [keep] on = Identity (go)
                [inner] next = Sin (v)
        }>
        [outer] y = Exp (last)
    }
""")


def _x(rows: int) -> Any:
    return np.random.default_rng(rows).standard_normal((rows, 256)).astype(np.float32)


def _nodes(profile: Any, run: int = 0) -> list[str]:
    return [node for event in profile.runs[run].events for node in event.nodes]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shapes", [{}, {"N": 64}], ids=["free", "bound"])
@pytest.mark.parametrize("target", ["cpu", "host"])
def test_every_node_has_its_time(threads: int, shapes: dict[str, int], target: str) -> None:
    session = trivium.compile(NET, shapes=shapes, threads=threads, target=target)
    profile = session.profile({"x": _x(64)}, runs=3)
    assert profile.threads == threads
    assert len(profile.runs) == 3
    for run in profile.runs:
        nodes = [node for event in run.events for node in event.nodes]
        assert nodes == ["first", "bend", "second", "curve", "third"]
        begins = [event.begin for event in run.events]
        assert begins == sorted(begins)
        assert run.begin <= begins[0]
        assert run.events[-1].end <= run.end
        assert 0 < run.in_kernels <= run.nanoseconds
    assert sum(row.share for row in profile.by_node()) == pytest.approx(1 - profile.overhead)


def test_clock_is_that_of_the_process() -> None:
    session = trivium.compile(NET, shapes={"N": 4}, threads=1)
    before = time.perf_counter_ns()
    profile = session.profile({"x": _x(4)}, warm_up=0)
    after = time.perf_counter_ns()
    (run,) = profile.runs
    assert before < run.begin < run.events[0].begin < run.events[-1].end < run.end < after


def test_work_is_counted_at_the_sizes_of_the_model() -> None:
    session = trivium.compile(NET, shapes={"N": 64}, threads=1)
    rows = session.profile({"x": _x(64)}).by_node()
    flops = {row.name: row.flops for row in rows}
    assert flops["second"] == flops["third"] == 2 * 64 * 256 * 256
    assert {row.flops for row in rows if row.name == "curve"} == {0}
    (softmax,) = [row for row in rows if row.name == "curve"]
    assert softmax.moved_bytes == 2 * 4 * 64 * 256


@pytest.mark.parametrize("threads", [1, 2])
def test_rates_are_held_against_peaks(threads: int) -> None:
    session = trivium.compile(NET, shapes={"N": 64}, threads=threads)
    peaks = Peaks({"f32": 2e9}, {1 << 10: 5e9, 1 << 30: 1e9})
    profile = session.profile({"x": _x(64)}, runs=3, peaks=peaks)
    rows = {row.name: row for row in profile.by_node()}
    product, softmax = rows["second"], rows["curve"]
    seconds = product.nanoseconds * 1e-9
    assert product.of_peak == pytest.approx(2 * 64 * 256 * 256 / seconds / (2e9 * threads))
    assert softmax.of_peak is None
    # 128 KiB are nearer to a KiB than to a GiB.
    copied = 2 * 4 * 64 * 256 / (softmax.nanoseconds * 1e-9)
    assert softmax.of_copy == pytest.approx(copied / 5e9)
    (run, *_) = profile.runs
    whole = 3 * 2 * 64 * 256 * 256 / (run.nanoseconds * 1e-9)
    assert run.flops_per_second == pytest.approx(whole)
    assert profile.of_peak(run) == pytest.approx(whole / (2e9 * threads))
    bare = session.profile({"x": _x(64)})
    assert {(row.of_peak, row.of_copy) for row in bare.by_op()} == {(None, None)}
    assert bare.of_peak(bare.runs[0]) is None


def test_peaks_are_by_the_type_of_the_factors() -> None:
    peaks = Peaks.declared("f32=80,i8=300,copy=12")
    assert (peaks.rate("f32"), peaks.rate("i8"), peaks.rate("bf16")) == (80e9, 300e9, 80e9)
    assert peaks.bandwidth(1) == peaks.bandwidth(1 << 40) == 12e9
    assert peaks.source == "declared"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("f32=80", "lack copy"),
        ("copy=1", "lack f32"),
        ("f32", "must be TYPE=RATE"),
        ("f32=1,copy=1,f8=2", "have f8, must be of f32, i8, bf16, copy"),
        ("f32=0,copy=1", "finite and above 0"),
    ],
)
def test_faulty_peaks_are_refused(text: str, fault: str) -> None:
    with pytest.raises(RunError, match=fault):
        Peaks.declared(text)


def test_session_is_as_before() -> None:
    session = trivium.compile(NET, shapes={"N": 4})
    x = _x(4)
    expected = session.run({"x": x})["y"]
    session.profile({"x": x})
    assert np.array_equal(session.run({"x": x})["y"], expected)


def test_time_of_a_body_is_not_counted_twice() -> None:
    session = trivium.compile(LOOP)
    feeds = {"count": np.int64(5), "x": np.linspace(0, 1, 8, dtype=np.float32)}
    profile = session.profile(feeds)
    assert _nodes(profile).count("repeat/body/inner") == 5
    (run,) = profile.runs
    (loop,) = [event for event in run.events if not event.is_kernel]
    inside = [event for event in run.events if event.nodes == ("repeat/body/inner",)]
    assert loop.own <= loop.end - loop.begin - sum(event.own for event in inside)
    assert sum(event.own for event in run.events) <= run.nanoseconds


def test_programs_for_exact_sizes_are_seen() -> None:
    session = trivium.compile(NET, exact=[{"N": 64}])
    for rows in (64, 3):
        profile = session.profile({"x": _x(rows)})
        assert _nodes(profile) == ["first", "bend", "second", "curve", "third"]


def test_state_of_the_session_stays() -> None:
    counter = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[1] past) => (float[1] next) <float[1] one = {1}> { next = Add (past, one) }
    """)
    session = trivium.compile(counter, states={"next": "past"})
    session.run({})
    session.profile({}, runs=4)
    session.run({})
    assert session.state["past"].tolist() == [2]


def test_package_without_calls_is_refused() -> None:
    package = trivium.build(NET, shapes={"N": 1})
    entries = {name: data for name, data in package.entries.items() if name != CALLS}
    bare = trivium.Session(Package.create(package.manifest, entries))
    assert bare.run({"x": _x(1)})
    with pytest.raises(RunError, match="which lists its calls: compile the model again"):
        bare.profile({"x": _x(1)})


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (b'"reads":[0', b'"reads":[900', "on a buffer that is not there"),
        (b'"kernel":', b'"colonel":', "kernel' is missing"),
        (b"[{", b"{{", "is not JSON"),
    ],
)
def test_faulty_list_of_calls_is_refused(old: bytes, new: bytes, fault: str) -> None:
    package = trivium.build(NET, shapes={"N": 1})
    listed = bytes(package.entries[CALLS])
    assert old in listed
    entries = {**package.entries, CALLS: listed.replace(old, new, 1)}
    session = trivium.Session(Package.create(package.manifest, entries))
    with pytest.raises(PackageError, match=fault):
        session.profile({"x": _x(1)})


def test_number_of_runs_is_checked() -> None:
    session = trivium.compile(NET, shapes={"N": 1})
    with pytest.raises(RunError, match="runs is 0 and warm_up 1"):
        session.profile({"x": _x(1)}, runs=0)


def test_call_table_is_that_of_the_steps() -> None:
    package = trivium.build(NET, shapes={"N": 1})
    calls = CallTable(package).of(package.manifest.steps[0])
    assert [call.nodes for call in calls][-1] == ("third",)
    names = [package.manifest.buffers[i].name for i in calls[-1].writes]
    assert names == ["y"]


def test_command_prints_tables_and_writes_a_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, trace = tmp_path / "net.onnx", tmp_path / "trace.json"
    onnx.save(NET, model)
    command = ["run", str(model), "--random", "--shape", "N=4", "--peaks", "f32=100,copy=10"]
    assert main([*command, "--profile", "2", "--chrome-trace", str(trace)]) == 0
    out = capsys.readouterr().out
    for title in ("by op", "by node", "by run", "of it outside of kernels", "of a core, declared"):
        assert title in out
    events = json.loads(trace.read_text())["traceEvents"]
    assert {event["ph"] for event in events} == {"X"}
    spans = [event for event in events if event["name"] == "third"]
    assert len(spans) == 2
    for run, span in zip((e for e in events if e["tid"] == "run"), spans, strict=True):
        assert run["ts"] <= span["ts"]
        assert span["ts"] + span["dur"] <= run["ts"] + run["dur"]
    assert main([*command, "--profile", "2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == "trivium run --profile"
    assert len(report["by_run"]) == 2
    assert report["peaks"]["gops_per_second"] == {"f32": 100}
    assert all(row["of_copy"] > 0 for row in report["by_node"])
