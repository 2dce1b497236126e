"""The function that a model is: its inputs, its constants, and what is known of its values."""

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ....dialects import tri
from ....dialects.core.attributes import tensor_of, type_of
from ....dialects.core.data_dependent import DataDependentOp
from ....dialects.core.errors import (
    CompileError,
    Diagnostic,
    Invalid,
    NeedsValue,
    Undecided,
    Unsupported,
)
from ....dialects.core.interface import set_names, set_signature
from ....dialects.core.interpret import ConstantEvaluator
from ....dialects.core.location import node_location
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, add_main, ops, sources
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.checks import Check, collected_checks
from ....dialects.core.sizes.dim import symbols_of
from ....dialects.core.sizes.symbols import Range
from ....dialects.core.states.carried import set_state, set_updates
from ....dialects.core.symbol_table import set_checks, set_symbols, symbol_table
from ....dialects.core.tensor import Array, Tensor, numpy_dtype
from .sizes.size_evaluator import SizeEvaluator
from .sizes.size_rules import Unknown
from .values import ints


@dataclass(frozen=True)
class Mark:
    """Hold what a function consists of at one moment, at the end of one of its blocks."""

    block: ir.Block
    count: int
    weights: frozenset[str]
    checks: int
    symbols: Mapping[str, Range]


