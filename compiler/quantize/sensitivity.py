"""Find the values whose rounding harms the outputs most, and keep these in floating point.

The error of one layer alone does not predict the error of the outputs: softmax has the largest in
MiniLM, and the outputs hardly change.
"""

import functools
from collections.abc import Collection, Mapping, Sequence

from ...dialects.core.location import describe
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, ops
from ...dialects.core.op import Op, view
from ...passes.quantize.quantizable import (
    data_operands,
    deciding,
    is_bounded,
    is_supported,
    names_of,
)
from ...passes.quantize.scale_table import ScaleTable
from .closeness import Closeness
from .evaluator import QuantizationCase, RecompiledModel, ToggledModel
from .observe import Spread
from .per_layer_error import per_layer_error
from .report import Report, Sensitivity, least_close
from .search import fewest_checked

LEAST = -1.0
"""What every cosine is at least."""


def examine(
    case: QuantizationCase, cosine: float | None, spread: Spread = map
) -> tuple[ScaleTable, Report]:
    """Return the table without the values that stay floats, and a report.

    `spread` calls the function that rounds one value alone; the function can be pickled.

    With `cosine`, as few values as possible stay floats, worst first, until all outputs reach
    that cosine. The module is not changed. Raises CompileError for a model of which no output is of
    floats.
    """
    toggled, recompiled = ToggledModel(case), RecompiledModel(case)
    ranked = _rank(case, toggled, spread)
    order = [each.value for each in ranked]
    count, outputs = _fewest_floats(order, toggled, recompiled, LEAST if cosine is None else cosine)
    floats = order[:count]
    report = Report(
        values=tuple(ranked),
        floats=tuple(floats),
        float_nodes=_nodes(case.module, floats),
        nodes=len(_nodes(case.module, order)),
        outputs=outputs,
        batches=len(case.feeds),
    )
    return case.table_without(floats), report


def _rank(case: QuantizationCase, toggled: ToggledModel, spread: Spread) -> list[Sensitivity]:
    """List all values by the error of the outputs when each alone is rounded, worst first."""
    values = {name: value for value, name in names_of(case.module).items()}
    errors = per_layer_error(case)
    alone = iter(spread(functools.partial(_rounded_alone, toggled), [*case.table.values]))
    found: list[Sensitivity] = []
    for number, name in enumerate(case.table.values):
        case.progress(f"round value {number + 1} of {len(case.table.values)} alone")
        maker = _maker(values[name])
        node, op = (describe(maker.location), maker.op_name) if maker else ("", "")
        found.append(Sensitivity(name, node, op, next(alone), errors[name]))
    return sorted(found, key=lambda each: each.outputs.sqnr)


def _rounded_alone(toggled: ToggledModel, name: str) -> Closeness:
    return least_close(toggled.outputs([name]))


def _maker(value: ir.Value) -> Op | None:
    """Return the op that makes a value; for bounds of a sum, that of the sum."""
    maker = view(value.owner) if isinstance(value, ir.OpResult) else None
    if maker is None or not maker.operation.operands:
        return maker
    operand = maker.operation.operands[0]
    return _maker(operand) if is_bounded(operand) else maker


def _fewest_floats(
    order: Sequence[str], toggled: ToggledModel, recompiled: RecompiledModel, cosine: float
) -> tuple[int, Mapping[str, Closeness]]:
    """Return how many values have to stay floats, and how close the outputs are then.

    The toggled model gives an estimate; the recompiled model decides.
    """

    @functools.cache
    def whole(count: int) -> Mapping[str, Closeness]:
        return recompiled.outputs(order[:count])

    def is_likely(count: int) -> bool:
        return least_close(toggled.outputs(order[count:])).cosine >= cosine

    def is_enough(count: int) -> bool:
        return least_close(whole(count)).cosine >= cosine

    count = fewest_checked(is_likely, is_enough, len(order))
    return count, whole(count)


def _nodes(module: Module, values: Collection[str]) -> tuple[str, ...]:
    """List the nodes of ops that read or make some values, or what is moved from them."""
    names = names_of(module)
    found: dict[str, None] = {}
    for op in ops(module.operation):
        touched = [*data_operands(op), *op.results] if is_supported(op) else []
        if any(names.get(deciding(value)) in values for value in touched):
            found[describe(op.location)] = None
    return tuple(found)
