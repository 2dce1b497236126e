"""Native code of a model: kernels for one or several machines, and programs that call them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ....dialects import tri
from ....dialects.core.location import node_names
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, ops
from ....dialects.core.op import Op
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.dim import highest
from ....runtime.cpu.code import CpuRequirements, Kernel
from ....runtime.cpu.part import CpuPart
from ....runtime.cpu.step import CpuStep, SizeTable
from ....runtime.cpu.thread_pool import CODE as THREADS
from ....runtime.observe.calls import CALLS, CallScratch, StepCalls, listed_calls
from ....runtime.observe.calls import Call as ListedCall
from ...choices import OBJECT
from ...compiled import Buffers, CompiledPart
from ...core import Progress
from ...costs.work import Work
from ...options import CompileOptions
from ...program.calls import Call, NumberedCall
from ...program.found_arenas import stage_of
from ...program.program import Program, own_bytes
from ...written import written
from ..layout.describe import describe_layouts
from .call_table import KernelCall
from .compile import CpuCode, code_entries, compile_kernels, compile_segment
from .concurrent_calls import concurrent_counts, order_concurrent
from .form import compile_threads, form_of
from .variants import merge_scratch, own_pieces


def compile_native(module: Module, options: CompileOptions) -> "NativeCode":
    """Compile the groups on the CPU for each of the machines of `options`, the best one first."""
    groups = [op for op in ops(module.operation) if isinstance(op, tri.Group)]
    native = [group for group in groups if group.target == "cpu"]
    codes: list[CpuCode] = []
    for machine in options.machines:
        of_several = f" for {machine.name}" if len(options.machines) > 1 else ""
        progress = _suffixed(options.report, of_several)
        codes.append(compile_kernels(native, machine, replace(options, progress=progress)))
    alone = options.form != OBJECT or options.settings.threads == 1
    return NativeCode(module, codes, {} if alone else order_concurrent(module, codes[0].kernels))


def _suffixed(progress: Progress, end: str) -> Progress:
    return lambda line: progress(f"{line}{end}")


class NativeCode(CompiledPart):
    """Hold the code for each machine; all of them make the same calls in the same memory.

    `concurrent` has the sets of those that are made at the same time.
    """

    def __init__(
        self, module: Module, codes: Sequence[CpuCode], concurrent: Mapping[Op, int]
    ) -> None:
        self.module = module
        self.codes = codes
        self._concurrent = concurrent
        self._listed: list[StepCalls] = []

    def call(self, op: Op) -> Call:
        assert isinstance(op, tri.Group)
        call = Call.of(op, list(merge_scratch(self._needs(op)).values()))
        return replace(call, concurrent=self._concurrent.get(op, 0))

    def _needs(self, group: tri.Group):
        return [code.kernels[group].scratch for code in self.codes]

    def steps(self, calls: Sequence[NumberedCall], buffers: Buffers) -> list[CpuStep]:
        for _, call in calls:
            for value in (*call.operands, *call.results):
                buffers.number(value)
        nodes = [n for _, call in calls for n in node_names(call.op.location)]
        symbol, phases = None, 0
        described = tuple(self._described(call, buffers) for call in calls)
        counts = concurrent_counts(calls)
        tables: list[SizeTable] = []
        for code in self.codes:
            made = [self._kernel_call(code, call, buffers, counts) for call in calls]
            segment = compile_segment(code, made, symbol)
            symbol, phases = segment.symbol, max(phases, segment.phases)
            tables.append(SizeTable(written(segment.words), written(segment.ranges)))
        listed = StepCalls(symbol or "", tuple(dict.fromkeys(nodes)), described, True)
        self._listed.append(listed)
        return [
            CpuStep(
                symbol=listed.symbol,
                nodes=listed.nodes,
                phases=phases,
                tables=tuple(tables) if any(table.words for table in tables) else (),
                thread_bytes=written(_late_bytes(calls, buffers.program)),
            )
        ]

    def _described(self, numbered: NumberedCall, buffers: Buffers) -> ListedCall:
        """Describe a call for whoever looks into runs; its kernel is that of the first machine."""
        number, call = numbered
        assert isinstance(call.op, tri.Group)
        pairs = zip(call.scratch, buffers.program.scratch[number], strict=True)
        work = Work.of(call.op)
        return ListedCall(
            self.codes[0].kernels[call.op].symbol,
            node_names(call.op.location),
            work.ops,
            tuple(map(buffers.number, call.operands)),
            tuple(map(buffers.number, call.results)),
            work.flops,
            work.moved_bytes,
            work.multiplies,
            tuple(
                CallScratch(place.base, *written((place.offset, each.tensor.size_bytes)))
                for each, place in pairs
            ),
        )

    def _kernel_call(
        self, code: CpuCode, numbered: NumberedCall, buffers: Buffers, counts: Mapping[int, int]
    ) -> KernelCall:
        """Call the kernel that a machine has for a call, in the memory that all of them share.

        `counts` are those of concurrent calls, by the number of the first.
        """
        number, call = numbered
        assert isinstance(call.op, tri.Group)
        kernel, program = code.kernels[call.op], buffers.program
        merged = merge_scratch(self._needs(call.op))
        scratch = dict(zip(merged, program.scratch[number], strict=True))
        values = (*call.operands, *call.results)
        places = [*(program.place(v) for v in values), *own_pieces(kernel.scratch, scratch)]
        record, count = code.records[call.op], counts.get(number, 1)
        return KernelCall(kernel.symbol, tuple(places), kernel.phases, record, count)

    def layouts(self) -> Mapping[ir.Value, str]:
        return describe_layouts(self.module)

    def entries(self) -> dict[str, bytes]:
        made: dict[str, bytes] = {}
        for code in self.codes:
            made |= code_entries(code, _requirements(code).folder)
        if self.codes[0].objects and self.codes[0].options.form == OBJECT:
            made[THREADS] = compile_threads()
            made[CALLS] = listed_calls(self._listed)
        return made

    def part(self, program: Program) -> CpuPart | None:
        kernels = _kernels(self.codes[0], program)
        return CpuPart(kernels, tuple(map(_requirements, self.codes))) if kernels else None


def _late_bytes(calls: Sequence[NumberedCall], program: Program) -> Size:
    """Return what calls need of the memory of a thread, of what is known in the middle of a run."""
    needed = (own_bytes(call) for _, call in calls)
    return highest(0, *(size for size in needed if stage_of(size, program.found)))


def _requirements(code: CpuCode) -> CpuRequirements:
    machine = code.machine
    return CpuRequirements(machine.architecture, machine.features, machine.name)


def _kernels(code: CpuCode, program: Program) -> tuple[Kernel, ...]:
    loaded = {call.op for call in program.calls[: program.load_count]}
    calls = Counter((kernel.symbol, group in loaded) for group, kernel in code.kernels.items())
    described: dict[str, Kernel] = {}
    for group, kernel in code.kernels.items():
        members = [op.op_name for op in group.members]
        described.setdefault(
            kernel.symbol,
            Kernel(
                kernel.symbol,
                f"{_requirements(code).folder}{kernel.symbol}{form_of(code.options).suffix}",
                node_names(group.location),
                tuple(name for name in members if name != tri.Constant.op_name),
                calls[kernel.symbol, False],
                calls[kernel.symbol, True],
            ),
        )
    return tuple(described.values())
