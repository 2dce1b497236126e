"""Time each distinct kernel of a model alone."""

from dataclasses import dataclass, replace

from ...compiler.sizes.free import need_static
from ...compiler.source import import_model
from ...compiler.stages import pipeline_for
from ...compiler.support_report import strict_hooks
from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import new_context
from ...dialects.core.module import ops
from ...dialects.core.tensor import Tensor
from ...runtime.cpu.elf import NativeLibrary, load_objects
from ...targets.costs.work import Work
from ...targets.cpu.emit.compile import CpuCode, compile_kernels
from ...targets.cpu.schedule.run_kernel import allocate_buffers, bind
from ...targets.cpu.schedule.tune import Tuner
from ...targets.options import DEFAULT, CompileOptions
from ...targets.program.load_calls import load_groups
from .stopwatch import least_time


@dataclass(frozen=True)
class KernelTime:
    """Hold what a kernel does and how long one call takes."""

    symbol: str
    work: Work
    tensors: tuple[Tensor, ...]
    seconds: float
    calls: int = 1

    @property
    def total(self) -> float:
        """Return the seconds of all calls in one run of the model."""
        return self.seconds * self.calls


def time_kernels(path: str, options: CompileOptions = DEFAULT) -> tuple[list[KernelTime], int]:
    """Compile a model and time the native kernels of a run; return how many groups are not native.

    CompileOptions and errors are those of `compile`.
    """
    best = options.machines[0]
    with new_context():
        module = import_model(path, options)
        need_static(module)
        tuner = Tuner(options, best, options.report)
        hooks = (tuner, *strict_hooks(options.strict, module, options.target))
        pipeline_for(options.target, options.opt_level, options).run(module, *hooks)
        loaded = load_groups(module)
        found = [op for op in ops(module.operation) if isinstance(op, tri.Group)]
        groups = [group for group in found if group not in loaded]
        native = [group for group in groups if group.target == "cpu"]
        code = compile_kernels(native, best, options)
        return _time_all(native, code), len(groups) - len(native)


def _time_all(groups: list[tri.Group], code: CpuCode) -> list[KernelTime]:
    library = load_objects({name: memoryview(data) for name, data in code.objects.items()})
    times: dict[str, KernelTime] = {}
    for group in groups:
        symbol = code.kernels[group].symbol
        if symbol in times:
            times[symbol] = replace(times[symbol], calls=times[symbol].calls + 1)
        else:
            times[symbol] = _time(group, code, library)
    return sorted(times.values(), key=lambda k: (-k.total, k.symbol))


def _time(group: tri.Group, code: CpuCode, library: NativeLibrary) -> KernelTime:
    kernel = code.kernels[group]
    inputs = [tensor_of(v.type) for v in group.operation.operands]
    outputs = [tensor_of(v.type) for v in group.results]
    arrays = allocate_buffers([*inputs, *outputs, *(s.tensor for s in kernel.scratch)])
    seconds = least_time(bind(kernel, library, arrays))
    return KernelTime(kernel.symbol, Work.of(group), (*inputs, *outputs), seconds)
