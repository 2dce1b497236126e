"""The quantisation error of each op alone: its operands are exact, then rounded, like its result.

    %q = tri.dequantize (tri.quantize %x to …)   =>   %q = … of %given_x
    %y = tri.conv %q, %weights                        %y = tri.conv %q, %weights
    %r = tri.dequantize (tri.quantize %y to …)        %r = …, which is returned

The consumers of %r read the exact %y, so errors do not accumulate.
"""

from ...dialects import tri
from ...dialects.core.interface import add_inputs, input_names, set_results
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import view
from ...passes.quantize.quantizable import is_moved, names_of
from ...passes.quantize.quantize import quantize_by
from .closeness import Closeness, Sums
from .evaluator import QuantizationCase
from .observe import watched
from .variants import compiled, copied


def per_layer_error(case: QuantizationCase) -> dict[str, Closeness]:
    """Return the closeness of each value of the table when the operands of its op were exact."""
    sums = {name: Sums() for name in case.table.values}
    exact = watched(case.module, sums, case.progress)
    rounded = compiled(_isolated(case), case.progress)
    for feed in case.feeds:
        known = exact(feed)
        found = rounded.run({port.name: known[port.name] for port in rounded.inputs})
        for name, array in found.items():
            sums[name].add(known[name], array)
    return {name: each.closeness for name, each in sums.items()}


def _isolated(case: QuantizationCase) -> Module:
    """Return a model that takes all values of the table as floats and returns them rounded."""
    made = copied(case.module)
    names, inputs = names_of(made), input_names(made)
    rounded = quantize_by(made, case.table, case.per_tensor)
    results = {names[value]: new for value, new in rounded.items() if not is_moved(value)}
    inner = {name: new for name, new in results.items() if name not in inputs}
    with made.operation.context, ir.Location.unknown():
        given = add_inputs(made, {name: new.type for name, new in inner.items()})
        for name, new in inner.items():
            _read_instead(new, given[name], made.main_block)
        set_results(made, results)
    return made


def _read_instead(rounded: ir.Value, given: ir.Value, block: ir.Block) -> None:
    """Replace the uses of a rounded value by another value, rounded in the same way."""
    uses = [(use.owner.operation, use.operand_number) for use in rounded.uses]
    made_by = view(rounded.owner)
    assert isinstance(made_by, tri.Dequantize)
    with ir.InsertionPoint.at_block_begin(block):
        numbers = tri.Quantize.build(given, to=made_by.of).y
        likewise = tri.Dequantize.build(numbers, of=made_by.of).y
    for owner, index in uses:
        owner.operands[index] = likewise
