"""Compile the kernels of a module for an architecture, each with a setting that fits there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...dialects import tile
from ...dialects.core.errors import CompileError
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, ops
from ...dialects.tile.setting import Setting
from ...passes.pipeline import Pipeline
from ..core import Progress
from ..options import Options
from .architecture import Architecture
from .choose_blocks import choose_setting, next_setting, settings_of
from .compile import Failure, Job, compile_sources
from .compiled import Compiled
from .pipeline import setting_passes
from .print_kernel import print_kernel
from .resources import misfit
from .source import Source
from .tuning_file import is_for, read_entries

Wanted = Sequence[tuple[str, Setting]]
"""Names of kernels, and the settings to compile them with."""


@dataclass(frozen=True)
class KernelCode:
    """Hold a kernel as it was printed and compiled with a setting, for an architecture."""

    setting: Setting
    source: Source
    compiled: Compiled


@dataclass(frozen=True)
class ArchitectureCode:
    """Hold the kernels for an architecture by name, and with other settings for tuning."""

    kernels: Mapping[str, KernelCode]
    candidates: Sequence[tuple[str, KernelCode]] = ()


class KernelCompiler:
    """Compile the kernels of a module for one architecture."""

    def __init__(
        self, module: Module, architecture: Architecture, options: Options, progress: Progress
    ) -> None:
        self.architecture, self.options, self.progress = architecture, options, progress
        kernels = [op for op in ops(module.operation) if isinstance(op, tile.Kernel)]
        self.kernels = {kernel.sym_name: kernel for kernel in kernels}

    def compile(self) -> ArchitectureCode:
        """Compile every kernel with its best setting; raise CompileError for those that none fits.

        A setting whose code does not fit, whatever was expected of it, gives way to the next one.
        """
        made: dict[str, KernelCode] = {}
        tried: dict[str, list[Setting]] = {name: [] for name in self.kernels}
        faults: list[str] = []
        wanted = self._chosen()
        while wanted:
            results = self._results(wanted)
            others: list[tuple[str, Setting]] = []
            for (name, setting), result in zip(wanted, results, strict=True):
                if isinstance(result, KernelCode):
                    made[name] = result
                    continue
                tried[name].append(setting)
                other = self._other(name, tried[name], result)
                others += [(name, other)] if other else []
                faults += [] if other else [str(result)]
            wanted = others
        if faults:
            raise CompileError("\n".join(faults))
        kernels = {name: made[name] for name in self.kernels}
        return ArchitectureCode(kernels, self._candidates(kernels))

    def _chosen(self) -> Wanted:
        name, file = self.architecture.name, self.options.tuning
        entries = read_entries(file if is_for(file, name) else "", name)
        return [
            (symbol, choose_setting(kernel, self.architecture, entries.get(symbol)))
            for symbol, kernel in self.kernels.items()
        ]

    def _other(
        self, name: str, tried: Sequence[Setting], result: "Failure | Misfit"
    ) -> Setting | None:
        if isinstance(result, Failure):
            return None  # with another setting it would be as wrong
        return next_setting(self.kernels[name], tried, self.architecture)

    def _candidates(self, kernels: Mapping[str, KernelCode]) -> list[tuple[str, KernelCode]]:
        """Compile kernels with the settings that they do not have, if that was asked for."""
        if not self.options.candidates:
            return []
        wanted = [
            (name, setting)
            for name, kernel in self.kernels.items()
            for setting in settings_of(kernel, self.architecture)
            if setting != kernels[name].setting
        ]
        results = zip(wanted, self._results(wanted), strict=True)
        return [(name, code) for (name, _), code in results if isinstance(code, KernelCode)]

    def _results(self, wanted: Wanted) -> "list[KernelCode | Failure | Misfit]":
        sources = [self._source(*each) for each in wanted]
        strict = self.options.strict
        jobs = [
            Job(source, setting.warps, setting.stages, strict)
            for source, (_, setting) in zip(sources, wanted, strict=True)
        ]
        compiled = compile_sources(jobs, self.architecture, self.progress)
        triples = zip(wanted, sources, compiled, strict=True)
        return [self._result(setting, source, made) for (_, setting), source, made in triples]

    def _result(
        self, setting: Setting, source: Source, made: Compiled | Failure
    ) -> "KernelCode | Failure | Misfit":
        if isinstance(made, Failure):
            return made
        reason = misfit(made, self.architecture)
        if reason is None:
            return KernelCode(setting, source, made)
        return Misfit(source.name, self.architecture.name, reason)

    def _source(self, name: str, setting: Setting) -> Source:
        """Print a copy of a kernel with a setting."""
        kernel = self.kernels[name]
        copies = Module(ir.Module.create(ir.Location.unknown(kernel.operation.context)))
        with ir.InsertionPoint(copies.ir.body):
            copy = tile.Kernel(kernel.operation.clone())
        with copies.operation.context:
            copy.use(setting)
        Pipeline(setting_passes(self.architecture.name)).run(copies)
        (copy,) = [op for op in ops(copies.operation) if isinstance(op, tile.Kernel)]
        return print_kernel(copy, self.options.strict)


@dataclass(frozen=True)
class Misfit:
    """Say why the code of a kernel does not fit an architecture."""

    kernel: str
    architecture: str
    reason: str

    def __str__(self) -> str:
        return f"kernel '{self.kernel}' does not fit {self.architecture}: {self.reason}"
