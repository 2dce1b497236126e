"""Compile each kernel with the best setting that its code fits the architecture with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....dialects import tile
from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.tile.setting import Setting
from ....dialects.tile.types import FLOAT8
from ....passes.core import Pass
from ....passes.instrumentation import Begun
from ....passes.pipeline import Instrumentation, Pipeline
from ...options import CompileOptions
from ...tuning_file import Entry
from ..schedule.architecture import Architecture
from ..schedule.choose_blocks import choose_setting, next_setting, settings_of
from ..schedule.tuning_file import is_for, read_entries
from .compile_sources import Failure, Job, compile_sources
from .compiled import Compiled
from .drop_bounds import DropBounds
from .print_kernel import print_kernel
from .resources import exceeded_limit, rejection, resources
from .simplify_indices import SimplifyIndices
from .source import Source
from .use_descriptors import UseDescriptors
from .widen_float8 import WidenFloat8

KERNEL_PASSES = (SimplifyIndices(), UseDescriptors(), DropBounds())
"""The passes on a kernel that is fitted to an architecture with descriptors."""

ATTEMPTS = 6
"""The most settings of a kernel to compile until one fits."""


@dataclass(frozen=True)
class KernelCode:
    """A kernel printed and compiled for an architecture with one setting."""

    setting: Setting
    source: Source
    compiled: Compiled


@dataclass(frozen=True)
class Rejected:
    """A kernel that was rejected: the reason, and its code if it would run, but slowly."""

    reason: str
    code: KernelCode | None = None


@dataclass(frozen=True)
class CompiledKernel:
    """A compiled kernel: its chosen setting, candidates to measure, its entry in a tuning file."""

    chosen: KernelCode
    candidates: tuple[KernelCode, ...] = ()
    entry: Entry[Setting] | None = None


def compile_kernels(
    kernels: Sequence[tile.Kernel],
    architecture: Architecture,
    options: CompileOptions,
) -> dict[str, CompiledKernel]:
    """Choose a setting for each kernel and compile it, and the next one if it is rejected.

    With `options.candidates`, all other settings that fit are compiled too. Raises CompileError
    that lists all kernels that an architecture rejects.
    """
    file = options.tuning if is_for(options.tuning, architecture.name) else ""
    tuned = read_entries(file, architecture.name)
    by_name = {kernel.sym_name: kernel for kernel in kernels}
    compiler = _Compiler(architecture, options)
    compiled = compiler.choose(by_name, tuned)
    others = compiler.others(by_name, compiled) if options.candidates else {}
    return {
        name: CompiledKernel(chosen, tuple(others.get(name, ())), tuned.get(name))
        for name, chosen in compiled.items()
    }


@dataclass(frozen=True)
class _Compiler:
    """Compile kernels for one architecture."""

    architecture: Architecture
    options: CompileOptions

    def choose(
        self, kernels: Mapping[str, tile.Kernel], tuned: Mapping[str, Entry[Setting]]
    ) -> dict[str, KernelCode]:
        """Compile kernels with one setting after another until each is accepted.

        If all settings of a kernel spill registers, the code that spills the least is chosen.
        """
        tried: dict[str, list[Setting]] = {
            name: [choose_setting(kernel, self.architecture, tuned.get(name))]
            for name, kernel in kernels.items()
        }
        rejected: dict[str, list[Rejected]] = {name: [] for name in kernels}
        made: dict[str, KernelCode] = {}
        faults: list[str] = []
        lacking = list(kernels)
        while lacking:
            pairs = [(kernels[name], tried[name][-1]) for name in lacking]
            results = self._compile(pairs)
            again: list[str] = []
            for name, result in zip(lacking, results, strict=True):
                if isinstance(result, KernelCode):
                    made[name] = result
                    continue
                rejected[name].append(result)
                following = next_setting(kernels[name], tried[name], self.architecture)
                if following is not None and len(tried[name]) < ATTEMPTS:
                    tried[name].append(following)
                    again.append(name)
                elif slow := _least_spilling(rejected[name], self.architecture):
                    made[name] = slow
                else:
                    faults.append(rejected[name][0].reason)
            lacking = again
        if faults:
            raise CompileError([Diagnostic("", fault) for fault in faults])
        return {name: made[name] for name in kernels}

    def others(
        self, kernels: Mapping[str, tile.Kernel], compiled: Mapping[str, KernelCode]
    ) -> dict[str, list[KernelCode]]:
        """Compile kernels with their other settings."""
        pairs = [
            (kernel, setting)
            for name, kernel in kernels.items()
            for setting in settings_of(kernel, self.architecture)
            if setting != compiled[name].setting
        ]
        made: dict[str, list[KernelCode]] = {}
        results = self._compile(pairs)
        for (kernel, _), result in zip(pairs, results, strict=True):
            if isinstance(result, KernelCode):
                made.setdefault(kernel.sym_name, []).append(result)
        return made

    def _compile(
        self,
        pairs: Sequence[tuple[tile.Kernel, Setting]],
    ) -> list[KernelCode | Rejected]:
        """Compile kernels with settings; a failure or a kernel that does not fit is `Rejected`."""
        strict = self.options.strict_math
        hooks = list(map(Begun, self.options.hooks))
        sources = [
            fitted_source(kernel, setting, self.architecture, strict, hooks)
            for kernel, setting in pairs
        ]
        jobs = [
            Job(source, setting.warps, setting.stages, strict)
            for (_, setting), source in zip(pairs, sources, strict=True)
        ]
        results = compile_sources(jobs, self.architecture, self.options.report)
        made: list[KernelCode | Rejected] = []
        for (_, setting), source, result in zip(pairs, sources, results, strict=True):
            if isinstance(result, Failure):
                made.append(Rejected(str(result)))
                continue
            code = KernelCode(setting, source, result)
            if reason := rejection(result, self.architecture):
                told = f"kernel '{source.name}' does not fit {self.architecture.name}: {reason}"
                slow = None if exceeded_limit(result, self.architecture) else code
                made.append(Rejected(told, slow))
            else:
                made.append(code)
        return made


def _least_spilling(rejected: Sequence[Rejected], architecture: Architecture) -> KernelCode | None:
    codes = [each.code for each in rejected if each.code is not None]
    return min(
        codes, key=lambda code: resources(code.compiled, architecture).local_bytes, default=None
    )


def kernel_passes(architecture: Architecture, strict: bool = False) -> tuple[Pass, ...]:
    """Return the passes that fit kernels to an architecture and to their settings.

    With `strict`, floats of 8 bits are multiplied as f16: their units sum with fewer bits than f32.
    """
    skipped = () if architecture.descriptors else (UseDescriptors,)
    widens = strict or not set(FLOAT8) <= set(architecture.products)
    kept = (each for each in KERNEL_PASSES if not isinstance(each, skipped))
    return (*([WidenFloat8()] if widens else []), *kept)


def fitted_source(
    kernel: tile.Kernel,
    setting: Setting,
    architecture: Architecture,
    strict: bool = False,
    hooks: Sequence[Instrumentation] = (),
) -> Source:
    """Print a copy of a kernel that is fitted to a setting; the kernel itself is unchanged."""
    copies = Module(ir.Module.create(ir.Location.unknown(kernel.operation.context)))
    with ir.InsertionPoint(copies.ir.body):
        kernel.operation.clone()
    (copy,) = tile.kernels_of(copies.operation)
    copy.use(setting)
    Pipeline(kernel_passes(architecture, strict)).run(copies, *hooks)
    return print_kernel(copy, strict)
