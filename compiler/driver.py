"""From a model to a session: frontend, passes, placement, code, package."""

from typing import Any

from ..dialects.core.arguments import listed
from ..dialects.core.attributes import types_read_once
from ..dialects.core.extras import require
from ..dialects.core.mlir import new_context
from ..dialects.core.module import Module
from ..passes.pipeline import Pipeline
from ..runtime.package import Package
from ..runtime.session import Session
from ..targets.options import CompileOptions
from ..targets.registry import choose_targets
from .arguments import takes_options
from .build import build_module
from .exact.build_exact import build_exact
from .rebuild import rebuild
from .refit.hold_weights import check_targets, hold_weights
from .source import Source, find_format, import_model
from .stages import pipeline_for
from .support_report import strict_hooks


@takes_options(CompileOptions)
def compile(model: Source | Package, options: CompileOptions) -> Session:
    """Compile a model and return a session that runs it.

    `model` is the path of an ONNX file, its bytes, or an `onnx.ModelProto`; or the path of a PNNX
    file (`.pnnx.param`, with its `.pnnx.bin` beside it), or a `pnnx.Graph`; or of IR (`.mlir`) that
    was exported with its weights; or a program of `torch.export` (`.pt2`, or in memory); or a
    `torch.nn.Module` with `example_inputs`, which is exported, or with `converter="pnnx"` traced
    and converted by `pnnx`, which `trivium[torch]` installs: then a warning names outputs that
    differ from those of the module on the example. `trivium --list-formats` lists all formats.

    A package, open or by its path (`.trv`), has the IR in it compiled again for `machine`, with the
    math that it was compiled with; options that would change more than code are refused. Raises
    CompileError that lists all faults.
    """
    session = Session(build_with(model, options))
    find_format(model).check_session(session, model, options)
    return session


@takes_options(CompileOptions)
def build(model: Source | Package, options: CompileOptions) -> Package:
    """Compile a model to a package; model, options and errors are those of `compile`."""
    return build_with(model, options)


def build_with(model: Source | Package, options: CompileOptions) -> Package:
    """Compile a model to a package with options that were checked."""
    if options.compress:
        require("zstandard", "compressing constants")
    package = _built(model, options)
    if options.strip:
        package = package.stripped(listed(options.strip))
    if options.compress:
        package = package.compressed()
    if options.external_weights:
        package = package.with_external_weights(options.external_weights)
    return package


def _built(model: Source | Package, options: CompileOptions) -> Package:
    form = find_format(model)
    if form.is_compiled:
        package: Any = model
        return rebuild(package if isinstance(package, Package) else Package.open(package), options)
    pipeline = pipeline_for(options.target, options.opt_level, options)
    with new_context(), types_read_once():
        options.report("import")
        module = import_model(model, options)
        if options.refit:
            check_targets(choose_targets(options.target))
            hold_weights(module)
        return build_imported(module, pipeline, options, form.name_of(model))


def build_imported(
    module: Module, pipeline: Pipeline, options: CompileOptions, source: str
) -> Package:
    """Compile a module that was just imported, with its exact sizes; `source` is its name."""
    if options.exact:
        return build_exact(module, options, source)
    hooks = strict_hooks(options.strict, module, options.target)
    return build_module(module, pipeline, options, source, hooks=hooks)
