"""Execute IR by the `reference` of each op: slow and exact; compiled code is tested against it."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from .attributes import tensor_of
from .data_dependent import DataDependentOp
from .errors import Invalid
from .mlir import ir
from .module import Module, declared
from .op import NO_SIZES, Op, view
from .sizes.binding import bind_symbols, verify_checks
from .sizes.checks import Check
from .sizes.dim import symbols_of
from .symbol_table import checks_of
from .tensor import Array, numpy_dtype

WEIGHT = "tri.weight"
"""The op that names an array of `Module.weights`."""

Observer = Callable[[Op, tuple[Array, ...]], None]


class Interpreter:
    """Run functions and blocks of a module on numpy arrays.

    `observe`, if given, is called with each op and its results, in order: layer-by-layer
    comparison and the value-identity check are observers.
    """

    def __init__(self, weights: Mapping[str, Array], observe: Observer | None = None) -> None:
        self.weights = weights
        self.observe = observe
        self.sizes: Mapping[str, int] = NO_SIZES
        self._checks: Sequence[Check] = ()

    def run_function(self, function: ir.Operation, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """Execute a function; the shapes of its inputs give the sizes of symbols.

        Raises Invalid for shapes that are not those of the function's arguments, where these have
        symbols, and for sizes that fail its checks.
        """
        block = function.regions[0].blocks[0]
        types = [tensor_of(argument.type) for argument in block.arguments]
        self._checks = checks_of(function)
        if not all(each.is_static for each in types):
            names = declared(function, "inputs", len(types))
            shapes = [np.shape(array) for array in inputs]
            self._know(bind_symbols(names, [each.shape for each in types], shapes))
        return self.run_block(block, inputs)

    def _know(self, sizes: Mapping[str, int]) -> None:
        """Add sizes to the known ones; raise Invalid for those that fail a check."""
        self.sizes = {**self.sizes, **sizes}
        for check in self._checks:
            names = symbols_of(check.expression).keys()
            if names & sizes.keys() and names <= self.sizes.keys():
                verify_checks([check], self.sizes)

    def run_block(self, block: ir.Block, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """Execute a block up to its terminator and return the terminator's operands."""
        values: dict[ir.Value, Array] = dict(zip(block.arguments, inputs, strict=True))
        for operation in block.operations:
            op = view(operation)
            if op is None or op.terminator:
                if operation.operation.name != "func.return" and op is None:
                    raise Invalid(f"no reference semantics for '{operation.operation.name}'")
                return tuple(values[v] for v in operation.operation.operands)
            results = self.run_op(op, values)
            values.update(zip(op.results, results, strict=True))
        raise Invalid("block has no terminator")

    def run_op(self, op: Op, values: Mapping[ir.Value, Array]) -> tuple[Array, ...]:
        groups = [lookup(group, values) for group in op.operand_groups()]
        if op.fields.regions:
            results = tuple(op.run_bodies(groups, partial(self._run_body, op), self.sizes))
        else:
            results = compute(op, groups, self.weights, self.sizes)
        if isinstance(op, DataDependentOp):
            self._know(op.define(groups, results, self.sizes))
        if self.observe:
            self.observe(op, results)
        return results

    def _run_body(self, op: Op, number: int, inputs: Sequence[Array]) -> tuple[Array, ...]:
        block = op.operation.regions[number].blocks[0]
        if not isinstance(op, DataDependentOp):
            return self.run_block(block, inputs)
        outside = self.sizes
        self._know(op.enter(number, inputs))
        results = self.run_block(block, inputs)
        self.sizes = outside
        return results


def compute(
    op: Op,
    groups: Sequence[Any],
    weights: Mapping[str, Array],
    sizes: Mapping[str, int] = NO_SIZES,
) -> tuple[Array, ...]:
    """Evaluate an op on operand groups and give the results their declared types.

    `sizes` are those of the symbols in attributes, by name.
    """
    if op.op_name == WEIGHT:
        return (weights[op.attributes["name"]],)
    with np.errstate(all="ignore"):
        got = op.evaluate(groups, sizes)
    results = cast("tuple[Any, ...]", got) if isinstance(got, tuple) else (got,)
    return tuple(
        np.asarray(r, numpy_dtype(tensor_of(v.type).dtype))
        for r, v in zip(results, op.results, strict=True)
    )


def lookup(group: Any, values: Mapping[ir.Value, Array]) -> Any:
    """Return the arrays of one operand group: an array, None, or a list of arrays."""
    if group is None:
        return None
    if isinstance(group, list):
        return [values[v] for v in cast("list[ir.Value]", group)]
    return values[group]


def run(
    module: Module, inputs: Sequence[Array], observe: Observer | None = None
) -> tuple[Array, ...]:
    """Execute the module's main function."""
    return Interpreter(module.weights, observe).run_function(module.main, inputs)


