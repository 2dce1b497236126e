"""From a `tri` module to a package: passes, placement, code."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from ..dialects import tri
from ..dialects.core.errors import CompileError
from ..dialects.core.location import describe
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module
from ..dialects.core.op import Op
from ..passes.instrumentation import Begun
from ..passes.pipeline import Instrumentation, Pipeline
from ..runtime.package import Package
from ..targets.compiled import CompiledPart
from ..targets.core import Target
from ..targets.memory.values import code_ops
from ..targets.memory.weight_pool import WeightPools
from ..targets.options import DEFAULT, CompileOptions
from ..targets.placement.place import placed_groups
from ..targets.program.calls import BodyCalls, Call
from ..targets.program.in_place import copied_states
from ..targets.program.program import plan_memory
from ..targets.registry import choose_targets
from .assemble import Assembled, assemble, package_of
from .control_flow import ControlFlow
from .copies import Copies
from .refit.hold_weights import give_back
from .sizes.free import check_targets


def build_module(
    module: Module,
    pipeline: Pipeline,
    options: CompileOptions = DEFAULT,
    source: str = "",
    kept: Mapping[str, bytes] | None = None,
    hooks: Sequence[Instrumentation] = (),
) -> Package:
    """Run a pipeline that ends in placement and compile what was placed, in the current context.

    The arguments are those of `compile_module`.
    """
    pools: WeightPools = {}
    return package_of(compile_module(module, pipeline, options, source, kept, hooks, pools), pools)


def compile_module(
    module: Module,
    pipeline: Pipeline,
    options: CompileOptions,
    source: str,
    kept: Mapping[str, bytes] | None,
    hooks: Sequence[Instrumentation],
    pools: WeightPools,
) -> Assembled:
    """Run a pipeline and compile what was placed to a program; `pools` get its weights.

    The code is for each of the machines of `options`. `source` is the name of the
    model. `kept` are entries of the package unless the pipeline makes entries of the same names.
    `hooks` see the passes of the pipeline, those of `options` also the passes of code generation.
    The module is used up.
    """
    options.report("optimise")
    targets = choose_targets(options.target)
    check_targets(module, targets, advises_exact=True)
    code_passes = (step for each in targets for step in each.code_passes(options))
    whole = Pipeline((*pipeline.steps, *code_passes))
    hooks = (*hooks, *options.hooks)
    for hook in hooks:
        hook.begin(whole, module)
    begun = list(map(Begun, hooks))
    with _compiling(targets, options):
        entries = {**(kept or {}), **_optimise(module, pipeline, targets, options, begun)}
        used = {group.target for group in placed_groups(module)}
        compiling = [each for each in targets if each.name in used]
        replaced = any(each.replaces_groups for each in compiling)
        placed = module.operation.clone() if replaced else module.operation
        codes = [(each, each.compile(module, options)) for each in compiling]
    owners: dict[Op, CompiledPart] = {}
    give_back(module)
    program = plan_memory(module, _calls(module.main_block, codes, owners), pools)
    if options.states:
        for output, why in copied_states(module, program.updated).items():
            options.report(f"note: state '{output}' is copied in each run: {why}")
    return assemble(
        module,
        program,
        owners,
        [code for _, code in codes],
        placed=placed,
        targets=targets,
        source=source,
        options=options,
        entries=entries,
    )


def measure_schedules(module: Module, pipeline: Pipeline, options: CompileOptions) -> None:
    """Run a pipeline for what it adds to the tuning file alone; no code of the model is made.

    The module is used up. Raises CompileError as `compile_module`.
    """
    targets = choose_targets(options.target)
    check_targets(module, targets, advises_exact=True)
    with _compiling(targets, options):
        _optimise(module, pipeline, targets, options, options.hooks)


@contextmanager
def _compiling(targets: Sequence[Target], options: CompileOptions) -> Generator[None]:
    with ExitStack() as stack:
        for each in targets:
            stack.enter_context(each.compiling(options))
        yield


def _optimise(
    module: Module,
    pipeline: Pipeline,
    targets: Sequence[Target],
    options: CompileOptions,
    hooks: Sequence[Instrumentation],
) -> Mapping[str, bytes]:
    """Run the pipeline with the instrumentation of the targets; return its package entries."""
    own = targets[0].instrumentation(options)
    pipeline.run(module, *([own] if own else []), *hooks)
    if options.tuning_file and not (own and own.ran):
        options.report(f"note: {options.tuning_file} is not used: nothing here has schedules")
    return own.entries() if own else {}


def _calls(
    block: ir.Block,
    codes: Sequence[tuple[Target, CompiledPart]],
    owners: dict[Op, CompiledPart],
) -> list[Call]:
    """Return the calls of a block, with those of the bodies in it; note who makes each."""
    calls: list[Call] = []
    for op in code_ops(block):
        owners[op] = _owner(op, codes)
        call = owners[op].call(op)
        if isinstance(op, tri.ControlOp):
            inner = [BodyCalls(body, tuple(_calls(body, codes, owners))) for body in op.bodies]
            call = replace(call, bodies=tuple(inner))
        calls.append(call)
    return calls


def _owner(op: Op, codes: Sequence[tuple[Target, CompiledPart]]) -> CompiledPart:
    if isinstance(op, tri.Copy):
        return COPIES
    if isinstance(op, tri.ControlOp):
        return CONTROL_FLOW
    for target, code in codes:
        if target.owns(op):
            return code
    raise CompileError(f"{describe(op.location)}: '{op.op_name}' op is on no target of the package")


COPIES = Copies()
CONTROL_FLOW = ControlFlow()
