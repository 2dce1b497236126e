"""A model whose inputs say of each value whether it is rounded: compiled once, it runs any choice.

    %q = tri.dequantize (tri.quantize %x to …)   =>   %r = tri.where %switch, %q, %x
    tri.conv %q, %rounded                             tri.conv %r, (tri.where %switch, %rounded, %w)

Weights are rounded where the op reads a value that is, as `quantize` does it.
"""

import functools
from collections.abc import Mapping

from ...dialects import tri
from ...dialects.core.attributes import type_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, ops
from ...dialects.core.op import Op
from ...dialects.core.tensor import Tensor
from ...passes.quantize.quantizable import data_operands, is_moved, is_supported, names_of
from ...passes.quantize.quantize import quantize_by
from ...passes.quantize.scale_table import ScaleTable
from .variants import add_inputs, copied, input_names


def switched(module: Module, table: ScaleTable, per_tensor: bool) -> tuple[Module, dict[str, str]]:
    """Return a copy of a module with a switch for each value of a table, and the switches' names.

    With all switches on it is what `quantize_by` makes of the module, with all off what it was.
    """
    made = copied(module)
    before = [(op, list(op.operation.operands)) for op in ops(made.operation) if is_supported(op)]
    names = names_of(made)
    rounded = quantize_by(made, table, per_tensor)
    with module.operation.context, ir.Location.unknown():
        inputs = _switch_names(made, table)
        kind = type_of(Tensor((), "i1"))
        arguments = add_inputs(made, dict.fromkeys(inputs.values(), kind))
        by_value = {name: arguments[inputs[name]] for name in inputs}
        switches = _switch_values(rounded, names, by_value)
        for op, operands in before:
            _switch_constants(op, operands, switches)
    return made, inputs


def _switch_names(module: Module, table: ScaleTable) -> dict[str, str]:
    """Name an input for each value of the table, as no other input is called."""
    prefix = "round "
    while any(name.startswith(prefix) for name in input_names(module)):
        prefix += " "
    return {name: prefix + name for name in table.values}


def _switch_values(
    rounded: Mapping[ir.Value, ir.Value],
    names: Mapping[ir.Value, str],
    by_value: Mapping[str, ir.Value],
) -> dict[ir.Value, ir.Value]:
    """Choose between each value and what it is rounded to; return the switches of the choices.

    What is moved has the switch of what it is moved from, as it has its scale.
    """
    switches: dict[ir.Value, ir.Value] = {}
    for value, new in rounded.items():
        source = value.owner.operation.operands[0] if is_moved(value) else None
        switch = switches[source] if source in switches else by_value[names[value]]
        uses = [(use.owner.operation, use.operand_number) for use in new.uses]
        with ir.InsertionPoint.after(new.owner.operation):
            chosen = tri.Where.build(switch, new, value).y
        for owner, index in uses:
            owner.operands[index] = chosen
        switches[chosen] = switch
    return switches


def _switch_constants(
    op: Op, before: list[ir.Value], switches: Mapping[ir.Value, ir.Value]
) -> None:
    """Choose between constants of an op as they were, and rounded where one of its data is."""
    on = [switches[value] for value in data_operands(op) if value in switches]
    for index, old in enumerate(before):
        new = op.operation.operands[index]
        if new == old or new in switches:
            continue
        with ir.InsertionPoint(op.operation):
            any_on = functools.reduce(_either, on)
            op.operation.operands[index] = tri.Where.build(any_on, new, old).y


def _either(a: ir.Value, b: ir.Value) -> ir.Value:
    return tri.Or.build(a, b).y
