"""Report where a model would run, by kernels or by nodes, without generating code."""

from ..dialects.core.attributes import types_read_once
from ..dialects.core.mlir import new_context
from ..dialects.core.module import Module
from ..passes.inline_parts import InlineParts
from ..targets.options import CompileOptions
from ..targets.placement.place import Placement
from ..targets.registry import choose_targets
from .arguments import takes_options
from .free_sizes import check_targets
from .size_report import SizeReport, report_sizes
from .source import Source, import_model
from .stages import pipeline_for
from .support_report import NodeSupport, Strict, SupportLog, node_support, placements


@takes_options(CompileOptions)
def check(model: Source, options: CompileOptions) -> tuple[Placement, ...]:
    """Return the target of each kernel of a model, and why the target asked for refused it.

    The model, the options and the errors are those of `compile`; options of code generation have no
    effect.
    """
    return check_with_sizes(model, options)[0]


def check_with_sizes(
    model: Source, options: CompileOptions
) -> tuple[tuple[Placement, ...], SizeReport]:
    """Return what `check` does, and the free sizes of the model."""
    with new_context(), types_read_once():
        log, module, sizes = _placed(model, options, Strict if options.strict else SupportLog)
        return tuple(placements(log, module)), sizes


@takes_options(CompileOptions)
def can_run(model: Source, options: CompileOptions) -> tuple[NodeSupport, ...]:
    """Return for each node of a model whether it would run on a target, and why not.

    Constants are not nodes, and neither are values computed at import. The model, the options and
    the errors are those of `compile`; `strict` and options of code generation have no effect.
    """
    return can_run_with_sizes(model, options)[0]


def can_run_with_sizes(
    model: Source, options: CompileOptions
) -> tuple[tuple[NodeSupport, ...], SizeReport]:
    """Return what `can_run` does, and the free sizes of the model."""
    with new_context(), types_read_once():
        log, module, sizes = _placed(model, options, SupportLog)
        return tuple(node_support(log, module)), sizes


def _placed(
    model: Source, options: CompileOptions, kind: type[SupportLog]
) -> tuple[SupportLog, Module, SizeReport]:
    """Place a model, in the current context."""
    pipeline = pipeline_for(options.target, options.opt_level, options).until(InlineParts.name)
    module = import_model(model, options)
    check_targets(module, choose_targets(options.target))
    sizes = report_sizes(module)
    log = kind(module, options.target)
    pipeline.run(module, log, *options.hooks)
    return log, module, sizes
