"""Report where a model would run, by kernels or by nodes, without generating code."""

from collections.abc import Iterator, Mapping

from ..dialects.core.attributes import types_read_once
from ..dialects.core.mlir import new_context
from ..dialects.core.module import Module
from ..passes.inline_parts import InlineParts
from ..passes.pipeline import Instrumentation
from ..targets.options import CompileOptions
from ..targets.placement.place import Placement
from ..targets.registry import choose_targets
from .arguments import takes_options
from .estimates import Estimates
from .exact.build_exact import exact_modules, takes_all_sizes
from .sizes.free import check_targets
from .sizes.report import SizeReport, report_sizes
from .source import Source, import_model
from .stages import pipeline_for
from .support_report import NodeSupport, Strict, SupportLog, node_support, placements


@takes_options(CompileOptions)
def check(model: Source, options: CompileOptions) -> tuple[Placement, ...]:
    """Return the target of each kernel of a model, and why the target asked for refused it.

    The kernels of programs for exact sizes are last, and have these sizes. The model, the options
    and the errors are those of `compile`; options of code generation have no effect.
    """
    return check_with_sizes(model, options)[0]


def check_with_sizes(
    model: Source, options: CompileOptions, estimates: bool = True
) -> tuple[tuple[Placement, ...], SizeReport]:
    """Return what `check` does, with or without `estimates`, and the free sizes of the model."""
    with new_context(), types_read_once():
        module = import_model(model, options)
        report = report_sizes(module)
        known = Estimates(choose_targets(options.target) if estimates else ())
        kind = Strict if options.strict else SupportLog
        programs = _placed(module, options, kind, known)
        placed = [each for args in programs for each in placements(*args, known)]
        return tuple(placed), report


@takes_options(CompileOptions)
def can_run(model: Source, options: CompileOptions) -> tuple[NodeSupport, ...]:
    """Return for each node of a model whether it would run on a target, and why not.

    Constants are not nodes, and neither are values computed at import. With `exact` there is an
    answer for each program, those for exact sizes last. The model, the options and the errors are
    those of `compile`; `strict` and options of code generation have no effect.
    """
    return can_run_with_sizes(model, options)[0]


def can_run_with_sizes(
    model: Source, options: CompileOptions
) -> tuple[tuple[NodeSupport, ...], SizeReport]:
    """Return what `can_run` does, and the free sizes of the model."""
    with new_context(), types_read_once():
        module = import_model(model, options)
        report = report_sizes(module)
        programs = _placed(module, options, SupportLog)
        nodes = [each for args in programs for each in node_support(*args)]
        return tuple(nodes), report


def _placed(
    module: Module, options: CompileOptions, kind: type[SupportLog], *hooks: Instrumentation
) -> Iterator[tuple[SupportLog, Module, Mapping[str, int]]]:
    """Place each program of a model, in the current context: log, module and exact sizes."""
    for sizes, program in _programs(module, options):
        pipeline = pipeline_for(options.target, options.opt_level, options)
        log = kind(program, options.target)
        check_targets(program, choose_targets(options.target), advises_exact=True)
        pipeline.until(InlineParts.name).run(program, log, *hooks, *options.hooks)
        yield log, program, sizes


def _programs(
    module: Module, options: CompileOptions
) -> Iterator[tuple[Mapping[str, int], Module]]:
    """Yield the module for all sizes, under no sizes, and those for exact sizes."""
    if not options.exact:
        yield {}, module
        return
    exact = exact_modules(module, options)
    if takes_all_sizes(options):
        yield {}, module
    yield from exact
