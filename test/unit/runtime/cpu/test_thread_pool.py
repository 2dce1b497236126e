"""Threads that run programs together: chunks, phases, several sessions at once, forks, exits."""

import gc
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from trivium.runtime.contents import FIRST_PORT, Buffer, Memory, Port
from trivium.runtime.cpu import thread_pool
from trivium.runtime.cpu.code import CpuRequirements, Kernel
from trivium.runtime.cpu.part import CpuPart
from trivium.runtime.cpu.step import CpuStep
from trivium.runtime.errors import PackageError, RunError
from trivium.runtime.host.step import HostStep
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package
from trivium.runtime.session import Session

Compile = Callable[..., memoryview]

PHASES, STEPS, ITERATIONS = 5, 3, 1000
SUM = PHASES * STEPS

# Step s of phase p adds 1 to each of so many elements, where all of them must be p * STEPS + s.
# Each thread counts what it did in memory of its own, the first one in the arena.
COUNTING = f"""
llvm.func @share(!llvm.ptr, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64)
llvm.func @add(%table: !llvm.ptr, %phase: i64, %begin: i64, %end: i64) {{
  %one = llvm.mlir.constant(1 : i64) : i64
  %bad = llvm.mlir.constant(-1000 : i64) : i64
  %n = llvm.mlir.constant({ITERATIONS} : i64) : i64
  %steps = llvm.mlir.constant({STEPS} : i64) : i64
  %steps_before = llvm.mul %phase, %steps : i64
  %y = llvm.load %table : !llvm.ptr -> !llvm.ptr
  %at = llvm.getelementptr %table[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %mine = llvm.load %at : !llvm.ptr -> !llvm.ptr
  llvm.br ^next(%begin : i64)
^next(%i: i64):
  %more = llvm.icmp "slt" %i, %end : i64
  llvm.cond_br %more, ^do, ^stop
^do:
  %element = llvm.urem %i, %n : i64
  %step = llvm.udiv %i, %n : i64
  %place = llvm.getelementptr %y[%element] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %old = llvm.load %place : !llvm.ptr -> i64
  %wanted = llvm.add %steps_before, %step : i64
  %right = llvm.icmp "eq" %old, %wanted : i64
  %sum = llvm.add %old, %one : i64
  %new = llvm.select %right, %sum, %bad : i1, i64
  llvm.store %new, %place : i64, !llvm.ptr
  %done = llvm.load %mine : !llvm.ptr -> i64
  %count = llvm.add %done, %one : i64
  llvm.store %count, %mine : i64, !llvm.ptr
  %following = llvm.add %i, %one : i64
  llvm.br ^next(%following : i64)
^stop:
  llvm.return
}}
llvm.func @program(%job: !llvm.ptr, %thread: i64, %run: i64) {{
  %n = llvm.mlir.constant({ITERATIONS} : i64) : i64
  %steps = llvm.mlir.constant({STEPS} : i64) : i64
  %two = llvm.mlir.constant(2 : i64) : i64
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %table = llvm.alloca %two x !llvm.ptr : (i64) -> !llvm.ptr
  %q1 = llvm.getelementptr %job[{thread_pool.Job.BASES}] : (!llvm.ptr) -> !llvm.ptr, i64
  %bases = llvm.load %q1 : !llvm.ptr -> !llvm.ptr
  %arena = llvm.load %bases : !llvm.ptr -> !llvm.ptr
  %q2 = llvm.getelementptr %bases[4] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %y = llvm.load %q2 : !llvm.ptr -> !llvm.ptr
  %q3 = llvm.getelementptr %job[{thread_pool.Job.OWN}] : (!llvm.ptr) -> !llvm.ptr, i64
  %own = llvm.load %q3 : !llvm.ptr -> !llvm.ptr
  %before = llvm.sub %thread, %one : i64
  %other = llvm.getelementptr %own[%before] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %first = llvm.icmp "eq" %thread, %zero : i64
  %mine = llvm.select %first, %arena, %other : i1, !llvm.ptr
  llvm.store %y, %table : !llvm.ptr, !llvm.ptr
  %q4 = llvm.getelementptr %table[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  llvm.store %mine, %q4 : !llvm.ptr, !llvm.ptr
  %add = llvm.mlir.addressof @add : !llvm.ptr
{
    "".join(
        f'''
  %p{i} = llvm.mlir.constant({i} : i64) : i64
  llvm.call @share(%job, %thread, %run, %p{i}, %n, %n, %steps, %add, %table, %p{i})
      : (!llvm.ptr, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64) -> ()'''
        for i in range(PHASES)
    )
}
  llvm.return
}}
"""


