"""Try whether ops with symbols can be lowered, before they are placed."""

from collections.abc import Callable, Hashable, Sequence
from weakref import WeakKeyDictionary

from ..dialects import tri
from ..dialects.core.errors import Undecided
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, add_main
from ..dialects.core.op import Op
from ..passes.fuse.grouping import copy_into
from .symbolic import has_symbols

Fault = Callable[[tri.Group, Module, Hashable], str]
"""Return what in a group, in a module, depends on the sizes of a run; empty if nothing does."""


class SizeTrial:
    """Lower the kernel of some ops for a target, and drop it; equal kernels are tried once.

    `structure` returns equal keys for equal groups. Answers are kept for each context.
    """

    def __init__(
        self, target: str, structure: Callable[[tri.Group], Hashable], fault: Fault
    ) -> None:
        self._target = target
        self._structure = structure
        self._fault = fault
        self._tried: WeakKeyDictionary[ir.Context, dict[Hashable, str]] = WeakKeyDictionary()

    def undecided_by(self, members: Sequence[Op]) -> str | None:
        """Return what in the kernel of some ops depends on the sizes of a run, or None.

        Ops without symbols are not tried.
        """
        if not any(map(has_symbols, members)):
            return None
        context = members[0].operation.context
        known = self._tried.setdefault(context, {})
        with context, ir.Location.unknown():
            module = Module(ir.Module.create())
            group = _grouped(members, module, self._target)
            same = self._structure(group)
            if same not in known:
                known[same] = self._fault(group, module, same)
        return known[same] or None

    def refusal(self, members: Sequence[Op]) -> str | None:
        """Return why the target has no kernel of ops for all sizes of their symbols, or None."""
        reason = self.undecided_by(members)
        if reason is None:
            return None
        names = " + ".join(op.op_name for op in members if not isinstance(op, tri.Constant))
        return f"{self._target} has no kernel for all sizes of {names}, which {reason}"


def fault_of(lower: Callable[[], object]) -> str:
    """Return what a lowering finds to depend on the sizes of a run; empty if nothing does."""
    try:
        lower()
    except Undecided as reason:
        return str(reason)
    return ""


def _grouped(members: Sequence[Op], module: Module, target: str) -> tri.Group:
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
        group = tri.Group.create([list(block.arguments)], types, {"target": target})
        ir.Operation.create("func.return", [], [])
    copy_into(group, inputs, members, outputs)
    return group
