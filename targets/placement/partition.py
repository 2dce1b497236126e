"""Partition a model by target, before the passes of any target run."""

from collections.abc import Mapping, Sequence
from functools import cache

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.location import describe
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, direct_ops, ops
from ...dialects.core.op import Op, view
from ...dialects.core.symbol_scope import symbols_defined, symbols_needed
from ...passes.core import Pass
from ...passes.parts import TARGET
from ...passes.rewriting import uses
from ..core import Target
from ..options import DEFAULT
from ..registry import choose_target
from ..symbolic import has_symbols
from .claims import CONSTANTS, Claim, claim, constant_maker
from .policies import ENGINE_ORDER, place_by
from .problem import PlacementProblem, part_levels

FREE = (tri.Reshape,)
"""Ops that need no target: another view of the same memory."""


class Partition(Pass):
    """Divide a function into parts, each for the target that `placement` chooses.

    Bodies of branches and loops are divided, too, by themselves. Parts are convex: none depends on
    itself by way of another. A function whose ops all go to one target, and that has no bodies, is
    a single part: it gets the attribute `trivium.target`. CompileError lists the ops that no target
    runs.

    %a = tri.relu %x; %y = tri.lstm %a …; return %y
        =>   %a = tri.part %x { target = "gpu"; tri.relu }
             %y = tri.part %a { target = "cpu"; tri.lstm }; return %y
    """

    needed = True

    targets: tuple[str, ...] = ("cpu", "host")
    placement: str = ENGINE_ORDER

    def run(self, module: Module) -> None:
        targets = [choose_target(choice) for choice in self.targets]
        with module.operation.context:
            blocks = list(tri.run_blocks(module.main))
            chosen = self._choose(module, blocks, targets)
            if len(blocks) == 1 and len(set(chosen[0].values())) <= 1:
                target = targets[next(iter(chosen[0].values()), 0)].name
                module.main.attributes[TARGET] = ir.StringAttr.get(target)
                return
            for block, each in zip(blocks, chosen, strict=True):
                _divide(block, each, targets)

    def _choose(
        self, module: Module, blocks: Sequence[ir.Block], targets: Sequence[Target]
    ) -> list[dict[Op, int]]:
        """Return the target of each op of each block; raise CompileError where there is none."""
        refused: list[Diagnostic] = []
        chosen: list[dict[Op, int]] = []
        for block in blocks:
            graph = _Graph(module, block, targets)
            placed = place_by(self.placement, graph.problem())
            refused += graph.refusals(placed)
            chosen.append(graph.with_free_ops(placed))
        if refused:
            raise CompileError(refused)
        return chosen


class _Graph:
    """The ops of a block that need a target, and what targets make of them."""

    def __init__(self, module: Module, block: ir.Block, targets: Sequence[Target]) -> None:
        self.module = module
        self.targets = targets
        self.all = _ops(block)
        self.ops = placeable_ops(block)
        self.numbers = {value: n for n, op in enumerate(self.ops) for value in op.results}
        self.claim = cache(self._claim)

    def problem(self) -> PlacementProblem:
        operands = [self._operands(op) for op in self.ops]
        sizes = [sum(tensor_of(v.type).size_bytes for v in op.results) for op in self.ops]
        return PlacementProblem(
            operands,
            sizes,
            [target.memory.name for target in self.targets],
            [target.memory.copy_cost for target in self.targets],
            self.accepts,
            lambda op, target: self.targets[target].seconds(self.ops[op]),
        )

    def accepts(self, op: int, target: int) -> bool:
        """Return whether a target runs an op: all, or some where no compiling target runs all."""
        if self.claim(op, target).whole:
            return True
        compiling = [n for n, each in enumerate(self.targets) if not each.is_last_resort]
        others = any(self.claim(op, other).whole for other in compiling)
        return not others and self.claim(op, target).partial

    def refusals(self, placed: Sequence[int]) -> list[Diagnostic]:
        """Return the faults of ops whose target does not run them."""
        refused: list[Diagnostic] = []
        for number, (op, target) in enumerate(zip(self.ops, placed, strict=True)):
            if not self.accepts(number, target):
                asked = range(len(self.targets))
                what = "runs on no target"
                if any(self.accepts(number, other) for other in asked):
                    asked = (target,)
                    what = f"is placed on {self.targets[target].name}, which does not run it"
                claims = (self.claim(number, each) for each in asked)
                reasons = dict.fromkeys(reason for each in claims for reason in each.reasons)
                message = f"'{op.op_name}' op {what}: {'; '.join(reasons)}"
                refused.append(Diagnostic(describe(op.location), message))
        return refused

    def with_free_ops(self, placed: Sequence[int]) -> dict[Op, int]:
        """Return the target of all ops; one that needs none goes where its operand is made.

        For ops that have bodies, that is a number beyond those of targets.
        """
        chosen: dict[ir.Value, int] = {
            value: placed[number] for value, number in self.numbers.items()
        }
        control = (op for op in self.all if isinstance(op, tri.ControlOp))
        chosen |= {value: len(self.targets) for op in control for value in op.results}
        for op in self.all:
            if isinstance(op, FREE) and chosen.get(op.x, len(self.targets)) < len(self.targets):
                chosen[op.y] = chosen[op.x]
        for op in reversed(self.all):
            if isinstance(op, FREE) and op.y not in chosen:
                readers = (use.owner.operation for use in op.y.uses)
                found = (chosen.get(r.results[0]) for r in readers if len(r.results))
                known = (t for t in found if t is not None and t < len(self.targets))
                chosen[op.y] = next(known, 0)
        return {op: chosen[op.results[0]] for op in self.all if op.results}

    def _claim(self, op: int, target: int) -> Claim:
        return claim(self.ops[op], self.targets[target], self.module, DEFAULT)

    def _operands(self, op: Op) -> list[int]:
        found = (self.numbers.get(_viewed(value)) for value in op.operation.operands)
        return [number for number in dict.fromkeys(found) if number is not None]


