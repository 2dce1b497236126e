"""Programs that call kernels: with which addresses, and which are worth several threads."""

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import onnx.parser
import pytest
import trivium
from cpu_kernels import LoweredKernel, build_kernel, object_of
from trivium.dialects.core.machine import host_machine
from trivium.dialects.core.mlir import code_context, ir
from trivium.dialects.core.sizes.atoms import is_symbolic
from trivium.dialects.core.sizes.dim import symbol
from trivium.dialects.core.sizes.substitution import evaluate
from trivium.dialects.core.sizes.symbols import Range
from trivium.dialects.core.tensor import Array, Tensor
from trivium.runtime.cpu.elf import load_objects
from trivium.runtime.cpu.thread_pool import CODE, Job, ParallelProgram, pool_of
from trivium.runtime.memory import Bases
from trivium.targets.cpu.emit.call_table import KernelCall
from trivium.targets.cpu.emit.compile import CpuCode, compile_segment
from trivium.targets.cpu.emit.form import compile_threads
from trivium.targets.cpu.emit.segment import Segment, segment
from trivium.targets.cpu.emit.share_phases import GRAIN
from trivium.targets.cpu.emit.to_llvm import to_object
from trivium.targets.cpu.kernels.buffer import Buffer
from trivium.targets.cpu.kernels.builder import KernelBuilder
from trivium.targets.cpu.kernels.index import IndexExpr
from trivium.targets.cpu.kernels.kernel_module import Phase
from trivium.targets.program.program import Place

SOURCE, TARGET = 0, 1
OFFSETS = [0, 2**31 - 64, 2**31, 2**32 - 64, 2**32 + 64]
SIZE = max(OFFSETS) + 64

SMALL, ONE_ITERATION = Phase(1000, 2 * GRAIN - 1), Phase(1, 100 * GRAIN)
LARGE = Phase(2, 2 * GRAIN)


def copy_byte() -> LoweredKernel:
    def body(kernel: KernelBuilder, x: Buffer, y: Buffer) -> None:
        y.store(x.load([IndexExpr(0)]), [IndexExpr(0)])

    return build_kernel(host_machine(), [Tensor((1,), "i8")] * 2, body)


def run_segment(source: Place, target: Place, bases: list[Array], own: Array, thread: int) -> None:
    """Copy a byte from one place to another, on a thread that is the only one."""
    kernel, code = copy_byte(), CpuCode(host_machine())
    made = object_of([kernel], host_machine())
    program = compile_segment(code, [KernelCall(kernel.symbol, (source, target), kernel.phases)])
    objects = {"kernel": made, CODE: compile_threads(), **code.objects}
    library = load_objects({name: memoryview(data) for name, data in objects.items()})
    pointers = np.array([base.ctypes.data for base in bases], np.int64)
    job = np.zeros(Job.COUNTERS + len(kernel.phases) * Job.PHASE_WORDS, np.int64)
    job[Job.BASES], job[Job.THREADS] = pointers.ctypes.data, 2
    job[Job.OWN], job[Job.OWN_BYTES] = own.ctypes.data, own.size
    types = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    call = ctypes.CFUNCTYPE(None, *types)(library.address(program.symbol))
    call(job.ctypes.data, thread, 1)


@pytest.mark.parametrize("offset", OFFSETS)
def test_offsets_have_64_bits(offset: int) -> None:
    base, result = np.zeros(SIZE, np.uint8), np.zeros(64, np.uint8)  # pages come as they are used
    base[offset] = 7
    run_segment(Place(SOURCE, offset), Place(TARGET, 0), [base, result], np.zeros(64), 0)
    assert result[0] == 7


@pytest.mark.parametrize("offset", OFFSETS)
def test_offsets_in_the_memory_of_a_thread_have_64_bits(offset: int) -> None:
    base, own = np.full(64, 7, np.uint8), np.zeros(SIZE, np.uint8)
    run_segment(Place(SOURCE, 0), Place(TARGET, 0, own=offset), [base, base.copy()], own, 1)
    assert own[offset] == 7


@pytest.mark.parametrize("phases", [(), (SMALL,), (ONE_ITERATION, SMALL)])
def test_a_program_without_work_for_two_threads_has_no_phases(phases: tuple[Phase, ...]) -> None:
    assert segment([KernelCall("k", (), phases)] * 3).phases == 0


def test_every_phase_counts_where_one_has_work_for_two_threads() -> None:
    calls = [KernelCall("k", (), (SMALL, ONE_ITERATION)), KernelCall("l", (), (LARGE,))]
    assert segment(calls).phases == 3


