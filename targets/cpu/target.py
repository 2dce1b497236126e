"""The CPU target: its passes, and which ops may share a kernel."""

from collections.abc import Sequence
from contextlib import AbstractContextManager

from ...dialects import tri
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...passes.core import Pass
from ...passes.cse import Cse
from ...passes.decompose import Decompose, decomposition_rules
from ...passes.eliminate import Eliminate
from ...passes.pipeline import Step
from ...passes.quantize.keep_bytes import KeepBytes
from ..compiled import CompiledPart
from ..core import Target, TargetInstrumentation
from ..costs.roofline import Roofline
from ..options import DEFAULT, CompileOptions
from ..tuning_file import PACKAGED
from .emit.code import compile_native
from .emit.form import form_of
from .emit.kernel_pipeline import code_pipeline, kernel_pipeline
from .emit.print_kernels import EMITTERS
from .emit.undecided import TRIAL, lowered_once
from .layout.choose_layouts import ChooseLayouts
from .layout.pack_block_quantized import PackBlockQuantized
from .layout.pack_recurrent import PackRecurrent
from .layout.pack_weights import PackWeights
from .layout.pad_channels import PadChannels
from .layout.sequence_first import SequenceFirst
from .layout.split_conv_transpose import SplitConvTranspose
from .lower.read_views import split_views, stores_through
from .registry import TABLE
from .schedule.append_in_place import AppendInPlace
from .schedule.apply_tuning import ApplyTuning
from .schedule.choose_dot_products import ChooseDotProducts
from .schedule.choose_winograd import ChooseWinograd
from .schedule.float_depthwise import FloatDepthwise
from .schedule.fuse_quantize import FuseQuantize
from .schedule.read_in_place import ReadInPlace
from .schedule.scatter_in_place import ScatterInPlace
from .schedule.tabulate_bytes import TabulateBytes
from .schedule.tune import Tuner


class CpuTarget(Target):
    """Run kernels of fused ops as native code of a machine."""

    prepares = True
    takes_symbols = True
    takes_found_sizes = True
    roofline = Roofline(100e9, 15e9, 1e-6)
    kept_entries = (PACKAGED,)
    emitters = EMITTERS

    def check(self, options: CompileOptions) -> None:
        super().check(options)
        for machine in options.machines:
            form_of(options).check(machine)

    def passes(self, opt_level: int, options: CompileOptions = DEFAULT) -> tuple[Pass, ...]:
        lacking = [c for c in decomposition_rules() if c not in self.lowerings]
        names = tuple(c.op_name.partition(".")[2] for c in lacking)
        decompose: tuple[Pass, ...] = (*([Decompose(names)] if names else []), SequenceFirst())
        if not opt_level:
            return decompose
        error = options.layer_error
        file = options.tuning_file
        machine = options.machines[0].name
        tuned = (ApplyTuning(file, error, machine),) if file else ()
        return (
            PackBlockQuantized(machine),
            Cse(),
            *decompose,
            SplitConvTranspose(machine),
            KeepBytes(),
            TabulateBytes(),
            *([] if options.strict_math else [PadChannels(machine)]),
            ChooseDotProducts(not options.strict_math, machine),
            FloatDepthwise(),
            FuseQuantize(),
            ChooseLayouts(error, machine),
            PackRecurrent(machine),
            *tuned,
            ChooseWinograd(error, machine),
            PackWeights(machine, not options.strict_math),
            ReadInPlace(),
            Eliminate(),
        )

    def placed_passes(self, opt_level: int, options: CompileOptions = DEFAULT) -> tuple[Step, ...]:
        if not opt_level:
            return ()
        # Programs for exact sizes share the state of a session, so they agree on where it is.
        return (AppendInPlace(), *([] if options.exact else [ScatterInPlace()]))

    def code_passes(self, options: CompileOptions = DEFAULT) -> tuple[Step, ...]:
        machine, strict = options.machines[0], options.strict_math
        pipelines = kernel_pipeline(machine, strict), code_pipeline(machine, strict)
        return tuple(step for pipeline in pipelines for step in pipeline.steps)

    def instrumentation(self, options: CompileOptions) -> TargetInstrumentation | None:
        if not options.tuning_file:
            return None
        return Tuner(options, options.machines[0], options.report)

    def compiling(self, options: CompileOptions) -> AbstractContextManager[None]:
        return lowered_once(options)

    def compile(self, module: Module, options: CompileOptions) -> CompiledPart:
        return compile_native(module, options)

    def kernel_refusal(self, members: Sequence[Op]) -> str | None:
        _, work = split_views([op for op in members if not isinstance(op, tri.Constant)])
        if len(work) > 1 and stores_through(work[0], work[-1]):
            work.pop()
        if not all(map(TABLE.is_elementwise, work[1:])):
            return f"{self.name} takes only elementwise ops behind the first one of a kernel"
        return TABLE.kernel_refusal(work)

    def size_refusal(self, members: Sequence[Op]) -> str | None:
        return TRIAL.refusal(members)


CPU = CpuTarget("cpu", table=TABLE)
