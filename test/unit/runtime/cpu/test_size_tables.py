"""Native code whose sizes depend on symbols: tables of a plan, threads that are late, checks."""

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from trivium.runtime.contents import FIRST_PORT, Buffer, Memory, Port, Symbol
from trivium.runtime.cpu import thread_pool
from trivium.runtime.cpu.calls_one_by_one import PHASE
from trivium.runtime.cpu.code import CpuRequirements, Kernel
from trivium.runtime.cpu.part import CpuPart
from trivium.runtime.cpu.step import CpuStep, SizeTable
from trivium.runtime.errors import PackageError
from trivium.runtime.manifest import SYMBOLIC_VERSION, Manifest
from trivium.runtime.package import Package
from trivium.runtime.session import Session

Compile = Callable[..., memoryview]

PHASES = 3

# Phase p adds the first word to each of the elements of y in a range, where they must be p words.
ADDING = f"""
llvm.func @share(!llvm.ptr, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64)
llvm.func @add(%table: !llvm.ptr, %phase: i64, %begin: i64, %end: i64) {{
  %one = llvm.mlir.constant(1 : i64) : i64
  %bad = llvm.mlir.constant(-1000000 : i64) : i64
  %y = llvm.load %table : !llvm.ptr -> !llvm.ptr
  %at = llvm.getelementptr %table[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %words = llvm.load %at : !llvm.ptr -> !llvm.ptr
  %word = llvm.load %words : !llvm.ptr -> i64
  %expected = llvm.mul %phase, %word : i64
  llvm.br ^next(%begin : i64)
^next(%i: i64):
  %more = llvm.icmp "slt" %i, %end : i64
  llvm.cond_br %more, ^do, ^stop
^do:
  %place = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %old = llvm.load %place : !llvm.ptr -> i64
  %right = llvm.icmp "eq" %old, %expected : i64
  %sum = llvm.add %old, %word : i64
  %new = llvm.select %right, %sum, %bad : i1, i64
  llvm.store %new, %place : i64, !llvm.ptr
  %following = llvm.add %i, %one : i64
  llvm.br ^next(%following : i64)
^stop:
  llvm.return
}}
llvm.func @program(%job: !llvm.ptr, %thread: i64, %run: i64) {{
  %two = llvm.mlir.constant(2 : i64) : i64
  %table = llvm.alloca %two x !llvm.ptr : (i64) -> !llvm.ptr
  %q1 = llvm.getelementptr %job[{thread_pool.Job.BASES}] : (!llvm.ptr) -> !llvm.ptr, i64
  %bases = llvm.load %q1 : !llvm.ptr -> !llvm.ptr
  %q2 = llvm.getelementptr %bases[{FIRST_PORT + 1}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %y = llvm.load %q2 : !llvm.ptr -> !llvm.ptr
  llvm.store %y, %table : !llvm.ptr, !llvm.ptr
  %q3 = llvm.getelementptr %job[{thread_pool.Job.WORDS}] : (!llvm.ptr) -> !llvm.ptr, i64
  %words = llvm.load %q3 : !llvm.ptr -> !llvm.ptr
  %q4 = llvm.getelementptr %table[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  llvm.store %words, %q4 : !llvm.ptr, !llvm.ptr
  %q5 = llvm.getelementptr %job[{thread_pool.Job.RANGES}] : (!llvm.ptr) -> !llvm.ptr, i64
  %ranges = llvm.load %q5 : !llvm.ptr -> !llvm.ptr
  %add = llvm.mlir.addressof @add : !llvm.ptr
{
    "".join(
        f'''
  %p{i} = llvm.mlir.constant({i} : i64) : i64
  %ni{i} = llvm.getelementptr %ranges[{PHASE * i}] : (!llvm.ptr) -> !llvm.ptr, i64
  %n{i} = llvm.load %ni{i} : !llvm.ptr -> i64
  %mi{i} = llvm.getelementptr %ranges[{PHASE * i + 1}] : (!llvm.ptr) -> !llvm.ptr, i64
  %m{i} = llvm.load %mi{i} : !llvm.ptr -> i64
  %si{i} = llvm.getelementptr %ranges[{PHASE * i + 2}] : (!llvm.ptr) -> !llvm.ptr, i64
  %s{i} = llvm.load %si{i} : !llvm.ptr -> i64
  llvm.call @share(%job, %thread, %run, %p{i}, %n{i}, %m{i}, %s{i}, %add, %table, %p{i})
      : (!llvm.ptr, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64) -> ()'''
        for i in range(PHASES)
    )
}
  llvm.return
}}
"""

