"""Measure the cost for threads of sharing a phase of a kernel, by empty phases."""

import time
from statistics import median

from ...dialects.core.machine import Machine
from ...dialects.core.mlir import code_context, ir
from ...runtime.contents import Memory
from ...runtime.cpu.code import CpuRequirements
from ...runtime.cpu.part import CpuPart
from ...runtime.cpu.step import CpuStep
from ...runtime.cpu.thread_pool import CODE
from ...runtime.manifest import Manifest
from ...runtime.package import Package
from ...runtime.session import Session
from ...targets.cpu.emit.call_table import KernelCall
from ...targets.cpu.emit.form import compile_threads
from ...targets.cpu.emit.segment import segment
from ...targets.cpu.emit.share_phases import CHUNKS
from ...targets.cpu.emit.to_llvm import to_object
from ...targets.cpu.kernels.kernel_module import Phase

_PHASES = 1000
_RUNS = 200

_NOTHING = """
func.func @nothing(%phase: index, %begin: index, %end: index) {
  return
}"""


def measure_dispatch(machine: Machine, threads: int = 2) -> float:
    """Return the seconds that a phase takes, of as many chunks as threads get, all of them empty.

    That is the median over runs of many phases, on the wall clock.
    """
    session = Session(_package(machine, CHUNKS * threads), threads=threads)
    times: list[float] = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        session.run({})
        times.append((time.perf_counter() - start) / _PHASES)
    return median(times)


def _package(machine: Machine, chunks: int) -> Package:
    phases = (Phase(chunks, chunks),) * _PHASES
    program = segment([KernelCall("nothing", (), phases)], grain=1)
    with code_context():
        kernel = to_object(ir.Module.parse(_NOTHING), machine)
        calls = to_object(ir.Module.parse(program.text), machine, externals=["share", "nothing"])
    manifest = Manifest(
        producer="trivium bench",
        source="",
        target="cpu",
        inputs=(),
        outputs=(),
        buffers=(),
        steps=(CpuStep(symbol=program.symbol, phases=program.phases),),
        memory=Memory(0, 0, 0),
        parts=(CpuPart(machines=(CpuRequirements(),)),),
    )
    entries = {"cpu/nothing.o": kernel, "cpu/program.o": calls, CODE: compile_threads()}
    return Package.create(manifest, entries)
