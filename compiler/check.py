"""Report where a model would run, by kernels or by nodes, without generating code."""

from ..dialects.core.attributes import types_read_once
from ..dialects.core.mlir import new_context
from ..passes.inline_parts import InlineParts
from ..targets.options import CompileOptions
from ..targets.place import Placement
from ..targets.registry import choose_targets
from .arguments import takes_options
from .free_sizes import check_targets
from .source import Source, import_model
from .stages import pipeline_for
from .support_report import NodeSupport, Strict, SupportLog, node_support, placements


@takes_options(CompileOptions)
def check(model: Source, options: CompileOptions) -> tuple[Placement, ...]:
    """Return the target of each kernel of a model, and why the target asked for refused it.

    The model, the options and the errors are those of `compile`; options of code generation have no
    effect.
    """
    pipeline = pipeline_for(options.target, options.opt_level, options).until(InlineParts.name)
    with new_context(), types_read_once():
        module = import_model(model, options)
        check_targets(module, choose_targets(options.target))
        log = (Strict if options.strict else SupportLog)(module, options.target)
        pipeline.run(module, log, *options.hooks)
        return tuple(placements(log, module))


@takes_options(CompileOptions)
def can_run(model: Source, options: CompileOptions) -> tuple[NodeSupport, ...]:
    """Return for each node of a model whether it would run on a target, and why not.

    Constants are not nodes, and neither are values computed at import. The model, the options and
    the errors are those of `compile`; `strict` and options of code generation have no effect.
    """
    pipeline = pipeline_for(options.target, options.opt_level, options).until(InlineParts.name)
    with new_context(), types_read_once():
        module = import_model(model, options)
        check_targets(module, choose_targets(options.target))
        log = SupportLog(module, options.target)
        pipeline.run(module, log, *options.hooks)
        return tuple(node_support(log, module))
