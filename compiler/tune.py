"""Measure the schedules of a model, and make nothing else of it."""

from ..dialects.core.attributes import types_read_once
from ..dialects.core.mlir import new_context
from ..targets.options import CompileOptions
from .arguments import takes_options
from .build import measure_schedules
from .exact.build_exact import exact_modules, takes_all_sizes
from .refit.hold_weights import hold_weights
from .source import Source, import_model
from .stages import pipeline_for


@takes_options(CompileOptions)
def measure(model: Source, options: CompileOptions) -> None:
    """Add to the file `tune` what `build` would add to it, without the code of the model.

    Model, options and errors are those of `build`.
    """
    pipeline = pipeline_for(options.target, options.opt_level, options)
    with new_context(), types_read_once():
        options.report("import")
        module = import_model(model, options)
        if options.refit:
            hold_weights(module)
        modules = [bound for _, bound in exact_modules(module, options)] if options.exact else []
        if not options.exact or takes_all_sizes(options):
            modules.insert(0, module)
        for each in modules:
            measure_schedules(each, pipeline, options)
