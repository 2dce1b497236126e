"""What each op loses by itself: all that it reads is exact, then rounded, and so is its result.

    %q = tri.dequantize (tri.quantize %x to …)   =>   %q = … of %given_x
    %y = tri.conv %q, %weights                        %y = tri.conv %q, %weights
    %r = tri.dequantize (tri.quantize %y to …)        %r = …, which is returned

Whoever reads %r is given %y in floats as well, so no op reads what another has lost.
"""

from ...dialects import tri
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import view
from ...passes.quantize.quantizable import is_moved, names_of
from ...passes.quantize.quantize import quantize_by
from .closeness import Closeness, Sums
from .judge import Subject
from .observe import watched
from .variants import add_inputs, block_of, compiled, copied, input_names, set_results


def local_closeness(subject: Subject) -> dict[str, Closeness]:
    """Say how close each value of the table is when all that its op reads was exact before."""
    sums = {name: Sums() for name in subject.table.values}
    exact = watched(subject.module, sums, subject.progress)
    rounded = compiled(_apart(subject), subject.progress)
    for feed in subject.feeds:
        known = exact(feed)
        found = rounded.run({port.name: known[port.name] for port in rounded.inputs})
        for name, array in found.items():
            sums[name].add(known[name], array)
    return {name: each.closeness for name, each in sums.items()}


def _apart(subject: Subject) -> Module:
    """Return a model that takes all values of the table as floats, and returns all rounded."""
    made = copied(subject.module)
    names, inputs = names_of(made), input_names(made)
    rounded = quantize_by(made, subject.table, subject.per_tensor)
    results = {names[value]: new for value, new in rounded.items() if not is_moved(value)}
    inner = {name: new for name, new in results.items() if name not in inputs}
    with made.operation.context, ir.Location.unknown():
        given = add_inputs(made, {name: new.type for name, new in inner.items()})
        for name, new in inner.items():
            _read_instead(new, given[name], block_of(made))
        set_results(made, results)
    return made


def _read_instead(rounded: ir.Value, given: ir.Value, block: ir.Block) -> None:
    """Let all that reads a rounded value read another one, rounded likewise."""
    uses = [(use.owner.operation, use.operand_number) for use in rounded.uses]
    made_by = view(rounded.owner)
    assert isinstance(made_by, tri.Dequantize)
    with ir.InsertionPoint.at_block_begin(block):
        numbers = tri.Quantize.build(given, to=made_by.of).y
        likewise = tri.Dequantize.build(numbers, of=made_by.of).y
    for owner, index in uses:
        owner.operands[index] = likewise
