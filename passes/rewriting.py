"""`Pattern`: one local rewrite, and the driver that applies patterns until none fits."""

import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from ..dialects.core.errors import Undecided
from ..dialects.core.interpret import WEIGHT, ConstantEvaluator
from ..dialects.core.location import (
    fuse_locations,
    inner_location,
    node_location,
    node_names,
    value_names,
)
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, ops
from ..dialects.core.op import Op, view
from ..dialects.core.tensor import Array

AnyOp = TypeVar("AnyOp", bound=Op)

MAX_SWEEPS = 100

MOST_ELEMENTS = 1 << 20
"""How large a constant may be to be looked at, to see whether it is one number throughout."""


class NoMatch(Exception):
    """Report why a pattern leaves an op alone; `trivium-opt --debug=PASS` shows it."""


class Pattern:
    """Base of rewrites rooted at one class of op, or several.

    `rewrite` looks at the op first and raises `NoMatch` with the reason when the pattern does not
    apply; only then may it change the IR, through the rewriter. A question about sizes that depends
    on those of a run raises `Undecided`, and the pattern does not apply either.
    """

    root: type[Op] | tuple[type[Op], ...]

    def rewrite(self, op: Any, rewriter: "Rewriter") -> None:
        raise NotImplementedError


class Rewriter:
    """Look at and change IR around one op; keeps value identity and never leaves stale handles."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.changed = False
        self.erased: set[int] = set()
        self.constants = ConstantEvaluator(module.weights)
        self._named: Counter[str] | None = None

    # -- looking ------------------------------------------------------------------------------

    def producer(self, value: ir.Value, cls: type[AnyOp]) -> AnyOp:
        """Return the op that makes a value; NoMatch unless it is of the given class."""
        op = self.find_producer(value)
        if not isinstance(op, cls):
            made_by = op.op_name if op else "an input"
            raise NoMatch(f"operand is made by {made_by}, not {cls.op_name}")
        return op

    def find_producer(self, value: ir.Value) -> Op | None:
        """Return the op of ours that makes a value, or None for an argument."""
        return view(value.owner) if isinstance(value, ir.OpResult) else None

    def sole_producer(self, value: ir.Value, cls: type[AnyOp]) -> AnyOp:
        """Like `producer`, and NoMatch when the value has any other use than this one."""
        op = self.producer(value, cls)
        if (count := uses(value)) != 1:
            raise NoMatch(f"value of {cls.op_name} has {count} uses, must have 1")
        return op

    def constant(self, value: ir.Value | None) -> Array:
        """Return the numpy value of what depends on no input; NoMatch when it does."""
        array = self.constants(value) if value is not None and self.is_constant(value) else None
        if array is None:
            raise NoMatch("operand is not a constant")
        return array

    def is_constant(self, value: ir.Value) -> bool:
        """Return whether a value depends on no input, so that `constant` returns it."""
        return self.constants.is_constant(value)

    def need_constant(self, value: ir.Value) -> None:
        """Raise NoMatch when a value depends on an input."""
        if not self.is_constant(value):
            raise NoMatch("operand is not a constant")

    def need_weight(self, value: ir.Value) -> None:
        """Raise NoMatch when a value depends on an input; what it is need not be known yet."""
        if not self.is_constant(value) and not self.is_held(value):
            raise NoMatch("operand is not a constant")

    def is_held(self, value: ir.Value) -> bool:
        """Return whether a value is computed when a package is loaded, of weights that are held.

        Nobody may look at these: a session may have others later.
        """
        found, pending, seen = False, [value], {value}
        while pending and self.module.refit:
            op = self.find_producer(pending.pop())
            if op is None or op.fields.regions or not op.pure or op.terminator or op.symbols:
                return False
            found |= op.op_name == WEIGHT and op.attributes["name"] in self.module.refit
            pending += [v for v in op.operation.operands if v not in seen]
            seen.update(op.operation.operands)
        return found

    def find_constant(self, value: ir.Value) -> Array | None:
        """Return the numpy value of a constant op's result, or None."""
        owner = self.find_producer(value)
        if owner is None or owner.operation.operands:
            return None
        return self.constants(value)

    def scalar(self, value: ir.Value) -> float:
        """Return the one number that a constant consists of; NoMatch when there are others."""
        if self.find_constant(value) is None:
            raise NoMatch("operand is not a constant")
        number = self.find_scalar(value)
        if number is None:
            raise NoMatch("constant is not one number")
        return number

    def find_scalar(self, value: ir.Value) -> float | None:
        """Return the one number that a constant consists of, or None."""
        array = self.find_constant(value)
        if array is None or not 0 < array.size <= MOST_ELEMENTS:
            return None
        first = array.flat[0]
        if array.size > 1 and not (array.flat[-1] == first and (array == first).all()):
            return None
        return float(first)

    # -- changing -----------------------------------------------------------------------------

    def before(self, op: Op, *others: Op) -> "_Insertion":
        """Build new ops before `op`: `with rewriter.before(op): …`.

        They stand for the same source nodes, those of `others` included, and for none of its
        values: `replace` says which new op computes what the old one did.
        """
        parts = [other.location for other in in_order(other for other in others if other != op)]
        whole = fuse_locations([*parts, op.location]) if parts else op.location
        return _Insertion(ir.InsertionPoint(op.operation), inner_location(whole))

    def replace(self, op: Op, new: Op | Sequence[ir.Value], *others: Op) -> None:
        """Replace `op` by another op's results or by values, and erase it.

        `others` are ops whose work the new one also does: their locations are fused into it, and
        they are erased when nothing uses them any more.
        """
        replaced = in_order(other for other in others if other != op)
        parts = [*(other.location for other in replaced), op.location]
        if isinstance(new, Op):
            new.operation.location = fuse_locations(parts)
        elif len(new) == 1:
            self._hand_on(parts, new[0])
        else:
            self._hand_on_each(op, new)
        values = new.results if isinstance(new, Op) else new
        for old, value in zip(op.results, values, strict=True):
            old.replace_all_uses_with(value)
        self.erase(op)
        for other in reversed(replaced):
            self.erase_unused(other)

    def _hand_on_each(self, op: Op, new: Sequence[ir.Value]) -> None:
        """Give the ops that make several values the names that an op's results have."""
        nodes = inner_location(op.location)
        for value, name in zip(new, value_names(op.location), strict=False):
            if name and node_names(nodes):
                self._hand_on([nodes, node_location(node_names(nodes)[-1], [name])], value)

    def _hand_on(self, parts: Sequence[ir.Location], value: ir.Value) -> None:
        """Give the op that makes a value a source value's name, unless it has one already."""
        maker = self.find_producer(value)
        if maker is None or len(maker.results) != 1 or value_names(maker.location):
            return
        if value_names(parts[-1]):
            maker.operation.location = fuse_locations([maker.location, *parts])

    def set_operand(self, op: Op, index: int, value: ir.Value) -> None:
        """Let `op` use another value that holds the same; erase the old one's op if unused."""
        old = self.find_producer(op.operation.operands[index])
        op.operation.operands[index] = value
        self.changed = True
        if old is not None:
            self.erase_unused(old)

    def release(self, value: ir.Value) -> None:
        """Erase the weight that makes a value and free its array, if nothing else uses them."""
        op = self.find_producer(value)
        if op is None or op.op_name != WEIGHT or uses(value):
            return
        if self._named is None:
            found = (op for op in ops(self.module.operation) if op.op_name == WEIGHT)
            self._named = Counter(op.attributes["name"] for op in found)
        name = op.attributes["name"]
        self.erase(op)
        self._named[name] -= 1
        if self._named[name] == 0:
            self.module.weights.pop(name, None)  # weights that are held have no data there

    def erase_unused(self, op: Op) -> None:
        """Erase an op of which no result is used; leave it otherwise."""
        if not any(map(uses, op.results)):
            self.erase(op)

    def erase(self, op: Op) -> None:
        """Erase an op; its results must be unused."""
        self.changed = True
        self.constants.forget()
        self.erased.add(hash(op))
        op.operation.erase()