def placeable_ops(block: ir.Block) -> list[Op]:
    """List the ops of a block that need a target, in order."""
    return [op for op in _ops(block) if not isinstance(op, (*FREE, tri.ControlOp))]


def _ops(block: ir.Block) -> list[Op]:
    """List the ops of a block, without constants and its end."""
    found = direct_ops(block)
    return [op for op in found if not isinstance(op, CONSTANTS) and not op.terminator]


def _viewed(value: ir.Value) -> ir.Value:
    """Return the value that a value is a view of, through ops that need no target."""
    maker = view(value.owner) if isinstance(value, ir.OpResult) else None
    return _viewed(maker.x) if isinstance(maker, FREE) else value


def _divide(block: ir.Block, chosen: Mapping[Op, int], targets: Sequence[Target]) -> None:
    """Put the ops of each part into an op of its own, in an order in which parts can run.

    Ops that have bodies stay as they are, between parts.
    """
    listed = list(chosen)
    given = [any(map(_is_given, op.operation.operands)) or has_symbols(op) for op in listed]
    levels = part_levels(_needed(listed), [chosen[op] for op in listed], given)
    parts: dict[tuple[int, int], list[Op]] = {}
    for op, level in zip(listed, levels, strict=True):
        parts.setdefault((level, chosen[op]), []).append(op)
    for (_, target), members in sorted(parts.items(), key=lambda part: part[0]):
        if target < len(targets):
            _enclose(block, members, targets[target].name)
            continue
        for op in members:
            op.operation.move_before(block.operations[len(block.operations) - 1].operation)
    for op in direct_ops(block):
        if isinstance(op, CONSTANTS) and not uses(op.results[0]):
            op.operation.erase()


def _needed(listed: Sequence[Op]) -> list[list[int]]:
    """Return the numbers of the ops whose results, or the sizes that these find, each op needs."""
    numbers = {value: n for n, op in enumerate(listed) for value in op.results}
    finders = {name: n for n, op in enumerate(listed) for name in symbols_defined(op)}
    needed: list[list[int]] = []
    for op in listed:
        found = [numbers[v] for v in op.operation.operands if v in numbers]
        if finders:
            inside = (op, *ops(op.operation))
            names = {name for each in inside for name in symbols_needed(each)}
            outer = sorted(names - symbols_defined(op))
            found += [finders[name] for name in outer if name in finders]
        needed.append(list(dict.fromkeys(found)))
    return needed


def _is_given(value: ir.Value) -> bool:
    """Return whether a value is an input, of a function or of the body of an op."""
    return not isinstance(value, ir.OpResult)


def _enclose(block: ir.Block, members: Sequence[Op], target: str) -> None:
    """Move ops into a part, which goes to the end of the block; constants are copied."""
    inside = {value for op in members for value in op.results}
    read = dict.fromkeys(v for op in members for v in op.operation.operands if v not in inside)
    constants = {v: maker for v in read if (maker := constant_maker(v)) is not None}
    inputs = [value for value in read if value not in constants]
    outputs = [
        value
        for op in members
        for value in op.results
        if not all(_is_one_of(use.owner.operation, inside) for use in value.uses)
    ]
    *_, end = block.operations
    with ir.Location.unknown(), ir.InsertionPoint(end.operation):
        part = tri.Part.create([inputs], [v.type for v in outputs], {"target": target})
    locations = [v.location for v in inputs]
    body = ir.Block.create_at_start(part.operation.regions[0], [v.type for v in inputs], locations)
    for output, result in zip(outputs, part.results, strict=True):
        _replace_outside(output, result, inside)
    with ir.Location.unknown(), ir.InsertionPoint(body):
        known: dict[ir.Value, ir.Value] = dict(zip(inputs, body.arguments, strict=True))
        known |= {value: maker.clone().results[0] for value, maker in constants.items()}
        last = tri.Yield.build(outputs).operation
    for op in members:
        op.operation.move_before(last)
        for index, value in enumerate(op.operation.operands):
            if value in known:
                op.operation.operands[index] = known[value]


def _is_one_of(operation: ir.Operation, results: set[ir.Value]) -> bool:
    """Return whether an operation makes one of some results; one without results makes none."""
    return len(operation.results) > 0 and operation.results[0] in results


def _replace_outside(old: ir.Value, new: ir.Value, inside: set[ir.Value]) -> None:
    """Replace a value in all ops but those of its part, which make the results `inside`."""
    for use in list(old.uses):
        owner = use.owner.operation
        if not _is_one_of(owner, inside):
            for index, value in enumerate(owner.operands):
                if value == old:
                    owner.operands[index] = new
