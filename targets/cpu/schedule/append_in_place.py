"""Append in place to what loops carry: what a body only makes longer is not copied."""

from collections.abc import Iterator

from ....dialects import cpu, tri
from ....dialects.core.attributes import order_of, tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, functions
from ....dialects.core.op import view
from ....dialects.core.symbol_scope import symbols_defined
from ....dialects.core.tensor import normalize_axis
from ....dialects.tri.control_flow import run_blocks
from ....passes.core import Pass
from ...program.bodies import changing_ends

CPU = "cpu"


class AppendInPlace(Pass):
    """Append in place where a kernel joins what a loop carries and more, for the next iteration.

    Axes before that along which it grows have size 1: the memory of what is longer then begins with
    that of what is shorter. What else reads either of them finds the same elements.

        tri.loop { ^(%h): %y = tri.group %h, %x { tri.concat %h, %x }; …; yield %y }
            =>   tri.loop { ^(%h): %y = tri.group %h, %x { cpu.append %h, %x }; …; yield %y }
    """

    def run(self, module: Module) -> None:
        for function in functions(module.operation):
            for loop in list(_loops(function)):
                for argument, end in list(changing_ends(loop)):
                    _append(loop, argument, end)


def _loops(function: ir.Operation) -> Iterator[tri.Loop]:
    blocks = list(run_blocks(function))[1:]
    owners = (view(block.owner) for block in blocks)
    return (owner for owner in owners if isinstance(owner, tri.Loop))


def _append(loop: tri.Loop, argument: ir.Value, end: ir.Value) -> None:
    """Replace the op that makes the end of a body, if it only adds to an argument of the body."""
    group = view(end.owner) if isinstance(end, ir.OpResult) else None
    if not isinstance(group, tri.Group) or group.target != CPU or len(group.results) != 1:
        return
    *_, concat = group.members
    if not isinstance(concat, tri.Concat) or not _adds(group, concat, argument):
        return
    inside = {
        name
        for op in loop.bodies[0].operations
        if (each := view(op))
        for name in symbols_defined(each)
    }
    if inside & tensor_of(end.type).symbols:
        return  # nobody knows the size before the body runs
    with ir.InsertionPoint(concat.operation), concat.location:
        x, *added = concat.xs
        made = cpu.Append.build(x, added, axis=concat.axis)
    concat.y.replace_all_uses_with(made.y)
    concat.operation.erase()


def _adds(group: tri.Group, concat: tri.Concat, argument: ir.Value) -> bool:
    """Return whether an op joins an argument of a body, from its first element on, and more."""
    operands: dict[ir.Value, ir.Value] = dict(zip(group.block.arguments, group.inputs, strict=True))
    if operands.get(concat.xs[0]) != argument:
        return False
    y = tensor_of(concat.y.type)
    axis = normalize_axis(concat.axis, y.rank)
    plain = all(order_of(v.type) == tuple(range(y.rank)) for v in (argument, group.results[0]))
    return plain and all(size == 1 for size in y.shape[:axis])
