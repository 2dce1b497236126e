"""Try whether ops with symbols can be lowered, before they are placed; the cache keeps answers."""

from collections.abc import Hashable, Sequence
from weakref import WeakKeyDictionary

from ....dialects import tri
from ....dialects.core.errors import Undecided
from ....dialects.core.machine import LEVELS
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, add_main
from ....dialects.core.op import Op, view
from ...symbolic import has_symbols
from ..lower.group import lower_group, structure
from .kernel_cache import recall_kernel, remember_kernel, source_of

_TRIED: WeakKeyDictionary[ir.Context, dict[Hashable, str]] = WeakKeyDictionary()


def undecided_by(members: Sequence[Op]) -> str | None:
    """Return what in the kernel of some ops depends on the sizes of a run, or None.

    Ops without symbols are not tried.
    """
    if not any(map(has_symbols, members)):
        return None
    context = members[0].operation.context
    known = _TRIED.setdefault(context, {})
    with context, ir.Location.unknown():
        module = Module(ir.Module.create())
        group = _grouped(members, module)
        same = structure(group)
        if same not in known:
            known[same] = _recalled(group, module, same)
    return known[same] or None


def _recalled(group: tri.Group, module: Module, same: Hashable) -> str:
    source = source_of(group, same, "undecided")
    if (found := recall_kernel(source)) is not None:
        return found.decode()
    fault = _fault(group, module)
    remember_kernel(source, fault.encode())
    return fault


def _fault(group: tri.Group, module: Module) -> str:
    try:
        with ir.InsertionPoint(module.ir.body):
            lower_group(group, LEVELS[-1])
    except Undecided as reason:
        return str(reason)
    return ""


def _grouped(members: Sequence[Op], module: Module) -> tri.Group:
    """Return a group of copies of ops, in a function of a module."""
    made = [value for op in members for value in op.results]
    read = dict.fromkeys(v for op in members for v in op.operation.operands)
    inputs = [value for value in read if value not in made]
    inside = {op.operation for op in members}
    used = [v for v in made if any(use.owner.operation not in inside for use in v.uses)]
    outputs = used or list(members[-1].results)
    block = add_main(module, inputs)
    with ir.InsertionPoint(block):
        types = [value.type for value in outputs]
        group = tri.Group.create([list(block.arguments)], types, {"target": "cpu"})
        ir.Operation.create("func.return", [], [])
    body = ir.Block.create_at_start(group.operation.regions[0], [v.type for v in inputs])
    copies: dict[ir.Value, ir.Value] = dict(zip(inputs, body.arguments, strict=True))
    with ir.InsertionPoint(body):
        for op in members:
            copy = op.operation.clone()
            for number, value in enumerate(op.operation.operands):
                copy.operands[number] = copies[value]
            copies |= dict(zip(op.results, copy.results, strict=True))
        tri.Yield.build([copies[value] for value in outputs])
    found = view(group.operation)
    assert isinstance(found, tri.Group)
    return found