class _Insertion(AbstractContextManager[None]):
    """Enter an insertion point and a location together."""

    def __init__(self, point: ir.InsertionPoint, location: ir.Location) -> None:
        self.parts = (location, point)

    def __enter__(self) -> None:
        for part in self.parts:
            part.__enter__()

    def __exit__(self, *error: Any) -> None:
        for part in reversed(self.parts):
            part.__exit__(*error)


def uses(value: ir.Value) -> int:
    """Count the uses of a value."""
    return sum(1 for _ in value.uses)


def users(value: ir.Value) -> list[ir.Operation]:
    """List the operations that use a value, each once."""
    return list(dict.fromkeys(use.owner.operation for use in value.uses))


def in_order(found: Iterable[Op]) -> list[Op]:
    """Sort ops of one block as they stand in it, each once."""

    def compare(a: Op, b: Op) -> int:
        return -1 if a.operation.is_before_in_block(b.operation) else 1

    return sorted(dict.fromkeys(found), key=functools.cmp_to_key(compare))


class Log:
    """Collect why patterns did not match, for `--debug`."""

    def __init__(self) -> None:
        self.lines: list[tuple[ir.Location, str]] = []

    def add(self, rule: object, op: Op, reason: str) -> None:
        self.lines.append((op.location, f"{type(rule).__name__}: {op.op_name}: {reason}"))


LOGS: list[Log] = []
"""The logs that listen at the moment; `trivium-opt --debug` puts one here."""


def rewrite(module: Module, *patterns: Pattern) -> bool:
    """Apply patterns to all ops, in order, over and over until none applies; say if any did."""
    fitting = _Fitting(patterns)
    with module.operation.context:
        changed = False
        for _ in range(MAX_SWEEPS):
            if not _sweep(module, fitting):
                return changed
            changed = True
    names = ", ".join(type(p).__name__ for p in patterns)
    raise RuntimeError(f"patterns {names} did not converge in {MAX_SWEEPS} sweeps")


class _Fitting(dict[type[Op], list[Pattern]]):
    """Find the patterns that are rooted at a class of op, once for each class."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = patterns

    def __missing__(self, cls: type[Op]) -> list[Pattern]:
        self[cls] = found = [p for p in self._patterns if issubclass(cls, p.root)]
        return found


def _sweep(module: Module, fitting: _Fitting) -> bool:
    rewriter = Rewriter(module)
    # Handles of erased ops must not be touched: their identity is taken while all are alive.
    keyed = [(hash(op), op) for op in ops(module.operation) if fitting[type(op)]]
    for key, op in keyed:
        for pattern in fitting[type(op)]:
            if key in rewriter.erased:
                break
            _try(pattern, op, rewriter)
    return rewriter.changed


def _try(pattern: Pattern, op: Op, rewriter: Rewriter) -> None:
    try:
        pattern.rewrite(op, rewriter)
        rewriter.constants.forget()
    except (NoMatch, Undecided) as reason:
        for log in LOGS:
            log.add(pattern, op, str(reason))
