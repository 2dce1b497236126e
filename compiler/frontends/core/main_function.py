"""The function that a model is: its inputs, its constants, and what is known of its values."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from ....dialects import tri
from ....dialects.core.attributes import type_of
from ....dialects.core.errors import CompileError, Diagnostic, NeedsValue, Unsupported
from ....dialects.core.interpret import ConstantEvaluator
from ....dialects.core.location import node_location
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, add_main
from ....dialects.core.tensor import Array, Tensor


class MainFunction:
    """Make a module with one function `main`, step by step: `body`, then `finish`."""

    def __init__(self) -> None:
        self.module = Module(ir.Module.create())
        self.evaluate = ConstantEvaluator(self.module.weights)
        self.inputs: dict[ir.Value, str] = {}
        self._complex: list[str] = []
        self._block = add_main(self.module)
        self._function = self.module.main

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

    @contextmanager
    def body(self) -> Generator[None]:
        """Build what follows at the end of the function."""
        with ir.InsertionPoint(self._block):
            yield

    def finish(
        self, outputs: Sequence[tuple[str, ir.Value]], complex_outputs: Sequence[str] = ()
    ) -> Module:
        """Return named values from the function; verify the module and return it.

        `complex_outputs` are made of parts, as complex inputs are.
        """
        with self.body():
            ir.Operation.create("func.return", [], [value for _, value in outputs])
        arguments = [value.type for value in self._block.arguments]
        signature = ir.FunctionType.get(arguments, [value.type for _, value in outputs])
        self._function.attributes["function_type"] = ir.TypeAttr.get(signature)
        self._name("inputs", list(self.inputs.values()))
        self._name("outputs", [name for name, _ in outputs])
        if self._complex or complex_outputs:
            self._name("complex", [*self._complex, *complex_outputs])
        self.module.verify()
        return self.module

    def _name(self, which: str, names: Sequence[str]) -> None:
        attributes = [ir.StringAttr.get(name) for name in names]
        self._function.attributes[f"trivium.{which}"] = ir.ArrayAttr.get(attributes)

    def constant(self, name: str, array: Array, node: str = "") -> ir.Value:
        """Make a constant op: small ones hold their numbers, large ones name a weight."""
        location = node_location(node or name, [name])
        return tri.build_constant(self.module, array, name, location).y

    def known(self, value: ir.Value, what: str) -> Array:
        """Compute a value; NeedsValue, with the inputs it is of, when it depends on any.

        `what` says which one it is: `input 'shape'`.
        """
        array = self.evaluate(value)
        if array is not None:
            return array
        sources = self._sources(value)
        inputs = f"the model's inputs: {', '.join(sources)}"
        raise NeedsValue(
            f"needs the value of {what} at compile time, "
            f"but it depends on {inputs if sources else 'what is decided at run time'}",
            sources,
        )

    def _sources(self, value: ir.Value) -> list[str]:
        """List the model's inputs on which a value depends, in the model's order."""
        seen: set[ir.Value] = set()
        pending = [value]
        while pending:
            current = pending.pop()
            if current not in seen:
                seen.add(current)
                pending += current.owner.operands if isinstance(current, ir.OpResult) else []
        return [name for argument, name in self.inputs.items() if argument in seen]
