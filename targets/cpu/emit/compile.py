"""Compile the groups that were placed on the CPU: kernels, then segments that call them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from ....dialects import tri
from ....dialects.core.location import node_names
from ....dialects.core.machine import Machine
from ....dialects.core.module import Module, ops
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.symbol_table import symbol_table
from ....dialects.core.verification import Verify
from ....passes.instrumentation import Begun
from ....passes.pipeline import Instrumentation
from ...cache import cached
from ...core import kernel_progress
from ...forks import map_forked, map_here
from ...options import DEFAULT, CompileOptions
from ..kernels.kernel_module import Kernel, kernel_modules, record_of
from ..lower.group import structure
from ..lower.to_kernels import LowerToKernels
from .bind_kernel import bind_kernel
from .call_table import KernelCall
from .form import form_of
from .kernel_cache import CompiledKernel, recall_kernel, remember_kernel, source_of
from .kernel_pipeline import kernel_pipeline, module_of
from .segment import Segment
from .undecided import take_lowered


@dataclass
class CpuCode:
    """Hold the kernels of a model by group, and all object code by symbol; equal kernels once.

    Sizes of the kernels are expressions of the model's symbols, and so are the words of the
    records of those that have one.
    """

    machine: Machine
    options: CompileOptions = DEFAULT
    kernels: dict[tri.Group, Kernel] = field(default_factory=dict["tri.Group", Kernel])
    objects: dict[str, bytes] = field(default_factory=dict[str, bytes])
    records: dict[tri.Group, tuple[Size, ...]] = field(
        default_factory=dict["tri.Group", tuple[Size, ...]]
    )


def compile_kernels(
    groups: Sequence[tri.Group],
    machine: Machine,
    options: CompileOptions = DEFAULT,
) -> CpuCode:
    """Generate and compile the kernel of every group; report each distinct one to `options`.

    With hooks, nothing comes from the cache, and all passes run in this process.
    """
    structures = [structure(group) for group in groups]
    distinct = dict(zip(reversed(structures), reversed(groups), strict=True))
    compiler = form_of(options).recipe(machine, options.strict_math)
    lower = LowerToKernels(machine.name, options.strict_math)
    jobs = [
        _Job(group, source_of(group, same, compiler), machine, options, take_lowered(same, lower))
        for same, group in distinct.items()
    ]
    compiled = dict(zip(distinct, _compile_all(jobs, options), strict=True))
    code = CpuCode(machine, options)
    for group, same in zip(groups, structures, strict=True):
        made = compiled[same]
        table = symbol_table(group.operation.context)
        record = tuple(map(table.parse, made.record))
        code.kernels[group] = bind_kernel(made.kernel, record)
        code.records[group] = record
        code.objects[made.kernel.symbol] = made.code
    return code


@dataclass(frozen=True)
class _Job:
    """A group, and the source of its compiled kernel in the cache.

    `lowered` is a module with an equal group and its kernel, if the group was tried.
    """

    group: tri.Group
    source: str
    machine: Machine
    options: CompileOptions
    lowered: Module | None

    @property
    def hooks(self) -> list[Instrumentation]:
        return list(map(Begun, self.options.hooks))

    @property
    def weight(self) -> int:
        """Estimate how long the job takes, in any unit: products take longer than the rest."""
        operands = (len(op.operation.operands) for op in ops(self.group.block) if op.anchor)
        return max(operands, default=0)

    def run(self) -> bytes:
        """Lower the group and compile its kernel, unless an equal one was compiled before."""
        module = None if self.hooks else self.lowered
        module = module or module_of(self.group)
        lowering = kernel_pipeline(self.machine, self.options.strict_math)
        lowering.run(module, *self.hooks, verify=Verify.NONE)
        (lowered,) = kernel_modules(module)
        kernel = lowered.kernel
        form = form_of(self.options)
        recipe = form.recipe(self.machine, self.options.strict_math)
        source = "\n".join([recipe, kernel.symbol])
        generate = partial(form.kernel, module, self.machine, self.options, self.hooks)
        code = generate() if self.hooks else cached(source, generate)
        (group,) = (op for op in ops(module.main) if isinstance(op, tri.Group))
        record = tuple(map(str, record_of(group.operation)))
        made = CompiledKernel(kernel, code, record).to_bytes()
        remember_kernel(self.source, made)
        return made


def _compile_all(jobs: Sequence[_Job], options: CompileOptions) -> list[CompiledKernel]:
    """Compile the kernels that are not in the cache, those that take longest first."""
    observed = bool(options.hooks)
    order = sorted(range(len(jobs)), key=lambda number: -jobs[number].weight)
    recalled = {n: None if observed else recall_kernel(job.source) for n, job in enumerate(jobs)}
    missing = [number for number in order if recalled[number] is None]
    announced = iter(enumerate(order, 1))

    def announce(last: int | None) -> None:
        """Report all kernels up to one, which is the next to be compiled, or all."""
        for position, number in announced:
            names = node_names(jobs[number].group.location)
            options.report(kernel_progress(position, len(order), names))
            if number == last:
                return

    def run(index: int) -> bytes:
        return jobs[missing[index]].run()

    share = map_here if observed else map_forked
    made = share(run, len(missing), lambda index: announce(missing[index]))
    announce(None)
    found = {number: data for number, data in recalled.items() if data is not None}
    found |= dict(zip(missing, made, strict=True))
    return [CompiledKernel.from_bytes(found[number]) for number in range(len(jobs))]


def compile_segment(
    code: CpuCode, calls: Sequence[KernelCall], symbol: str | None = None
) -> Segment:
    """Compile one run of kernel calls into `code.objects`, under a symbol if one is given."""
    made, data = form_of(code.options).segment(calls, code.machine, code.options, symbol)
    code.objects[made.symbol] = data
    return made


def code_entries(code: CpuCode, folder: str) -> dict[str, bytes]:
    """Return the code of a machine as entries of a package, in a folder."""
    suffix = form_of(code.options).suffix
    return {f"{folder}{symbol}{suffix}": data for symbol, data in code.objects.items()}
