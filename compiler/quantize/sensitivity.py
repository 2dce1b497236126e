"""Find the values whose rounding does most harm to the outputs, and leave these floats.

What an op loses by itself is no guide to that: softmax loses most in MiniLM, and the outputs hardly
change.
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
from .judge import Choices, Subject, Wholes
from .local import local_closeness
from .report import Report, Sensitivity, least_close
from .search import fewest_checked

LEAST = -1.0
"""What every cosine is at least."""


def examine(subject: Subject, cosine: float | None) -> tuple[ScaleTable, Report]:
    """Return the table without what has to stay a float, and a report.

    With `cosine`, as few values stay floats, worst first, as let all outputs come that close. The
    module stays as it is. Raises CompileError for a model of which no output is of floats.
    """
    choices, wholes = Choices(subject), Wholes(subject)
    ranked = _rank(subject, choices)
    order = [each.value for each in ranked]
    count, outputs = _fewest_floats(order, choices, wholes, LEAST if cosine is None else cosine)
    floats = order[:count]
    report = Report(
        values=tuple(ranked),
        floats=tuple(floats),
        float_nodes=_nodes(subject.module, floats),
        nodes=len(_nodes(subject.module, order)),
        outputs=outputs,
        batches=len(subject.feeds),
    )
    return subject.table_without(floats), report


def _rank(subject: Subject, choices: Choices) -> list[Sensitivity]:
    """List all values, worst first, by what each does to the outputs alone."""
    values = {name: value for value, name in names_of(subject.module).items()}
    local = local_closeness(subject)
    found: list[Sensitivity] = []
    for number, name in enumerate(subject.table.values):
        subject.progress(f"round value {number + 1} of {len(subject.table.values)} alone")
        maker = _maker(values[name])
        node, op = (describe(maker.location), maker.op_name) if maker else ("", "")
        outputs = least_close(choices.outputs([name]))
        found.append(Sensitivity(name, node, op, outputs, local[name]))
    return sorted(found, key=lambda each: each.outputs.sqnr)


def _maker(value: ir.Value) -> Op | None:
    """Return the op that makes a value; for bounds of a sum, that of the sum."""
    maker = view(value.owner) if isinstance(value, ir.OpResult) else None
    if maker is None or not maker.operation.operands:
        return maker
    operand = maker.operation.operands[0]
    return _maker(operand) if is_bounded(operand) else maker


def _fewest_floats(
    order: Sequence[str], choices: Choices, wholes: Wholes, cosine: float
) -> tuple[int, Mapping[str, Closeness]]:
    """Return how many values have to stay floats, and how close the outputs are then.

    Switches tell nearly how many; what is compiled as a whole has the last word.
    """

    @functools.cache
    def whole(count: int) -> Mapping[str, Closeness]:
        return wholes.outputs(order[:count])

    def is_likely(count: int) -> bool:
        return least_close(choices.outputs(order[count:])).cosine >= cosine

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
