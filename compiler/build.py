"""From a `tri` module to a package: passes, placement, code."""

from collections.abc import Mapping, Sequence

from ..dialects import tri
from ..dialects.core.errors import CompileError
from ..dialects.core.location import describe
from ..dialects.core.module import Module
from ..dialects.core.op import Op, view
from ..passes.pipeline import Instrumentation, Pipeline, instrumented
from ..runtime.package import Package
from ..targets.code import Code
from ..targets.core import Progress, Target
from ..targets.memories import VIEWS
from ..targets.options import DEFAULT, Options
from ..targets.program import lay_out
from ..targets.registry import find_target
from .assemble import assemble
from .copies import Copies
from .stages import candidates, options_for

STILL = (tri.Constant, tri.Weight, *VIEWS)
"""Ops of a function for which nothing is done when it runs."""


def build_module(
    module: Module,
    pipeline: Pipeline,
    target: str,
    progress: Progress,
    source: str,
    options: Options = DEFAULT,
    kept: Mapping[str, bytes] | None = None,
    hooks: Sequence[Instrumentation] = (),
) -> Package:
    """Run a pipeline that ends in placement and compile what was placed, in the current context.

    The code is for each of the machines and architectures of `options`. `kept` are entries that the
    package brings along unless the pipeline comes upon others. `hooks` see all passes,
    those by which targets generate code included.
    The module is used up.
    """
    progress("optimise")
    options = options_for(target, options)
    targets = [find_target(name) for name in candidates(target)]
    entries = {**(kept or {}), **_optimise(module, pipeline, targets, options, progress, hooks)}
    replaced = any(each.replaces_groups for each in targets)
    placed = module.operation.clone() if replaced else module.operation
    with instrumented(hooks):
        codes = [(each, each.compile(module, options, progress)) for each in targets]
    steps = [(_owner(op, codes), op) for op in _running(module)]
    program = lay_out(module, [code.call(op) for code, op in steps])
    return assemble(
        module,
        program,
        {op: code for code, op in steps},
        [code for _, code in codes],
        placed=placed,
        target=targets[0],
        source=source,
        options=options,
        entries=entries,
    )


def _optimise(
    module: Module,
    pipeline: Pipeline,
    targets: Sequence[Target],
    options: Options,
    progress: Progress,
    hooks: Sequence[Instrumentation],
) -> Mapping[str, bytes]:
    """Run the pipeline under the eyes of the targets; return what they want in the package."""
    watches = [w for target in targets if (w := target.watch(options, progress)) is not None]
    pipeline.run(module, *watches, *hooks)
    if options.tuning_file and not any(watch.ran for watch in watches):
        progress(f"note: {options.tuning_file} is not used: nothing here has schedules")
    return {name: data for watch in watches for name, data in watch.entries().items()}


def _running(module: Module) -> list[Op]:
    """List the ops of the model's function that do something when it runs."""
    found = [view(operation) for operation in module.main.regions[0].blocks[0].operations]
    return [op for op in found if op is not None and not isinstance(op, STILL)]


def _owner(op: Op, codes: Sequence[tuple[Target, Code]]) -> Code:
    if isinstance(op, tri.Copy):
        return COPIES
    for target, code in codes:
        if target.owns(op):
            return code
    raise CompileError(f"{describe(op.location)}: '{op.op_name}' op is on no target of the package")


COPIES = Copies()
