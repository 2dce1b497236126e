"""The main function of a module as exporters see it: ops in order, and a name for each value."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any

from ...dialects import tri
from ...dialects.core.errors import CompileError, Diagnostic, Unsupported
from ...dialects.core.location import describe, value_names
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, declared
from ...dialects.core.op import Op, view
from ...dialects.core.tensor import Array


class Flow:
    """Hold the ops of the main function: groups are opened, constants are apart from the rest.

    Quantised numbers and the integers that hold them are one value, whose name may be that of
    either: `other_names` has the second one.

    `inputs` and `outputs` are named values, `returned` those of the outputs in order; `array` has
    the elements of a constant, and raises Unsupported for a weight that the module lacks.
    """

    def __init__(self, module: Module) -> None:
        block = module.main_block
        arguments = list(block.arguments)
        names = declared(module.main, "inputs", len(arguments))
        self.inputs: dict[str, ir.Value] = dict(zip(names, arguments, strict=True))
        self.ops: list[Op] = []
        self._weights = module.weights
        self._constants: dict[ir.Value, Op] = {}
        self._same: dict[ir.Value, ir.Value] = {}
        self.other_names: dict[ir.Value, str] = {}
        self.returned = self._enter(block)
        names = declared(module.main, "outputs", len(self.returned))
        self.outputs = dict(zip(names, self.returned, strict=True))

    def nested(self, block: ir.Block, arguments: Sequence[tuple[ir.Value, ir.Value]]) -> "Flow":
        """Return the flow of a body, some of whose arguments are values around it.

        Its inputs are the others; `returned` is what the body returns.
        """
        made = copy(self)
        made._same = self._same | {inner: self.resolve(outer) for inner, outer in arguments}
        made.inputs, made.outputs, made.ops = {}, {}, []
        made._constants = dict(self._constants)
        made.returned = made._enter(block)
        return made

    def resolve(self, value: ir.Value) -> ir.Value:
        """Return the value outside of all groups that a value is."""
        return self._same.get(value, value)

    def array(self, value: ir.Value) -> Array | None:
        """Return the elements of a constant, None for all other values."""
        op = self._constants.get(self.resolve(value))
        if isinstance(op, tri.Weight):
            if op.name not in self._weights:
                raise Unsupported(f"takes weight '{op.name}', which is not with the module")
            return self._weights[op.name]
        return op.attributes["value"] if op else None

    def is_constant(self, value: ir.Value) -> bool:
        """Return whether a value depends on no input, as far as is written in the IR."""
        return self.resolve(value) in self._constants

    def _enter(self, block: ir.Block) -> list[ir.Value]:
        """Append the ops of a block, and return the operands of its terminator."""
        for operation in block.operations:
            op = view(operation)
            if op is None or op.terminator:
                return [self.resolve(value) for value in operation.operation.operands]
            if isinstance(op, tri.Group):
                self._open(op)
            elif isinstance(op, tri.Copy):
                self._same[op.y] = self.resolve(op.x)
            elif isinstance(op, (tri.Constant, tri.Weight)):
                self._constants[op.y] = op
            elif isinstance(op, tri.StorageCast):
                self._same[op.y] = self.resolve(op.x)
                self.other_names.setdefault(self.resolve(op.y), _source_name(op.y))
            else:
                self.ops.append(op)
        raise AssertionError("a block has a terminator")

    def _open(self, group: tri.Group) -> None:
        body = group.body.blocks[0]
        for inner, outer in zip(body.arguments, group.inputs, strict=True):
            self._same[inner] = self.resolve(outer)
        for outer, inner in zip(group.results, self._enter(body), strict=True):
            self._same[outer] = inner


class Names:
    """Give each value of a flow a name that is its own: that of the source value if it has one.

    `spell` turns a name into one that the format can hold. `outputs` has the names of outputs: one
    that is an input, a constant or another output is a value of another name.
    """

    def __init__(self, flow: Flow, spell: Callable[[str], str]) -> None:
        self._spell = spell
        self._other = flow.other_names
        self._taken: set[str] = set()
        self._names: dict[ir.Value, str] = {}
        for name, value in flow.inputs.items():
            self._names[value] = self.fresh(name)
        self.outputs = {name: self.fresh(name) for name in flow.outputs}
        for name, value in flow.outputs.items():
            if not flow.is_constant(value):
                self._names.setdefault(value, self.outputs[name])

    def of(self, value: ir.Value) -> str:
        """Return the name of a value."""
        if value not in self._names:
            self._names[value] = self.fresh(_source_name(value) or self._other.get(value, ""))
        return self._names[value]

    def fresh(self, hint: str) -> str:
        """Return a name that no other value has."""
        return unique(self._spell(hint) or "value", self._taken)


def unique(wanted: str, taken: set[str]) -> str:
    """Return a name that is not in `taken`, and add it: `x`, `x.1`, `x.2`, …"""
    name, count = wanted, 0
    while name in taken:
        count += 1
        name = f"{wanted}.{count}"
    taken.add(name)
    return name


def _source_name(value: ir.Value) -> str:
    if not isinstance(value, ir.OpResult):
        return ""
    names = value_names(value.owner.location)
    return names[value.result_number] if value.result_number < len(names) else ""


class Rules:
    """The table of an exporter: for each class of op, a function that writes it down."""

    def __init__(self, form: str) -> None:
        self.format = form
        self.functions: dict[type[Op], Callable[..., None]] = {}

    def exports(self, *ops: type[Op]) -> Callable[[Any], Any]:
        """Register the decorated function for classes of ops; it takes an op and the graph."""

        def register(function: Any) -> Any:
            for op in ops:
                if op in self.functions:
                    raise TypeError(f"{op.op_name} has two rules for {self.format}")
                self.functions[op] = function
            return function

        return register

    def apply(self, flow: Flow, graph: Any) -> None:
        """Write down all ops; raises one CompileError with all that have no equivalent."""
        faults = list(self._apply(flow, graph))
        if faults:
            raise CompileError(faults)

    def _apply(self, flow: Flow, graph: Any) -> Iterator[Diagnostic]:
        for op in flow.ops:
            function = self.functions.get(type(op))
            where = describe(op.location)
            if function is None:
                yield Diagnostic(where, f"'{op.op_name}' op has no equivalent in {self.format}")
                continue
            graph.begin(op)
            try:
                function(op, graph)
            except Unsupported as error:
                yield Diagnostic(where, f"'{op.op_name}' op {error}")
            except CompileError as error:  # of the ops in its bodies
                yield from error.diagnostics