@pytest.fixture(scope="session")
def counting(compile_object: Compile, threads_object: memoryview) -> Package:
    """Return the package of y = y + 15, by 5 phases of 3 steps of 1000 iterations."""
    program = compile_object(COUNTING, "program", externals=("share",))
    manifest = Manifest(
        producer="test",
        source="counting.onnx",
        target="cpu",
        inputs=(Port("x", (1,), "int64", 0),),
        outputs=(Port("y", (ITERATIONS,), "int64", 1),),
        buffers=(
            Buffer("x", FIRST_PORT, 0, (1,), "int64"),
            Buffer("y", FIRST_PORT + 1, 0, (ITERATIONS,), "int64"),
        ),
        steps=(CpuStep(symbol="program", phases=PHASES),),
        memory=Memory(64, 64, 0, thread_bytes=8),
        parts=(CpuPart((Kernel("program", "cpu/program.o"),), (CpuRequirements(),)),),
    )
    return Package.create(manifest, {"cpu/program.o": program, thread_pool.CODE: threads_object})


def count(session: Session) -> np.ndarray:
    y = np.zeros(ITERATIONS, np.int64)
    session.run({"x": np.zeros(1, np.int64)}, outputs={"y": y})
    return y


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 32])
def test_each_iteration_of_each_step_is_done_once_and_in_order(counting: Package, threads: int):
    session = Session(counting, threads=threads)
    assert session.threads == threads
    for _ in range(50):
        assert (count(session) == SUM).all()


def test_sessions_that_run_at_once_do_not_disturb_one_another(counting: Package):
    first = Session(counting, threads=4)
    sessions = [first, *(first.clone() for _ in range(3)), Session(counting, threads=1)]

    def often(session: Session) -> bool:
        return all((count(session) == SUM).all() for _ in range(100))

    with ThreadPoolExecutor(len(sessions)) as executor:
        assert all(executor.map(often, sessions))


@pytest.mark.usefixtures("own_garbage")
def test_a_session_may_go_away_while_threads_still_look_at_it(counting: Package):
    for threads in (2, 3, 5, 9) * 10:
        session = Session(counting, threads=threads)
        assert (count(session) == SUM).all()
        del session
        gc.collect()


def test_threads_are_shared_by_all_sessions(counting: Package):
    for _ in range(3):
        assert (count(Session(counting, threads=3)) == SUM).all()
    names = [t.name for t in threading.enumerate() if re.fullmatch(r"trivium-\d+", t.name)]
    assert len(names) == len(set(names))


def test_threads_that_sleep_are_woken(counting: Package):
    session = Session(counting, threads=2)
    for _ in range(3):
        time.sleep(0.05)  # longer than they spin
        assert (count(session) == SUM).all()


def come_to(threads: Iterable[int], wanted: set[int]) -> bool:
    """Tell whether threads may run on some processors, and no others, before ten seconds end."""
    end = time.monotonic() + 10
    while any(os.sched_getaffinity(thread) != wanted for thread in threads):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def workers(number: str) -> list[int]:
    """Return what the system calls threads of pools whose numbers match."""
    named = (t for t in threading.enumerate() if re.fullmatch(f"trivium-{number}", t.name))
    return [t.native_id or 0 for t in named]


def test_threads_may_run_where_they_could_after_they_were_woken(counting: Package):
    """They are barred from the caller's processor until they wake, unless it is all they have."""
    session = Session(counting, threads=3)
    assert (count(session) == SUM).all()
    usable = os.sched_getaffinity(0)
    for chosen in (usable, {min(usable)}, {max(usable)}):
        os.sched_setaffinity(0, chosen)
        try:
            time.sleep(0.05)
            assert (count(session) == SUM).all()
        finally:
            os.sched_setaffinity(0, usable)
        assert come_to(workers(r"\d+"), usable)


def test_a_thread_that_is_bound_by_others_stays_bound(counting: Package):
    session = Session(counting, threads=2)
    assert (count(session) == SUM).all()
    (worker,), usable = workers("1"), os.sched_getaffinity(0)
    assert come_to([worker], usable)
    os.sched_setaffinity(worker, {max(usable)})
    try:
        for _ in range(3):
            time.sleep(0.05)
            assert (count(session) == SUM).all()
        assert come_to([worker], {max(usable)})
    finally:
        os.sched_setaffinity(worker, usable)


def in_child(work: Callable[[], bool]) -> bool:
    """Tell whether `work` returns true in a forked process, within a minute."""
    child = os.fork()
    if not child:
        signal.alarm(60)
        try:
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_forked_process_starts_threads_of_its_own(counting: Package):
    session = Session(counting, threads=3)
    assert (count(session) == SUM).all()
    assert in_child(lambda: all((count(session) == SUM).all() for _ in range(20)))
    assert (count(session) == SUM).all()


