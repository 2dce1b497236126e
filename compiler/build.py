"""From a `tri` module to a package: passes, placement, code."""

from collections.abc import Mapping, Sequence

from ..dialects import tri
from ..dialects.core.errors import CompileError
from ..dialects.core.location import describe
from ..dialects.core.module import Module
from ..dialects.core.op import Op, view
from ..passes.pipeline import Instrumentation, Pipeline
from ..runtime.package import Package
from ..targets.code import Code
from ..targets.core import Target
from ..targets.memories import VIEWS
from ..targets.options import DEFAULT, CompileOptions
from ..targets.program import lay_out
from ..targets.registry import find_target
from .assemble import assemble
from .copies import Copies
from .stages import candidates

NO_CODE_OPS = (tri.Constant, tri.Weight, *VIEWS)
"""Ops of a function that no code is generated for."""


def build_module(
    module: Module,
    pipeline: Pipeline,
    options: CompileOptions = DEFAULT,
    source: str = "",
    kept: Mapping[str, bytes] | None = None,
    hooks: Sequence[Instrumentation] = (),
) -> Package:
    """Run a pipeline that ends in placement and compile what was placed, in the current context.

    The code is for each of the machines and architectures of `options`. `source` is the name of the
    model. `kept` are entries of the package unless the pipeline makes entries of the same names.
    `hooks` see the pipeline's passes.
    """
    options.report("optimise")
    targets = [find_target(name) for name in candidates(options.target)]
    entries = {**(kept or {}), **_optimise(module, pipeline, targets, options, hooks)}
    replaced = any(each.replaces_groups for each in targets)
    placed = module.operation.clone() if replaced else module.operation
    codes = [(each, each.compile(module, options, options.report)) for each in targets]
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
    options: CompileOptions,
    hooks: Sequence[Instrumentation],
) -> Mapping[str, bytes]:
    """Run the pipeline with the instrumentation of the targets; return its package entries."""
    watches = [w for target in targets if (w := target.watch(options, options.report)) is not None]
    pipeline.run(module, *watches, *hooks)
    if options.tuning_file and not any(watch.ran for watch in watches):
        options.report(f"note: {options.tuning_file} is not used: nothing here has schedules")
    return {name: data for watch in watches for name, data in watch.entries().items()}


def _running(module: Module) -> list[Op]:
    """List the ops of the model's function that become steps."""
    found = [view(operation) for operation in module.main.regions[0].blocks[0].operations]
    return [op for op in found if op is not None and not isinstance(op, NO_CODE_OPS)]


def _owner(op: Op, codes: Sequence[tuple[Target, Code]]) -> Code:
    if isinstance(op, tri.Copy):
        return COPIES
    for target, code in codes:
        if target.owns(op):
            return code
    raise CompileError(f"{describe(op.location)}: '{op.op_name}' op is on no target of the package")


COPIES = Copies()
