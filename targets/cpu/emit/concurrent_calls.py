"""Find calls that threads make at the same time, because no phase of theirs can be shared.

Threads share the phases of a kernel, which divides their work best. In what goes step by step, such
as a recurrent layer, they would wait for one another after each step, or all for one of them. So
each makes another such call meanwhile, where neither depends on the other. Calls that are
concurrent follow one another.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....dialects import tri
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, direct_ops
from ....dialects.core.op import Op
from ....dialects.core.sizes.substitution import likely
from ....dialects.core.symbol_scope import symbols_defined
from ...memory.values import NO_CODE_OPS
from ...program.calls import NumberedCall
from ...program.in_place import updates_in
from ...program.load_calls import load_groups
from ..kernels.kernel_module import Kernel
from .share_phases import GRAIN

LEAST = 4 * GRAIN
"""The least number of instructions of a call for which another thread is worth the trouble."""


@dataclass(frozen=True)
class _Costs:
    """Count the instructions of a call: all, and those that take time when two threads share it.

    A phase of steps counts whole: threads that share it wait for one another after each step.
    """

    whole: int
    shared: int

    @staticmethod
    def of(kernel: Kernel) -> "_Costs":
        whole = shared = 0
        for phase in kernel.phases:
            work = likely(phase.work) * likely(phase.steps)
            chunks = min(likely(phase.iterations), work // GRAIN)
            whole += work
            shared += work // 2 if chunks > 1 and phase.steps == 1 else work
        return _Costs(whole, shared)

    @property
    def is_serial(self) -> bool:
        """Return whether another thread has little to do during the call."""
        return self.whole >= LEAST and 4 * self.shared > 3 * self.whole


def order_concurrent(module: Module, kernels: Mapping[tri.Group, Kernel]) -> dict[Op, int]:
    """Move groups whose kernels may run at the same time next to one another.

    Return the number of the set of each of them, from 1 on. What a group depends on moves with it.
    """
    costs = {group: _Costs.of(kernel) for group, kernel in kernels.items()}
    loaded = load_groups(module)
    serial = {group for group, cost in costs.items() if cost.is_serial and group not in loaded}
    found: dict[Op, int] = {}
    if len(serial) > 1:
        for block in tri.run_blocks(module.main):
            for members in _sets(block, serial, costs.keys()):
                number = 1 + len({*found.values()})
                found |= dict.fromkeys(members, number)
    return found


def concurrent_counts(calls: Sequence[NumberedCall]) -> dict[int, int]:
    """Return how many concurrent calls each set has, by the number of its first call."""
    first: dict[int, int] = {}
    for number, call in calls:
        if call.concurrent:
            first.setdefault(call.concurrent, number)
    return dict(Counter(first[call.concurrent] for _, call in calls if call.concurrent))


def _sets(block: ir.Block, serial: set[tri.Group], known: Iterable[Op]) -> list[list[Op]]:
    """Find the sets of a block and put their members in a row; none is in two sets."""
    movable = {op for op in known if not list(updates_in(op)) and not symbols_defined(op)}
    sets: list[list[Op]] = []
    taken: set[Op] = set()
    for first in [op for op in direct_ops(block) if op in serial and op in movable]:
        if first not in taken:
            members = _gather(block, first, serial - taken, movable)
            taken.update(members)
            if len(members) > 1:
                sets.append(members)
    return sets


def _gather(block: ir.Block, first: Op, serial: set[tri.Group], movable: set[Op]) -> list[Op]:
    """Move all serial groups behind one, and independent of it and one another, to it."""
    ops = direct_ops(block)
    members = [first]
    dependent: set[ir.Value] = set(first.results)
    between: list[Op] = []
    for op in ops[ops.index(first) + 1 :]:
        if not (op in movable or isinstance(op, NO_CODE_OPS)):
            break
        if dependent.intersection(op.operation.operands):
            dependent.update(op.results)
        elif op in serial:
            _move(op, members, between)
            members.append(op)
            dependent.update(op.results)
            continue
        between.append(op)
    return members


def _move(op: Op, members: Sequence[Op], between: list[Op]) -> None:
    """Move a group behind the last member, and what it needs before the first one."""
    needed: set[ir.Value] = set(op.operation.operands)
    before: list[Op] = []
    for each in reversed(between):
        if needed.intersection(each.results):
            needed.update(each.operation.operands)
            before.append(each)
    for each in reversed(before):
        each.operation.move_before(members[0].operation)
        between.remove(each)
    op.operation.move_after(members[-1].operation)