TABLE = SizeTable(("T + 7",), ("T", "T//4", 1, "T", "T + 9", 1, "T", "T - 5", 1))


@pytest.fixture(scope="session")
def adding(compile_object: Compile, threads_object: memoryview) -> Package:
    """Return the package of y = 3 (T + 7) for each of T elements, by 3 phases of T iterations."""
    program = compile_object(ADDING, "program", externals=("share",))
    manifest = Manifest(
        version=SYMBOLIC_VERSION,
        producer="test",
        source="adding.onnx",
        target="cpu",
        inputs=(Port("x", ("T",), "int64", 0),),
        outputs=(Port("y", ("T",), "int64", 1),),
        buffers=(
            Buffer("x", FIRST_PORT, 0, ("T",), "int64"),
            Buffer("y", FIRST_PORT + 1, 0, ("T",), "int64"),
        ),
        symbols=(Symbol("T", 0, None, 128),),
        steps=(CpuStep(symbol="program", phases=PHASES, tables=(TABLE,)),),
        memory=Memory(0, 0, 0, thread_bytes="max(64, 8*T)"),
        parts=(CpuPart((Kernel("program", "cpu/program.o"),), (CpuRequirements(),)),),
    )
    return Package.create(manifest, {"cpu/program.o": program, thread_pool.CODE: threads_object})


def result(session: Session, size: int) -> np.ndarray:
    y = np.zeros(size, np.int64)
    session.run({"x": np.zeros(size, np.int64)}, outputs={"y": y})
    return y


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_sizes_may_change_with_each_run(adding: Package, threads: int):
    session = Session(adding, threads=threads)
    sizes = [0, 1, 3, 4, 5, 1000, 37, 100000, 8, 9, 2, 512]  # more than plans are kept
    for size in [*sizes, *sizes[::-1], *sizes]:
        assert (result(session, size) == PHASES * (size + 7)).all()


def test_sessions_of_different_sizes_do_not_disturb_one_another(adding: Package):
    first = Session(adding, threads=4)
    sessions = [first, *(first.clone() for _ in range(3))]
    generators = [np.random.default_rng(i) for i in range(4)]

    def often(session: Session, generator: np.random.Generator) -> bool:
        sizes = generator.integers(0, 3000, 200)
        return all((result(session, size) == PHASES * (size + 7)).all() for size in sizes)

    with ThreadPoolExecutor(len(sessions)) as executor:
        assert all(executor.map(often, sessions, generators))


def changed(package: Package, tables: tuple[SizeTable, ...], phases: int = PHASES) -> Package:
    step = CpuStep(symbol="program", phases=phases, tables=tables)
    return Package.create(dataclasses.replace(package.manifest, steps=(step,)), package.entries)


def test_memory_of_threads_is_known_at_likely_sizes_when_a_package_is_loaded(adding: Package):
    manifest = adding.manifest
    assert manifest.likely_values(manifest.memory.thread_bytes) == 8 * 128


def test_tables_are_in_the_manifest(adding: Package):
    manifest = Manifest.from_json(adding.manifest.to_json())
    assert manifest.steps[0].tables == (TABLE,)


@pytest.mark.parametrize(
    ("tables", "phases", "message"),
    [
        ((TABLE, TABLE), 3, "'steps[0].tables' has 2 tables, must have one for each of 1 machines"),
        ((TABLE,), 2, "'steps[0].tables[0].ranges' has 9 numbers, must have 3 for each"),
        ((SizeTable(("U",), ()),), 3, "'steps[0].tables[0].words[0]' is the size 'U', there is no"),
    ],
)
def test_tables_that_do_not_fit_are_refused(
    adding: Package, tables: tuple[SizeTable, ...], phases: int, message: str
):
    with pytest.raises(PackageError) as error:
        Session(changed(adding, tables, phases))
    assert message in str(error.value)