SYMBOLIC = """
llvm.func @k(%phase: i64, %begin: i64, %end: i64, %x: !llvm.ptr, %y: !llvm.ptr, %r: !llvm.ptr) {
  %one = llvm.mlir.constant(1 : i64) : i64
  %factor = llvm.load %r : !llvm.ptr -> i64
  %q = llvm.getelementptr %r[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %start = llvm.load %q : !llvm.ptr -> i64
  llvm.br ^next(%begin : i64)
^next(%i: i64):
  %more = llvm.icmp "slt" %i, %end : i64
  llvm.cond_br %more, ^do, ^stop
^do:
  %px = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %py = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %a = llvm.load %px : !llvm.ptr -> i64
  %b = llvm.load %py : !llvm.ptr -> i64
  %c = llvm.mul %a, %factor : i64
  %d = llvm.add %c, %start : i64
  %e = llvm.add %b, %d : i64
  llvm.store %e, %py : i64, !llvm.ptr
  %j = llvm.add %i, %one : i64
  llvm.br ^next(%j : i64)
^stop:
  llvm.return
}
"""
"""Phase p adds factor * x + start to y, element by element; the record is factor and start."""

T = symbol("T", Range(1, 512, likely=128))


def symbolic_program() -> tuple[Segment, dict[str, memoryview]]:
    """Add T * x + T + 1 to y twice, then x + T to z in one phase."""
    x, y, z = Place(0, 8 * T), Place(1, 0), Place(1, 8 * T)
    shared = Phase(T, 2 * GRAIN * T)
    calls = [
        KernelCall("k", (x, y), (shared, shared), (T, T + 1)),
        KernelCall("k", (x, z), (Phase(T, T),), (1, T)),
    ]
    code = CpuCode(host_machine())
    program = compile_segment(code, calls)
    with code_context():
        kernel = to_object(ir.Module.parse(SYMBOLIC), host_machine())
    threads = compile_threads()
    objects = {"k": kernel, CODE: threads, **code.objects}
    return program, {name: memoryview(data) for name, data in objects.items()}


def test_a_program_with_symbols_reads_its_sizes_from_the_job() -> None:
    """Programs of two sizes run in turns, on the threads that run both, and in two sessions."""
    program, objects = symbolic_program()
    library, pool = load_objects(objects), pool_of(objects[CODE])

    def job(size: int, threads: int) -> Callable[[], None]:
        x = np.arange(2 * size)
        y = np.zeros(2 * size, np.int64)
        pointers = np.array([x.ctypes.data, y.ctypes.data])
        memory: Any = {"address": pointers.ctypes.data, "memory_of_threads": np.zeros}
        bases = cast("Bases", SimpleNamespace(**memory, kept=pointers))
        words = (*program.words, *program.ranges)
        numbers = np.array([evaluate(word, {"T": size}) for word in words], np.int64)
        work = (library.address(program.symbol), program.phases, 0, threads)
        run = ParallelProgram(library, bases, pool, *work, numbers, len(program.words)).run

        def check() -> None:
            y[:] = 0
            run()
            last = x[size:]
            assert (y[:size] == 2 * (size * last + size + 1)).all()
            assert (y[size:] == last + size).all()

        return check

    def often(threads: int) -> bool:
        jobs = [job(size, threads) for size in (1, 7, 512, 100)]
        for number in range(400):
            jobs[number % 4]()
        return True

    with ThreadPoolExecutor(4) as executor:
        assert all(executor.map(often, (1, 2, 3, 3)))


def test_equal_records_of_a_program_are_stored_once() -> None:
    calls = [KernelCall("k", (Place(0, 0),), (), record) for record in [(T, 3), (T + 1, 3)] * 2]
    words = segment(calls).words
    assert [size for size in words if is_symbolic(size)] == [T, T + 1]
    assert len(words) == 4 * (4 + 2 * 3) + 4


def test_work_that_depends_on_symbols_may_suit_two_threads() -> None:
    calls = [KernelCall("k", (), (Phase(T, T),)), KernelCall("k", (), (SMALL,))]
    made = segment(calls)
    assert made.phases == 0
    assert made.ranges == (T, 1, 1, 1000, 1, 1)
    large = segment([KernelCall("k", (), (Phase(T, GRAIN * T),))])
    assert large.phases == 1
    assert large.ranges == (T, T, 1)


def test_programs_with_symbols_differ_by_their_tables() -> None:
    first, second, same = (segment([KernelCall("k", (), (), (size,))]) for size in (T, T + 1, T))
    assert first.symbol == same.symbol != second.symbol


def test_more_calls_make_a_longer_table_and_no_more_code() -> None:
    calls = [KernelCall("k", (Place(SOURCE, 64 * i),), (LARGE,)) for i in range(100)]
    few, many = (segment(each).text.splitlines() for each in (calls[:2], calls))
    assert len(few) == len(many)


def test_a_small_model_runs_alone_and_a_large_one_does_not() -> None:
    for rows, alone in ((2, True), (4096, False)):
        model = onnx.parser.parse_model(
            f"""<ir_version: 10, opset_import: ["" : 21]>
            g (float[{rows}, 64] x) => (float[{rows}, 64] y) {{ y = Neg (x) }}"""
        )
        session = trivium.compile(model, threads=2)
        (step,) = session.manifest.steps
        assert (step.phases == 0) == alone
        x = np.random.default_rng(0).normal(size=(rows, 64)).astype(np.float32)
        np.testing.assert_array_equal(session.run({"x": x})["y"], -x)