class MainFunction:
    """Make a module with one function `main`, step by step: `body`, then `finish`."""

    def __init__(self) -> None:
        self.module = Module(ir.Module.create())
        self._constant = ConstantEvaluator(self.module.weights)
        self.elements = SizeEvaluator(self._constant)
        self.inputs: dict[ir.Value, str] = {}
        self.symbols: dict[str, Range] = {}
        self._checks: dict[tuple[Size, str], Check] = {}
        self._complex: list[str] = []
        self._next: list[tuple[str, str, Callable[[], ir.Value]]] = []
        self._initial: dict[str, Array] = {}
        self._updates: dict[str, str] = {}
        self._block = add_main(self.module)
        self._function = self.module.main

    def declare_symbols(self, ranges: Mapping[str, Range]) -> None:
        """Declare the symbols of types; raise CompileError for one that is declared otherwise."""
        table = symbol_table(self.module.operation.context)
        for name, range in ranges.items():
            try:
                table.declare(name, range)
            except Invalid as error:
                raise CompileError([Diagnostic("", str(error))]) from None
        self.symbols |= ranges

    def add_input(
        self, name: str, type_: Tensor, location: ir.Location, *, is_complex: bool = False
    ) -> ir.Value:
        """Add an input that a session takes under a name.

        One that `is_complex` has an axis for the parts of its numbers at the end, and a session
        takes an array of complex numbers for it. Raises CompileError for one that is too large.
        """
        self._complex += [name] * is_complex
        try:
            value = self._block.add_argument(type_of(type_), location)
        except Unsupported as error:
            raise CompileError([Diagnostic(name, f"input {error}")]) from None
        self.inputs[value] = name
        return value

    def carry(
        self,
        output: str,
        name: str,
        build: Callable[[], ir.Value],
        initial: Array | None = None,
    ) -> None:
        """Make what is built at the end an output that becomes the input `name` of the next run.

        The first run takes `initial`, or zeros.
        """
        self._next.append((output, name, build))
        if initial is not None and initial.tobytes().strip(b"\0"):
            self._initial[name] = initial

    def update(self, output: str, name: str) -> None:
        """Note that an output is the new value of the input `name`."""
        self._updates[output] = name

    @contextmanager
    def body(self) -> Generator[None]:
        """Build what follows at the end of the function."""
        with ir.InsertionPoint(self._block):
            yield

    @contextmanager
    def checks_of(self, node: str, what: str) -> Generator[Iterable[Check]]:
        """Note what must hold of the sizes of a run for the node that is built here.

        The block gets the checks of this node, as they are found.
        """
        with collected_checks() as found:
            yield found
        for check in found:
            key, opposite = (check.expression, check.relation), (-check.expression, check.relation)
            if check.relation == "==" and opposite in self._checks:
                continue
            named = replace(check, node=node, message=f"{what} {check.message}")
            self._checks.setdefault(key, named)

    def take_checks(self, mark: Mark, names: Collection[str]) -> list[Check]:
        """Remove and return the checks since a mark that depend on symbols of some names alone."""
        keys = list(self._checks)[mark.checks :]
        return [self._checks.pop(key) for key in keys if symbols_of(key[0]).keys() <= {*names}]

    def add_check(self, check: Check, factor: Size) -> None:
        """Add a check that need not hold in runs where a factor, which is 0 or 1, is 0."""
        expression = check.expression * factor
        guarded = replace(check, expression=expression)
        self._checks.setdefault((expression, check.relation), guarded)

    def forget_symbols(self, sizes: Iterable[Size]) -> None:
        """Forget the symbols of sizes that no value has any more."""
        for name in {name for size in sizes for name in symbols_of(size)}:
            self.symbols.pop(name, None)

    @property
    def checked_symbols(self) -> frozenset[str]:
        """Return the names of the symbols of which something must hold."""
        return frozenset(name for size, _ in self._checks for name in symbols_of(size))

    def mark(self) -> Mark:
        """Return what is there so far, at the end of the block that is being built."""
        block = ir.InsertionPoint.current.block
        weights, symbols = frozenset(self.module.weights), dict(self.symbols)
        return Mark(block, len(block.operations), weights, len(self._checks), symbols)

    def drop_after(self, mark: Mark) -> None:
        """Erase what came after a mark: operations of its block, weights, checks and symbols."""
        for operation in reversed(list(mark.block.operations)[mark.count :]):
            operation.operation.erase()
        for name in set(self.module.weights) - mark.weights:
            del self.module.weights[name]
        for key in list(self._checks)[mark.checks :]:
            del self._checks[key]
        self.symbols = dict(mark.symbols)
        self._constant.forget()
        self.elements.forget()

    def finish(
        self, outputs: Sequence[tuple[str, ir.Value]], complex_outputs: Sequence[str] = ()
    ) -> Module:
        """Return named values from the function; verify the module and return it.

        `complex_outputs` are made of parts, as complex inputs are.
        """
        if self._next:
            pairs = {output: name for output, name, _ in self._next}
            set_state(self._function, pairs, self._initial)
            with self.body():
                outputs = [*outputs, *((output, build()) for output, _, build in self._next)]
        with self.body():
            ir.Operation.create("func.return", [], [value for _, value in outputs])
        set_signature(self._function)
        set_names(self._function, "inputs", list(self.inputs.values()))
        set_names(self._function, "outputs", [name for name, _ in outputs])
        if self._complex or complex_outputs:
            set_names(self._function, "complex", [*self._complex, *complex_outputs])
        if self._updates:
            set_updates(self._function, self._updates)
        set_symbols(self._function, self.symbols)
        set_checks(self._function, self._checks.values())
        self.module.verify()
        return self.module

    def constant(self, name: str, array: Array, node: str = "") -> ir.Value:
        """Make a constant op: small ones hold their numbers, large ones name a weight."""
        location = node_location(node or name, [name])
        return tri.build_constant(self.module, array, name, location).y

    def evaluate(self, value: ir.Value) -> Array | None:
        """Compute a value that depends on no input and no symbol, None for any other."""
        array = self._constant(value)
        found = None if array is not None else self.elements(value)
        if found is None or not all(isinstance(each, int) for each in found.reshape(-1)):
            return array
        return found.astype(numpy_dtype(tensor_of(value.type).dtype))

    def known(self, value: ir.Value, what: str) -> Array:
        """Compute a value; NeedsValue, with the inputs it is of, when it depends on any.

        `what` says which one it is: `input 'shape'`. Raises Undecided for one that depends on
        symbols.
        """
        array = self.evaluate(value)
        if array is not None:
            return array
        raise self._fault(value, what)

    def sizes(self, value: ir.Value, what: str) -> tuple[Size, ...]:
        """Compute the sizes that a value has as elements; the errors are those of `known`.

        Raises Invalid for numbers that are no integers.
        """
        array = self._constant(value)
        if array is not None:
            return ints(array)
        found = self.elements(value)
        if found is None or any(isinstance(each, Unknown) for each in found.reshape(-1)):
            raise self._fault(value, what)
        return tuple(found.reshape(-1))

    def _fault(self, value: ir.Value, what: str) -> NeedsValue | Undecided:
        """Return why a value is not known at compile time."""
        inputs = sources([value], self.inputs)
        if not inputs:
            what = what.removesuffix(",")  # one goes before a clause that follows on what it is
            return Undecided(f"needs the value of {what}, but it {self._reason(value)}")
        asked = "value" if tensor_of(value.type).is_static else "number of elements"
        return NeedsValue(
            f"needs the {asked} of {what} at compile time, "
            f"but it depends on the model's inputs: {', '.join(inputs)}",
            inputs,
        )

    def _reason(self, value: ir.Value) -> str:
        found = self.elements(value)
        elements: list[Any] = [] if found is None else list(found.reshape(-1))
        unknown = [each.reason for each in elements if isinstance(each, Unknown)]
        symbols = [name for each in elements if is_symbolic(each) for name in symbols_of(each)]
        listed = ", ".join(dict.fromkeys(symbols)) or "sizes"
        return unknown[0] if unknown else f"depends on {listed}, known when the model runs"

    def sources_of_found_sizes(self) -> tuple[str, ...]:
        """List the model's inputs on which the sizes depend that ops find when they run."""
        finders = (op for op in ops(self.module.operation) if isinstance(op, DataDependentOp))
        return sources([value for op in finders for value in op.operation.operands], self.inputs)
