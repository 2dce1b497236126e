"""Rank sizes that were observed by what programs for exactly these sizes would save.

A kernel for any size loses some of its time against one that is made for the size. What a run would
save is estimated as that part of each op's time, by a roofline of the CPU.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.errors import CompileError, Diagnostic, Invalid
from ...dialects.core.module import Module, direct_ops, ops
from ...dialects.core.op import Op
from ...dialects.core.sizes.dim import symbols_of
from ...dialects.core.sizes.substitution import assumed_sizes
from ...dialects.core.symbol_table import checks_of, symbol_table, symbols_of_function
from ...dialects.core.tensor import Tensor
from ...passes.default import default_pipeline
from ...passes.pipeline import Pipeline
from ...targets.costs.flops import flops
from ...targets.costs.roofline import Roofline
from ...targets.memory.values import NO_CODE_OPS
from ...targets.registry import choose_targets
from ..sizes.observed import Observation, Solver

LOSS = 0.02
"""The part of its time that a kernel for any size loses, such as a product or a convolution."""

ATTENTION_LOSS, SHORT_LOSS, SHORT = 0.05, 0.25, 64
"""The same for attention with more keys than `SHORT`, and with at most so many."""


@dataclass(frozen=True)
class ExactSizes:
    """Describe sizes that occurred `runs` times, `part` of all runs.

    `saved` is the estimated part of the time of all runs that an exact program would save.
    """

    sizes: Mapping[str, int]
    runs: int
    part: float
    saved: float

    @property
    def option(self) -> str:
        """Return the flag that asks for a program of these sizes."""
        return "--exact " + ",".join(f"{name}={size}" for name, size in self.sizes.items())


def rank_sizes(
    module: Module,
    inputs: Sequence[tuple[str, Tensor]],
    observed: Sequence[Observation],
    opt_level: int,
) -> tuple[ExactSizes, ...]:
    """Return all sizes that were observed, those that save most first; the module is optimised.

    Raises CompileError with all observations that do not fit the model.
    """
    runs = _counted(module, inputs, observed)
    names = [name for name, _ in next(iter(runs))]
    table = symbol_table(module.main.context)
    units = {name: next(iter(symbols_of(table.sizes[name]))) for name in names}
    steps = {name: symbols_of_function(module.main)[name].step for name in names}
    Pipeline(default_pipeline(opt_level)).run(module)
    kernels = [op for op in direct_ops(module.main_block) if not isinstance(op, NO_CODE_OPS)]
    roofline = choose_targets("cpu")[0].roofline
    times: dict[tuple[tuple[str, int], ...], tuple[float, float]] = {}
    for key in runs:
        with assumed_sizes({units[name]: size // steps[name] for name, size in key}):
            seconds = [(op, _seconds(op, roofline)) for op in kernels]
            lost = sum(time * _loss(op) for op, time in seconds)
        times[key] = sum(time for _, time in seconds), lost
    all_runs = sum(runs.values())
    all_time = sum(times[key][0] * count for key, count in runs.items()) or 1.0
    ranked = [
        ExactSizes(dict(key), count, count / all_runs, times[key][1] * count / all_time)
        for key, count in runs.items()
    ]
    return tuple(sorted(ranked, key=lambda each: (-each.saved, -each.runs, str(each.sizes))))


def _counted(
    module: Module, inputs: Sequence[tuple[str, Tensor]], observed: Sequence[Observation]
) -> Counter[tuple[tuple[str, int], ...]]:
    """Count the runs of each vector of sizes."""
    given = {name for _, tensor in inputs for name in tensor.symbols}
    table, ranges = symbol_table(module.main.context), symbols_of_function(module.main)
    named = {
        name: (table.sizes[name], range)
        for name, range in ranges.items()
        if symbols_of(table.sizes[name]).keys() & given
    }
    if not named:
        raise CompileError("the model has no free sizes that inputs give, nothing is to be exact")
    solver, faults = Solver(inputs, named, checks_of(module.main)), list[Diagnostic]()
    runs: Counter[tuple[tuple[str, int], ...]] = Counter()
    for each in observed:
        try:
            runs[tuple(solver.values(each).items())] += each.count
        except Invalid as error:
            faults.append(Diagnostic(each.where, str(error)))
    if faults:
        raise CompileError(faults)
    return runs


def _seconds(op: Op, roofline: Roofline) -> float:
    """Return how long an op, or a group as one kernel, takes at the likely sizes."""
    values = (*op.operation.operands, *op.results)
    moved = sum(tensor_of(value.type).likely_bytes for value in values)
    computed = sum(map(flops, (op, *ops(op.operation))))
    return max(computed / roofline.flops_per_second, moved / roofline.bytes_per_second)


def _loss(op: Op) -> float:
    """Return the part of its time that an op loses at the likely sizes."""
    if not any(tensor_of(v.type).symbols for v in (*op.operation.operands, *op.results)):
        return 0.0
    attention = [each for each in (op, *ops(op.operation)) if isinstance(each, tri.Attention)]
    if not attention:
        return LOSS
    keys = min(tensor_of(each.k.type).likely.shape[-2] for each in attention)
    return SHORT_LOSS if keys <= SHORT else ATTENTION_LOSS
