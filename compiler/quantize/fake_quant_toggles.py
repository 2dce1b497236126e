"""Fake-quantisation toggles: one boolean input for each value selects whether it is rounded.

The model is compiled once and evaluates any subset of rounded values.

    %q = tri.dequantize (tri.quantize %x to …)   =>   %r = tri.where %toggle, %q, %x
    tri.conv %q, %rounded                             tri.conv %r, (tri.where %toggle, %rounded, %w)

Weights are rounded where the op reads a rounded value, as in `quantize`.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from ...dialects import tri
from ...dialects.core.attributes import type_of
from ...dialects.core.interface import add_inputs, input_names
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, ops
from ...dialects.core.op import Op
from ...dialects.core.tensor import Tensor
from ...passes.quantize.quantizable import data_operands, is_moved, is_supported, names_of
from ...passes.quantize.quantize import quantize_by
from ...passes.quantize.scale_table import ScaleTable
from .variants import copied


@dataclass(frozen=True)
class FakeQuantToggles:
    """A module with a toggle for each value of a table; `inputs` names its input by the value."""

    module: Module
    inputs: Mapping[str, str]


def add_toggles(module: Module, table: ScaleTable, per_tensor: bool) -> FakeQuantToggles:
    """Return a copy of a module with a toggle for each value of a table.

    With all toggles on, it computes the result of `quantize_by`; with all off, the original model.
    """
    made = copied(module)
    before = [(op, list(op.operation.operands)) for op in ops(made.operation) if is_supported(op)]
    names = names_of(made)
    rounded = quantize_by(made, table, per_tensor)
    with module.operation.context, ir.Location.unknown():
        inputs = _toggle_names(made, table)
        kind = type_of(Tensor((), "i1"))
        arguments = add_inputs(made, dict.fromkeys(inputs.values(), kind))
        by_value = {name: arguments[inputs[name]] for name in inputs}
        toggles = _toggle_values(rounded, names, by_value)
        for op, operands in before:
            _toggle_constants(op, operands, toggles)
    return FakeQuantToggles(made, inputs)


def _toggle_names(module: Module, table: ScaleTable) -> dict[str, str]:
    """Return an unused input name for each value of the table."""
    prefix = "round "
    while any(name.startswith(prefix) for name in input_names(module)):
        prefix += " "
    return {name: prefix + name for name in table.values}


def _toggle_values(
    rounded: Mapping[ir.Value, ir.Value],
    names: Mapping[ir.Value, str],
    by_value: Mapping[str, ir.Value],
) -> dict[ir.Value, ir.Value]:
    """Select between each value and its rounded form; return the toggle of each result.

    A moved value shares the toggle of its source, as it shares its scale.
    """
    toggles: dict[ir.Value, ir.Value] = {}
    for value, new in rounded.items():
        source = value.owner.operation.operands[0] if is_moved(value) else None
        toggle = toggles[source] if source in toggles else by_value[names[value]]
        uses = [(use.owner.operation, use.operand_number) for use in new.uses]
        with ir.InsertionPoint.after(new.owner.operation):
            chosen = tri.Where.build(toggle, new, value).y
        for owner, index in uses:
            owner.operands[index] = chosen
        toggles[chosen] = toggle
    return toggles


def _toggle_constants(op: Op, before: list[ir.Value], toggles: Mapping[ir.Value, ir.Value]) -> None:
    """Select the rounded constants of an op where one of its data operands is rounded."""
    on = [toggles[value] for value in data_operands(op) if value in toggles]
    for index, old in enumerate(before):
        new = op.operation.operands[index]
        if new == old or new in toggles:
            continue
        with ir.InsertionPoint(op.operation):
            any_on = functools.reduce(_either, on)
            op.operation.operands[index] = tri.Where.build(any_on, new, old).y


def _either(a: ir.Value, b: ir.Value) -> ir.Value:
    return tri.Or.build(a, b).y
