"""Report where a model would run, by kernels or by nodes, without generating code."""

from ..dialects.core.attributes import types_read_once
from ..dialects.core.mlir import new_context
from ..targets.options import CompileOptions
from ..targets.place import Place, Placement, placements
from .arguments import takes_options
from .source import Source, import_model
from .stages import candidates, pipeline_for
from .verdicts import Verdict, imported_nodes, strict_hooks, verdicts


@takes_options(CompileOptions)
def check(model: Source, options: CompileOptions) -> tuple[Placement, ...]:
    """Return the target of each kernel of a model, and why the target asked for refused it.

    The model, the options and the errors are those of `compile`; options of code generation have no
    effect.
    """
    pipeline = pipeline_for(options.target, options.opt_level, options).until(Place.name)
    with new_context(), types_read_once():
        module = import_model(model, options)
        hooks = (*strict_hooks(options.strict, module, options.target), *options.hooks)
        pipeline.run(module, *hooks)
        return tuple(placements(module, (options.target, *candidates(options.target)[1:])))


@takes_options(CompileOptions)
def can_run(model: Source, options: CompileOptions) -> tuple[Verdict, ...]:
    """Return for each node of a model whether it would run on a target, and why not.

    Constants are not nodes, and neither are values computed at import. The model, the options and
    the errors are those of `compile`; `strict` and options of code generation have no effect.
    """
    pipeline = pipeline_for(options.target, options.opt_level, options).until(Place.name)
    with new_context(), types_read_once():
        module = import_model(model, options)
        imported = imported_nodes(module)
        pipeline.run(module, *options.hooks)
        return tuple(verdicts(imported, module, options.target))