@pytest.mark.parametrize("threads", [1, 3])
def test_a_forked_process_forgets_runs_of_other_threads(counting: Package, threads: int):
    """Forks come at any point of a run: before it, in the midst of a phase, behind it."""
    session = Session(counting, threads=threads)
    twin, stop = session.clone(), threading.Event()

    def run_on() -> None:
        while not stop.is_set():
            count(twin)

    thread = threading.Thread(target=run_on)
    thread.start()
    try:
        for _ in range(20):
            assert in_child(lambda: all((count(twin) == SUM).all() for _ in range(3)))
            assert in_child(lambda: bool((count(session) == SUM).all()))
    finally:
        stop.set()
        thread.join()


def test_a_forked_process_runs_a_session_that_another_thread_runs(counting: Package):
    """The thread waits within the run, so the session is busy in the parent at every fork."""
    began, go = threading.Event(), threading.Event()

    def wait(y: np.ndarray) -> np.ndarray:
        began.set()
        assert go.wait(60)
        return y

    step = HostStep(op="toy.wait", operands=(1,), results=(1,))
    steps = (*counting.manifest.steps, step)
    package = replace(counting, manifest=replace(counting.manifest, steps=steps))
    dialects: Any = {"toy": {"toy.wait": lambda: SimpleNamespace(reference=wait)}}
    session = Session(package, dialects, threads=2)
    thread = threading.Thread(target=count, args=(session,))
    thread.start()
    assert began.wait(60)

    def work() -> bool:
        go.set()
        alone = (count(session) == SUM).all() and (count(session.clone()) == SUM).all()
        results: list[bool] = []
        worker = threading.Thread(target=lambda: results.append((count(session) == SUM).all()))
        worker.start()
        worker.join()
        return bool(alone) and results == [True]

    assert in_child(work)
    with pytest.raises(RunError, match="is running in another thread"):
        count(session)
    go.set()
    thread.join()
    assert (count(session) == SUM).all()


def test_a_step_may_fork(counting: Package):
    """The child goes on with the run that it was forked in."""
    exits: list[int] = []

    def fork(y: np.ndarray) -> np.ndarray:
        child = os.fork()
        exits.append(child and os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        return y

    step = HostStep(op="toy.fork", operands=(1,), results=(1,))
    steps = (step, *counting.manifest.steps)
    package = replace(counting, manifest=replace(counting.manifest, steps=steps))
    dialects: Any = {"toy": {"toy.fork": lambda: SimpleNamespace(reference=fork)}}
    session, parent = Session(package, dialects, threads=2), os.getpid()
    try:
        right = (count(session) == SUM).all()
    finally:
        if os.getpid() != parent:
            os._exit(0 if right else 1)
    assert right
    assert exits == [0]


def test_workers_of_multiprocessing_run_clones(counting: Package):
    session = Session(counting, threads=2)
    assert (count(session) == SUM).all()
    context = multiprocessing.get_context("fork")
    with context.Pool(2, initializer=_share, initargs=(session,)) as pool:
        assert pool.map(_run_clone, range(8)) == [True] * 8


def _share(session: Session) -> None:
    global _shared
    _shared = session


def _run_clone(_: int) -> bool:
    return bool((count(_shared.clone()) == SUM).all())


def test_a_process_ends_with_threads_running(counting: Package, tmp_path: object):
    path = f"{tmp_path}/counting.trv"
    counting.save(path)
    code = (
        "import sys, numpy as np, trivium\n"
        "session = trivium.load(sys.argv[1], threads=4)\n"
        f"y = np.zeros({ITERATIONS}, np.int64)\n"
        "session.run({'x': np.zeros(1, np.int64)}, outputs={'y': y})\n"
        "print(y.min(), y.max())"
    )
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-c", code, path], capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{SUM} {SUM}\n", "")


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", 5000])
def test_a_number_of_threads_that_makes_no_sense_is_refused(counting: Package, threads: object):
    with pytest.raises(RunError, match="must be a number from 1 to 1024"):
        Session(counting, threads=threads)  # type: ignore[arg-type]


def test_the_default_is_a_thread_for_each_core(counting: Package):
    assert 1 <= Session(counting).threads <= (os.cpu_count() or 1)


def test_a_package_without_the_code_of_threads_is_refused(scale: Package):
    entries = {k: v for k, v in scale.entries.items() if k != thread_pool.CODE}
    package = Package.create(replace(scale.manifest, entries=()), entries)
    with pytest.raises(PackageError, match="has native code, but no 'cpu/threads"):
        Session(package)


@pytest.mark.parametrize("phases", [-1, 1 << 30])
def test_a_number_of_phases_that_makes_no_sense_is_refused(counting: Package, phases: int):
    step = replace(counting.manifest.steps[0], phases=phases)
    with pytest.raises(PackageError, match=r"'steps\[0\].phases' is"):
        Package.create(replace(counting.manifest, steps=(step,)), counting.entries)