def compute_on_demand(
    value: ir.Value,
    known: Container[ir.Value],
    maker: Callable[[ir.Value], Op | None],
    compute: Callable[[ir.Value, Op | None], None],
) -> None:
    """Compute a value after those that it is made of, each once, however long the chain of ops.

    `maker` returns the op whose operands a value is computed of, or None; `compute` takes a value
    with this op, and adds it to the known ones.
    """
    pending = [value]
    while pending:
        current = pending[-1]
        if current in known:
            pending.pop()
            continue
        op = maker(current)
        operands = () if op is None else op.operation.operands
        if missing := [v for v in operands if v not in known]:
            pending += missing
        else:
            compute(current, op)


def _weight_name(value: ir.Value) -> str | None:
    """Return the name of the weight that a value is, if it is one: these are asked for most."""
    if not isinstance(value, ir.OpResult) or value.owner.name != WEIGHT:
        return None
    return str(value.owner.attributes["name"].value)


UNCHECKED_BYTES, MOST_GROWTH = 16 << 20, 16
"""Up to which size results are computed at compile time, and how many times that of all weights."""


class ConstantEvaluator:
    """Compute the value of an IR value that does not depend on any input, on demand.

    Results are remembered. An op on the way may produce `budget` elements, or `growth` times the
    bytes that it reads and no more than many times those of all weights, so that asking never costs
    much. Returns None when the value is not constant.
    """

    def __init__(
        self, weights: Mapping[str, Array], budget: int = 1 << 16, growth: int = 4
    ) -> None:
        self.weights = weights
        self.budget = budget
        self.growth = growth
        self._known: dict[ir.Value, Array | None] = {}
        self._constant: dict[ir.Value, bool] = {}

    def __call__(self, value: ir.Value) -> Array | None:
        if (name := _weight_name(value)) is not None:
            return self.weights.get(name)
        compute_on_demand(value, self._known, self._evaluated, self._compute)
        return self._known[value]

    def is_constant(self, value: ir.Value) -> bool:
        """Report whether a value can be computed, without computing it."""
        if (name := _weight_name(value)) is not None:
            return name in self.weights
        # The values on the way to one that is none are none either: each is looked at once.
        path: list[tuple[ir.Value, Iterator[ir.Value]]] = []
        current: ir.Value | None = value
        while current is not None:
            if self._constant.get(current) is None:
                op = self._evaluated(current)
                self._constant[current] = op is not None and not self._lacks(op)
                path.append((current, iter(op.operation.operands if op is not None else ())))
            if not self._constant[current]:
                self._constant.update((each, False) for each, _ in path)
                return False
            current = None
            while path and (current := next(path[-1][1], None)) is None:
                path.pop()
        return True

    def forget(self) -> None:
        """Drop the cache: after IR was changed, handles may be stale."""
        self._known.clear()
        self._constant.clear()

    def _lacks(self, op: Op) -> bool:
        return op.op_name == WEIGHT and op.attributes["name"] not in self.weights

    def evaluates(self, op: Op) -> bool:
        """Report whether the results of an op are computed if its operands are constant."""
        if op.fields.regions or not op.pure or op.terminator:
            return False
        operands = dict.fromkeys(op.operation.operands)
        made = [tensor_of(value.type) for value in op.results]
        if not all(tensor.is_static for tensor in made) or op.symbols:
            return False
        if not operands or all(tensor.size <= self.budget for tensor in made):
            return True
        taken = [tensor_of(value.type) for value in operands]
        if not all(tensor.is_static for tensor in taken):
            return False
        read = sum(tensor.size_bytes for tensor in taken)
        size = sum(tensor.size_bytes for tensor in made)
        return size <= read * self.growth and not self._exceeds_all(size)

    def _exceeds_all(self, size: int) -> bool:
        """Report whether a result is far larger than all weights, as after a chain of doublings."""
        if size <= UNCHECKED_BYTES:
            return False
        return size > MOST_GROWTH * sum(array.nbytes for array in self.weights.values())

    def _evaluated(self, value: ir.Value) -> Op | None:
        """Return the op that makes a value, if its results are computed of constant operands."""
        op = view(value.owner) if isinstance(value, ir.OpResult) else None
        return op if op is not None and self.evaluates(op) else None

    def _compute(self, value: ir.Value, op: Op | None) -> None:
        if op is None:
            self._known[value] = None
            return
        known = {v: self._known[v] for v in op.operation.operands}
        if any(array is None for array in known.values()) or self._lacks(op):
            results: Sequence[Array | None] = [None] * len(op.results)
        else:
            groups = [lookup(g, cast("dict[ir.Value, Array]", known)) for g in op.operand_groups()]
            results = compute(op, groups, self.weights)
        self._known.update(zip(op.results, results, strict=True))
