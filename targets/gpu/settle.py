"""Compile each kernel with the best setting that its code fits the architecture with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...dialects import tile
from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, ops
from ...dialects.tile.setting import Setting
from ...passes.pipeline import Pipeline
from ..core import Progress
from ..options import CompileOptions
from ..tuning_file import Entry
from .architecture import Architecture
from .choose_blocks import choose_setting, next_setting, settings_of
from .compile import Failure, Job, compile_sources
from .compiled import Compiled
from .pipeline import kernel_passes
from .print_kernel import print_kernel
from .resources import misfit, obstacle, resources
from .source import Source
from .tuning_file import is_for, read_entries

ATTEMPTS = 6
"""How many settings of a kernel are compiled at most until one fits."""


@dataclass(frozen=True)
class KernelCode:
    """Hold a kernel as it was printed and compiled for an architecture, with a setting."""

    setting: Setting
    source: Source
    compiled: Compiled


@dataclass(frozen=True)
class Misfit:
    """Say why a kernel is not taken as it is; with its code, if that would run, only slowly."""

    reason: str
    code: KernelCode | None = None


@dataclass(frozen=True)
class Settled:
    """Hold a kernel with its setting, the same with others to try, and what tuning said of it."""

    chosen: KernelCode
    candidates: tuple[KernelCode, ...] = ()
    entry: Entry[Setting] | None = None


def settle(
    kernels: Sequence[tile.Kernel],
    architecture: Architecture,
    options: CompileOptions,
    progress: Progress,
) -> dict[str, Settled]:
    """Choose settings of kernels and compile them; a setting that does not fit makes way.

    With `options.candidates`, all other settings that fit are compiled too. Raises CompileError
    with all kernels that an architecture does not take.
    """
    file = options.tuning if is_for(options.tuning, architecture.name) else ""
    tuned = read_entries(file, architecture.name)
    by_name = {kernel.sym_name: kernel for kernel in kernels}
    settled = _choose(by_name, tuned, architecture, options, progress)
    others = _others(by_name, settled, architecture, options, progress)
    return {
        name: Settled(chosen, tuple(others.get(name, ())), tuned.get(name))
        for name, chosen in settled.items()
    }


def _choose(
    kernels: Mapping[str, tile.Kernel],
    tuned: Mapping[str, Entry[Setting]],
    architecture: Architecture,
    options: CompileOptions,
    progress: Progress,
) -> dict[str, KernelCode]:
    """Compile kernels with one setting after another, until each fits.

    Of a kernel that spills registers with all of them, the code that spills the least is taken.
    """
    tried: dict[str, list[Setting]] = {
        name: [choose_setting(kernel, architecture, tuned.get(name))]
        for name, kernel in kernels.items()
    }
    misfits: dict[str, list[Misfit]] = {name: [] for name in kernels}
    made: dict[str, KernelCode] = {}
    faults: list[str] = []
    lacking = list(kernels)
    while lacking:
        pairs = [(kernels[name], tried[name][-1]) for name in lacking]
        results = _compile(pairs, architecture, options, progress)
        again: list[str] = []
        for name, result in zip(lacking, results, strict=True):
            if isinstance(result, KernelCode):
                made[name] = result
                continue
            misfits[name].append(result)
            following = next_setting(kernels[name], tried[name], architecture)
            if following is not None and len(tried[name]) < ATTEMPTS:
                tried[name].append(following)
                again.append(name)
            elif slow := _least_spilling(misfits[name], architecture):
                made[name] = slow
            else:
                faults.append(misfits[name][0].reason)
        lacking = again
    if faults:
        raise CompileError([Diagnostic("", fault) for fault in faults])
    return {name: made[name] for name in kernels}


def _least_spilling(misfits: Sequence[Misfit], architecture: Architecture) -> KernelCode | None:
    codes = [each.code for each in misfits if each.code is not None]
    return min(
        codes, key=lambda code: resources(code.compiled, architecture).local_bytes, default=None
    )


def _others(
    kernels: Mapping[str, tile.Kernel],
    settled: Mapping[str, KernelCode],
    architecture: Architecture,
    options: CompileOptions,
    progress: Progress,
) -> dict[str, list[KernelCode]]:
    """Compile kernels with the settings that they might have had instead."""
    if not options.candidates:
        return {}
    pairs = [
        (kernel, setting)
        for name, kernel in kernels.items()
        for setting in settings_of(kernel, architecture)
        if setting != settled[name].setting
    ]
    made: dict[str, list[KernelCode]] = {}
    results = _compile(pairs, architecture, options, progress)
    for (kernel, _), result in zip(pairs, results, strict=True):
        if isinstance(result, KernelCode):
            made.setdefault(kernel.sym_name, []).append(result)
    return made


def _compile(
    pairs: Sequence[tuple[tile.Kernel, Setting]],
    architecture: Architecture,
    options: CompileOptions,
    progress: Progress,
) -> list[KernelCode | Misfit]:
    """Compile kernels with settings; what fails or does not fit is a misfit."""
    sources = [
        fitted_source(kernel, setting, architecture, options.strict_math)
        for kernel, setting in pairs
    ]
    jobs = [
        Job(source, setting.warps, setting.stages, options.strict_math)
        for (_, setting), source in zip(pairs, sources, strict=True)
    ]
    results = compile_sources(jobs, architecture, progress)
    made: list[KernelCode | Misfit] = []
    for (_, setting), source, result in zip(pairs, sources, results, strict=True):
        if isinstance(result, Failure):
            made.append(Misfit(str(result)))
            continue
        code = KernelCode(setting, source, result)
        if reason := misfit(result, architecture):
            told = f"kernel '{source.name}' does not fit {architecture.name}: {reason}"
            made.append(Misfit(told, None if obstacle(result, architecture) else code))
        else:
            made.append(code)
    return made


def fitted_source(
    kernel: tile.Kernel, setting: Setting, architecture: Architecture, strict: bool = False
) -> Source:
    """Print a copy of a kernel that was fitted to a setting; the kernel itself stays."""
    copies = Module(ir.Module.create(ir.Location.unknown(kernel.operation.context)))
    with ir.InsertionPoint(copies.ir.body):
        kernel.operation.clone()
    _only(ops(copies.operation)).use(setting)
    Pipeline(kernel_passes(architecture)).run(copies)
    return print_kernel(_only(ops(copies.operation)), strict)


def _only(found: Iterable[object]) -> tile.Kernel:
    return next(op for op in found if isinstance(op, tile.Kernel))
