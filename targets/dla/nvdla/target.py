"""The target `nvdla:nv_small`, `nvdla:nv_large`, `nvdla:nv_full`, or `nvdla:FILE.toml`."""

from copy import copy

from ....dialects.core.errors import CompileError
from ....dialects.core.module import Module
from ....dialects.dla.dialect import TensorOp
from ....passes.pipeline import Step
from ...options import DEFAULT, CompileOptions
from ..accelerator import COMPILED, PhasedTarget
from ..phases import Phases
from . import dialect
from .choice import NAME, Choice
from .dialect.dialect import NVDLA
from .loadable_code import LoadableCode
from .pipeline import nvdla_phases
from .select.limits import op_refusal


class Nvdla(PhasedTarget):
    """Run quantised networks on NVDLA, as loadables; without a configuration it is nv_full."""

    def __init__(self) -> None:
        super().__init__(NAME)
        self.selected = Choice()

    @property
    def precisions(self) -> tuple[str, ...]:
        has_halves = "fp16" in self.selected.configuration.precisions
        return (*super().precisions, "fp16") if has_halves else super().precisions

    def needs_precision(self) -> str:
        chosen = self.selected.configuration
        return f"of configuration {chosen.name} computes in {', '.join(chosen.precisions)}"

    def pipeline(self) -> Phases:
        return self.phases_for(DEFAULT)

    def phases_for(self, options: CompileOptions) -> Phases:
        """Return the phases with what options allow a layer to lose."""
        return nvdla_phases(self.selected, options.layer_error if options.opt_level else 0.0)

    def code_passes(self, options: CompileOptions = DEFAULT) -> tuple[Step, ...]:
        return self.phases_for(options).steps(*COMPILED)

    def configured(self, variants: tuple[str, ...]) -> "Nvdla":
        if not variants:
            return self
        text, *others = variants
        if others:
            listed = ", ".join(variants)
            raise CompileError(f"'{self.name}' has one configuration, not several: {listed}")
        found = copy(self)
        found.selected = Choice(text)
        _ = found.selected.configuration
        return found

    @property
    def choice(self) -> str:
        return f"{self.name}:{self.selected}"

    def op_refusal(self, op: TensorOp) -> str | None:
        if op.dialect is not NVDLA:
            return f"{self.name} has no op {op.op_name}, which is of other accelerators"
        return op_refusal(op, self.selected.configuration)

    def compile(self, module: Module, options: CompileOptions) -> LoadableCode:
        self.phases_for(options).run(module, options.report, *options.hooks, only=COMPILED)
        return LoadableCode(module, self.selected.configuration)


TARGET = Nvdla()

__all__ = ["TARGET", "Nvdla", "dialect"]
