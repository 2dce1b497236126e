"""Placement: decide for every op which target runs it."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from ...dialects import tri
from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.location import describe
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, direct_ops
from ...dialects.core.op import Op, view
from ...passes.core import Pass
from ...passes.default import GROUPINGS
from ...passes.eliminate import Eliminate
from ...passes.fuse.grouping import copy_into, inline, is_number, replace_by
from ..core import Target
from ..registry import choose_target

UNPLACED_OPS = (tri.Constant, tri.Weight, tri.Reshape, tri.Copy)
"""Ops that no target runs: constants are data, a reshape is another view of the same memory, and
copies are made between kernels."""


@dataclass(frozen=True)
class Placement:
    """Record the target of the ops of one kernel, and why each earlier choice refused them.

    `sizes` are those of a program for exact sizes. `seconds` are the estimates of the targets that
    take all of its ops, by which placement by cost chooses.
    """

    target: str
    nodes: tuple[str, ...]
    ops: tuple[str, ...]
    refusals: tuple[str, ...]
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    seconds: dict[str, float] = field(default_factory=dict[str, float])


class Place(Pass):
    """Give every op a target: the first of `targets` that accepts it.

    A group goes as a whole, or is dissolved: when no target takes all of it, and when the first
    target takes a part of it. The ops of dissolved groups are grouped again, those of each target
    by themselves. What is not in a group becomes a group of its own. CompileError lists the ops
    that no target takes.

    %y = "tri.topk"(%x)   =>   %y = "tri.group"(%x) ({ … "tri.topk" … }) {target = "host"}
    tri.group { linear; mul; relu }
        =>   tri.group { linear } {target = "host"}; tri.group { mul; relu } {target = "cpu"}
    """

    needed = True

    targets: tuple[str, ...] = ("cpu", "host")

    def run(self, module: Module) -> None:
        choices = [choose_target(choice) for choice in self.targets]
        with module.operation.context:
            block = module.main_block
            single = {op.results[0] for op in direct_ops(block) if not isinstance(op, tri.Group)}
            if _dissolve_refused(module, choices):
                _regroup(module, single, choices)
                _dissolve_refused(module, choices)
                Eliminate().run(module)
            refused: list[Diagnostic] = []
            for op in direct_ops(block):
                refused += _place(op, choices, module)
        if refused:
            raise CompileError(refused)


def placed_groups(module: Module) -> list[tri.Group]:
    """List the groups of a placed module and of the bodies in it, in order."""
    found = (op for block in tri.run_blocks(module.main) for op in direct_ops(block))
    return [op for op in found if isinstance(op, tri.Group)]


def running_in(group: tri.Group) -> list[Op]:
    """List the ops of a group that do something when it runs."""
    return [op for op in group.members if not isinstance(op, UNPLACED_OPS)]


def refusals_in(group: tri.Group, target: Target, module: Module) -> list[tuple[Op, str]]:
    """List the ops of a group that a target did not take, each with the reason."""
    whole = "; ".join(placement_refusals(group, target, module))
    return [(op, explained_refusal(op, target, module) or whole) for op in running_in(group)]


def explained_refusal(op: Op, target: Target, module: Module | None) -> str | None:
    """Return why a target does not accept an op: the reason of an earlier pass, if there is one."""
    return _refusal(op, target, module) or target.size_refusal([op])


def _refusal(op: Op, target: Target, module: Module | None) -> str | None:
    refusal = target.refusal(op)
    if refusal is None or module is None:
        return refusal
    return module.refusal(target.name, op) or refusal


def _dissolve_refused(module: Module, choices: Sequence[Target]) -> bool:
    """Dissolve the groups that no target takes as they are; return whether there were any."""
    groups = [group for group in placed_groups(module) if _must_part(group, choices)]
    for group in groups:
        inline(group)
    return bool(groups)


def _regroup(module: Module, single: Container[ir.Value], choices: Sequence[Target]) -> None:
    """Group the ops that one target takes, except those of the `single` results."""
    block = module.main_block
    for target in choices:
        for grouping in GROUPINGS:
            found = direct_ops(block)
            free = [op for op in found if not isinstance(op, (*UNPLACED_OPS, tri.Group))]
            taken = [op.results[0] for op in free if _choose(op, choices) is target]
            grouping.group(module, {value for value in taken if value not in single})


def _place(op: Op, choices: Sequence[Target], module: Module) -> list[Diagnostic]:
    """Place one op; return why each target refuses it when all do."""
    if isinstance(op, UNPLACED_OPS):
        return []
    target = _choose(op, choices)
    if target is None:
        found = (r for t in choices for r in placement_refusals(op, t, module))
        reasons = "; ".join(dict.fromkeys(found))
        message = f"'{op.op_name}' op runs on no target: {reasons}"
        return [Diagnostic(describe(op.location), message)]
    group = op if isinstance(op, tri.Group) else _enclose(op, target)
    group.operation.attributes["target"] = ir.StringAttr.get(target.name)
    return []


def _must_part(group: tri.Group, choices: Sequence[Target]) -> bool:
    """Return whether to dissolve a group: a later target must not take what the first would."""
    target = _choose(group, choices)
    if target is None or target is choices[0]:
        return target is None
    return any(explained_refusal(op, choices[0], None) is None for op in running_in(group))


def _choose(op: Op, choices: Sequence[Target]) -> Target | None:
    return next((t for t in choices if not placement_refusals(op, t)), None)


def placement_refusals(op: Op, target: Target, module: Module | None = None) -> list[str]:
    """List why a target does not take an op, or the group that it is, as one kernel.

    With a module, refusals of earlier passes are the reasons.
    """
    members = op.members if isinstance(op, tri.Group) else [op]
    refusals = form_refusals(op, target, module)
    if not refusals and (refusal := target.size_refusal(members)):
        return [refusal]
    return refusals


def form_refusals(op: Op, target: Target, module: Module | None = None) -> list[str]:
    """List why a target takes an op, or a group, at no sizes of symbols."""
    if not isinstance(op, tri.Group):
        return [r for r in [_refusal(op, target, module)] if r]
    members = op.members
    if refusals := [r for m in members if (r := _member_refusal(m, target, module))]:
        return refusals
    refusal = target.kernel_refusal(members) if len(members) > 1 else None
    return [refusal] if refusal else []


def _member_refusal(op: Op, target: Target, module: Module | None) -> str | None:
    """Return why a target does not take an op in a kernel of its own."""
    if not isinstance(op, tri.Constant):
        return _refusal(op, target, module)
    return None if op.value.size == 1 else f"{target.name} takes large constants as operands only"


def _enclose(op: Op, target: Target) -> tri.Group:
    """Put one op into a group of its own, with the numbers it reads where kernels hold them."""
    operands = list(dict.fromkeys(op.operation.operands))
    numbers = [value for value in operands if op.elementwise and is_number(value)]
    members = [member for v in numbers if (member := view(v.owner)) is not None]
    if members and target.kernel_refusal([*members, op]) is not None:
        numbers = []
    inputs = [value for value in operands if value not in numbers]
    types = [v.type for v in op.results]
    with ir.InsertionPoint(op.operation):
        group = tri.Group.create([inputs], types, {"target": ""}, loc=op.location)
    outputs = list(op.results)
    copy_into(group, inputs, [op], outputs)
    replace_by(group, outputs, [op])
    return group
