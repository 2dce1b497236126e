"""Programs that call kernels: with which addresses, and which are worth several threads."""

import ctypes

import numpy as np
import onnx.parser
import pytest
import trivium
from cpu_kernels import LoweredKernel, build_kernel, object_of
from trivium.dialects.core.machine import host_machine
from trivium.dialects.core.tensor import Array, Tensor
from trivium.runtime.cpu.elf import load_objects
from trivium.runtime.cpu.thread_pool import CODE, Job
from trivium.targets.cpu.emit.compile import CpuCode, compile_segment, compile_threads
from trivium.targets.cpu.emit.segment import KernelCall, segment
from trivium.targets.cpu.emit.threads import GRAIN
from trivium.targets.cpu.kernels.buffer import Buffer
from trivium.targets.cpu.kernels.builder import KernelBuilder
from trivium.targets.cpu.kernels.index import IndexExpr
from trivium.targets.cpu.kernels.kernel_module import Phase
from trivium.targets.program import Place

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
