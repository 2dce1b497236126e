"""Split kernels into phases: each must end before the next may begin.

Top-level operations are grouped in order: the loops of one `spread` are a phase that is cut into
chunks; the operations between two such phases are a phase of one chunk. Each chunk that reads
private memory writes it first.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....passes.core import Pass
from ..kernels.effects import Access, Effects, is_pure
from ..kernels.index import TRIPS, IndexExpr, arith, scf
from ..kernels.kernel_module import BEGIN, END, PHASE, Phase, kernel_modules
from ..kernels.loops import GROUP, ORDERED, PIECE, SPREAD
from ..kernels.record import declare_words, emit_in_words, size_of_mark


class SplitPhases(Pass):
    """Split kernels into phases, of which calls run ranges of iterations.

    The attribute `cpu.phases` of a kernel module lists the iterations, the work and the steps of
    each phase, as expressions of the words of its record where they depend on symbols.

        scf.for %i = %0 to %n { … } {spread}; scf.for %j = %0 to %m { … } {spread}
            =>   scf.if (%phase == 0) { scf.for %i = clamp(%begin) to clamp(%end) { … } }
                 scf.if (%phase == 1) { scf.for %j = clamp(%begin) to clamp(%end) { … } }
    """

    def run(self, module: Module) -> None:
        with module.operation.context, ir.Location.unknown():
            for kernel in kernel_modules(module):
                if not kernel.is_split:
                    declare_words(kernel.operation.context, kernel.words)
                    entry = kernel.function.regions[0].blocks[0]
                    kernel.phases = split(entry, kernel.private_arguments)


@dataclass(frozen=True)
class _Part:
    """Gather operations of a phase; `loops` are those of them that are cut."""

    operations: tuple[ir.Operation, ...] = ()
    access: Access = field(default_factory=Access)
    loops: tuple[ir.Operation, ...] = ()

    @property
    def iterations(self) -> Size:
        total = sum(map(_iterations, self.loops))
        return 1 if total == 0 else total

    @property
    def steps(self) -> Size:
        return _count(self.loops[0]) if self.is_ordered else 1

    @property
    def is_ordered(self) -> bool:
        return any(ORDERED in loop.attributes for loop in self.loops)

    def join(self, other: "_Part", *loops: ir.Operation) -> "_Part":
        operations = (*self.operations, *other.operations)
        return _Part(operations, self.access.join(other.access), loops)


def split(entry: ir.Block, private: frozenset[int]) -> tuple[Phase, ...]:
    """Make the body of a kernel do a range of one phase at a time; return its phases.

    `private` are the numbers of the arguments that each thread has for itself.
    """
    parts = _without_results(_group(entry))
    parts = [_in_order(part, private) for part in parts]
    parts = _filled_by_users(parts, private)
    phases = tuple(Phase(part.iterations, part.access.work, part.steps) for part in parts)
    for part in parts:
        _cut(part, entry)
    if len(parts) > 1:
        _branch(entry, parts)
    return phases


def _group(entry: ir.Block) -> list[_Part]:
    """Group the top-level operations, except pure ones, which all phases share."""
    effects = Effects(entry)
    shared: set[ir.Value] = set(entry.arguments)
    parts: list[_Part] = []
    for operation in [o.operation for o in entry.operations][:-1]:
        if is_pure(operation, effects) and shared.issuperset(operation.operands):
            shared.update(operation.results)
            continue
        loops = (operation,) if SPREAD in operation.attributes else ()
        part = _Part((operation,), effects.of(operation), loops)
        if parts and _together(parts[-1].loops, loops):
            parts[-1] = parts[-1].join(part, *parts[-1].loops, *loops)
        else:
            parts.append(part)
    return parts or [_Part()]


def _together(before: Sequence[ir.Operation], after: Sequence[ir.Operation]) -> bool:
    """Return whether two parts are one phase: neither is cut, or both belong to one `spread`."""
    if not before or not after:
        return not before and not after
    return _mark(before[0], GROUP) == _mark(after[0], GROUP)


def _without_results(parts: list[_Part]) -> list[_Part]:
    """Merge the parts that pass values to one another: between phases, only memory does."""
    number = 0
    while number < len(parts):
        where = {op: i for i, part in enumerate(parts) for op in part.operations}
        users = (
            where[_top_of(use.owner.operation, where)]
            for operation in parts[number].operations
            for result in operation.results
            for use in result.uses
        )
        last = max(users, default=number)
        parts = _merge(parts, number, last)
        number += last == number
    return parts


def _top_of(operation: ir.Operation, tops: Container[ir.Operation]) -> ir.Operation:
    while operation not in tops:
        assert operation.parent is not None, "what uses a result is in the same kernel"
        operation = operation.parent.operation
    return operation


def _merge(parts: list[_Part], first: int, last: int) -> list[_Part]:
    """Merge the parts from `first` to `last` into one part that is not cut."""
    if first == last:
        return parts
    merged = _Part()
    for part in parts[first : last + 1]:
        merged = merged.join(part)
    return [*parts[:first], merged, *parts[last + 1 :]]


def _in_order(part: _Part, private: frozenset[int]) -> _Part:
    """Do not cut a loop that reads memory it writes: unless in steps, or the memory is private."""
    if part.is_ordered:
        return part
    both = part.access.reads & part.access.writes
    return part if both <= private else _Part(part.operations, part.access)


def _filled_by_users(parts: list[_Part], private: frozenset[int]) -> list[_Part]:
    """Begin each chunk of a phase with the operations that write its private memory."""
    number = 0
    while number < len(parts):
        part = parts[number]
        mine = part.access.uses & private
        sharing = [i for i, other in enumerate(parts) if other.access.uses & mine and i != number]
        if not sharing:
            number += 1
        elif sharing == [number + 1] and part.access.writes <= private:
            user = parts[number + 1]
            parts = [*parts[:number], part.join(user, *user.loops), *parts[number + 2 :]]
        else:
            parts = _merge(parts, min(number, *sharing), max(number, *sharing))
            number = 0
    return parts


def _iterations(loop: ir.Operation) -> Size:
    """Return the iterations of a loop, those of one step where it has steps."""
    inner = _mark(loop, SPREAD)
    return inner if ORDERED in loop.attributes else _count(loop) * inner


def _cut(part: _Part, entry: ir.Block) -> None:
    """Let the loops of a part run over their part of the range that the kernel is called for."""
    begin, end = IndexExpr(entry.arguments[BEGIN]), IndexExpr(entry.arguments[END])
    first = IndexExpr(0)
    for loop in part.loops:
        with ir.InsertionPoint(loop):
            inner = _index(_mark(loop, SPREAD), entry)
            count = _trips(loop) * inner
            low, high = _clamped(begin - first, count), _clamped(end - first, count)
            # There may be no inner iterations, but divisions are done even so.
            divisor = inner.maximum(1)
            _set_bounds(loop, _over(low, divisor), _over(high + (divisor - 1), divisor))
            first += count
        if inner.known != 1:
            _cut_pieces(loop, low, high, inner, entry)


def _cut_pieces(
    loop: ir.Operation, low: IndexExpr, high: IndexExpr, inner: IndexExpr, entry: ir.Block
) -> None:
    body = loop.regions[0].blocks[0]
    start = IndexExpr(body.arguments[0])
    for operation in [o.operation for o in body.operations]:
        if PIECE not in operation.attributes:
            continue
        count = _trips(operation)
        with ir.InsertionPoint(operation):
            offset = start * inner + _index(_mark(operation, PIECE), entry)
            _set_bounds(operation, _clamped(low - offset, count), _clamped(high - offset, count))


def _set_bounds(loop: ir.Operation, low: IndexExpr, high: IndexExpr) -> None:
    loop.operands[0] = low.ssa
    loop.operands[1] = high.ssa


def _over(index: IndexExpr, divisor: IndexExpr) -> IndexExpr:
    """Divide a non-negative index by a positive one."""
    if divisor.known is not None:
        return index // divisor.known
    return IndexExpr(arith.divui(index.ssa, divisor.ssa))


def _clamped(index: IndexExpr, most: IndexExpr) -> IndexExpr:
    return index.maximum(0).minimum(most)


def _branch(entry: ir.Block, parts: Sequence[_Part]) -> None:
    """Move each part into a branch that is only taken in its phase."""
    end = entry.operations[len(entry.operations) - 1].operation
    for number, part in enumerate(parts):
        with ir.InsertionPoint(end):
            asked = IndexExpr(entry.arguments[PHASE]).equal(number)
            branch = scf.IfOp(asked.ssa)
            with ir.InsertionPoint(branch.then_block):
                last = scf.yield_([])
        for operation in part.operations:
            operation.move_before(last)


def _mark(operation: ir.Operation, name: str) -> Size:
    return size_of_mark(operation.attributes[name])


def _count(loop: ir.Operation) -> Size:
    """Return the trip count of a loop, as an expression of words where it depends on them."""
    if TRIPS in loop.attributes:
        return _mark(loop, TRIPS)
    number: int = loop.operands[1].owner.operation.attributes["value"].value
    return number


def _trips(loop: ir.Operation) -> IndexExpr:
    """Return the trip count of a loop before it is cut."""
    return IndexExpr(loop.operands[1] if TRIPS in loop.attributes else _count(loop))


def _index(size: Size, entry: ir.Block) -> IndexExpr:
    """Emit an expression of words; numbers stay such."""
    return IndexExpr(emit_in_words(entry, size) if is_symbolic(size) else size)
