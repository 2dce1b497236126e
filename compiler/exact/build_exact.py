"""Compile a model once for all sizes, and once for each set of exact sizes."""

from collections.abc import Mapping
from io import BytesIO

from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...passes.bind_sizes import bind_sizes
from ...runtime.package import Package
from ...runtime.sizes.values import spelled_sizes
from ...targets.memory.weight_pool import WeightPools
from ...targets.options import CompileOptions
from ...targets.registry import choose_targets
from ..assemble import Assembled, outline
from ..build import compile_module
from ..stages import pipeline_for
from ..support_report import strict_hooks
from .combine import combined
from .sets import checked_sets


def build_exact(module: Module, options: CompileOptions, source: str) -> Package:
    """Compile an imported module with symbols, in the current context, to one package.

    It has no program for all sizes where a target does not take symbols. The arguments are those of
    `build_module`. Raises CompileError for sets of sizes that do not fit the model.
    """
    targets = choose_targets(options.target)
    pools: WeightPools = {}
    bound = exact_modules(module, options)
    if takes_all_sizes(options):
        main = _compile(module, options, source, pools)
    else:
        main = outline(module, targets, source, options)
    programs: list[tuple[Mapping[str, int], Assembled]] = []
    for sizes, each in bound:
        options.report(f"exact {spelled_sizes(sizes)}")
        programs.append((sizes, _compile(each, options, source, pools)))
    return combined(main, programs, pools, targets)


def exact_modules(
    module: Module, options: CompileOptions
) -> list[tuple[Mapping[str, int], Module]]:
    """Return the modules of the programs for exact sizes; weights are shared.

    Raises CompileError for sets of sizes that do not fit the model.
    """
    return [(sizes, _bound(module, sizes)) for sizes in checked_sets(module, options.exact)]


def takes_all_sizes(options: CompileOptions) -> bool:
    """Return whether a package beside programs for exact sizes has one for all sizes."""
    return all(target.takes_symbols for target in choose_targets(options.target))


def _compile(module: Module, options: CompileOptions, source: str, pools: WeightPools) -> Assembled:
    pipeline = pipeline_for(options.target, options.opt_level, options)
    hooks = strict_hooks(options.strict, module, options.target)
    return compile_module(module, pipeline, options, source, None, hooks, pools)


def _bound(module: Module, sizes: Mapping[str, int]) -> Module:
    """Return a copy of a module with sizes in place of its symbols; weights are shared."""
    file = BytesIO()
    module.operation.write_bytecode(file)
    copy = Module(ir.Module.parse(file.getvalue()), dict(module.weights), sizes=sizes)
    bind_sizes(copy, sizes)
    return copy
