"""Compile the groups that were placed on the CPU: kernels, then segments that call them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from ....dialects import tri
from ....dialects.core.location import node_names
from ....dialects.core.machine import LEVELS, Machine
from ....dialects.core.mlir import code_context, ir
from ...cache import cached
from ...core import Progress, kernel_progress
from ...options import DEFAULT, Options
from ..kernels.builder import Kernel
from ..lower.group import lower_group, structure
from .segment import KernelCall, Segment, segment
from .threads import threads_text
from .to_llvm import recipe, to_object


@dataclass
class CpuCode:
    """Hold the kernels of a model by group, and all object code by symbol; equal kernels once."""

    machine: Machine
    options: Options = DEFAULT
    kernels: dict[tri.Group, Kernel] = field(default_factory=dict["tri.Group", Kernel])
    objects: dict[str, bytes] = field(default_factory=dict[str, bytes])


def compile_kernels(
    groups: Sequence[tri.Group],
    machine: Machine,
    progress: Progress,
    options: Options = DEFAULT,
) -> CpuCode:
    """Generate and compile the kernel of every group; report each distinct one to `progress`."""
    code = CpuCode(machine, options)
    structures = [structure(group) for group in groups]
    total = len(set(structures))
    lowered: dict[Hashable, Kernel] = {}
    with code_context():
        for group, same in zip(groups, structures, strict=True):
            if same not in lowered:
                progress(kernel_progress(len(lowered) + 1, total, node_names(group.location)))
                lowered[same] = lower_group(group, machine, options)
            kernel = code.kernels[group] = lowered[same]
            if kernel.symbol not in code.objects:
                code.objects[kernel.symbol] = _compile(kernel.text, code)
    return code


def compile_segment(
    code: CpuCode, calls: Sequence[KernelCall], symbol: str | None = None
) -> Segment:
    """Compile one run of kernel calls into `code.objects`, under a symbol if one is given."""
    made = segment(calls, symbol=symbol)
    externals = ["share", *sorted({c.symbol for c in calls})]
    with code_context():
        code.objects[made.symbol] = _compile(made.text, code, externals)
    return made


def compile_threads() -> bytes:
    """Compile the functions of the thread pool: the same object code for all machines."""
    with code_context():
        return _compile(threads_text(), CpuCode(LEVELS[0]))


def _compile(text: str, code: CpuCode, externals: Sequence[str] = ()) -> bytes:
    machine, strict = code.machine, code.options.strict
    source = "\n".join([recipe(machine, strict), text])
    return cached(source, lambda: to_object(ir.Module.parse(text), machine, strict, externals))


def object_entries(objects: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    """Name object code as entries of a package."""
    return {f"{folder}{symbol}.o": data for symbol, data in objects.items()}
