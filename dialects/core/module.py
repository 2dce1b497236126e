"""`Module`: the IR of one model together with the weights that it names."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .errors import CompileError
from .location import node_names
from .mlir import ir
from .op import Op, view
from .port_names import port_names
from .tensor import Array
from .verification import verify

Operation = ir.Operation  # the class below has a field called `ir`
Block = ir.Block


@dataclass
class Module:
    """Hold an MLIR module and its weights.

    Weights live beside the IR, not in it: `tri.weight` names an array of `weights`. They are
    never copied and never written to; the axes of one may be in any order in its memory. `main` is
    the function that the model is. Passes return what is no IR here: `refusals` are why a target
    does not run nodes, by the names of target and node, and `artifacts` are files of a package by
    name. `sizes` are the exact sizes of symbols that the module was bound to, where it is one of
    several programs of a package. `refit` has the data of weights that passes must not look at:
    these have none in `weights`.
    """

    ir: ir.Module
    weights: dict[str, Array] = field(default_factory=dict[str, Array])
    refusals: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    artifacts: dict[str, bytes] = field(default_factory=dict[str, bytes])
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    refit: dict[str, Array] = field(default_factory=dict[str, Array])

    @property
    def operation(self) -> Operation:
        return self.ir.operation

    @property
    def main(self) -> Operation:
        """Return the first function of the module; raise CompileError where there is none."""
        for function in functions(self.operation):
            return function
        raise CompileError("the module has no function, must have one")

    @property
    def main_block(self) -> Block:
        """Return the block of `main`; raises CompileError as `main`."""
        return self.main.regions[0].blocks[0]

    def add_weight(self, hint: str, array: Array) -> str:
        """Store an array under a name that is not yet taken, and return the name."""
        name, count = hint, 0
        while name in self.weights or name in self.refit:
            count += 1
            name = f"{hint}.{count}"
        self.weights[name] = array
        return name

    def refusal(self, target: str, op: Op) -> str | None:
        """Return why a pass of a target refused the node that an op is of, or None."""
        known = self.refusals.get(target, {})
        found = [known[node] for node in node_names(op.location) if node in known]
        return found[-1] if found else None

    def verify(self) -> None:
        """Verify all of the IR; raises CompileError with all the faults of our ops."""
        verify(self.operation)

    @staticmethod
    def parse(text: str | bytes, weights: Mapping[str, Array] | None = None) -> "Module":
        """Parse and verify a module, text or bytecode, in the current context."""
        module = Module(ir.Module.parse(text), dict(weights or {}))
        module.verify()
        return module

    def __str__(self) -> str:
        return self.operation.get_asm()


def add_main(
    module: Module, inputs: Sequence[ir.Value] = (), results: Sequence[ir.Type] = ()
) -> ir.Block:
    """Add a function `main` to a module, at the location in scope; return its empty block.

    Its arguments have the types and the locations of `inputs`.
    """
    types = [value.type for value in inputs]
    attributes: dict[str, ir.Attribute] = {
        "sym_name": ir.StringAttr.get("main"),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, list(results))),
    }
    with ir.InsertionPoint(module.ir.body):
        function = ir.Operation.create("func.func", [], [], attributes, regions=1)
    locations = [value.location for value in inputs]
    return ir.Block.create_at_start(function.regions[0], types, locations)


def functions(operation: ir.Operation) -> Iterator[ir.Operation]:
    """Yield the functions of a module."""
    for op in operation.regions[0].blocks[0].operations:
        if op.operation.name == "func.func":
            yield op.operation


def ops(scope: ir.Operation | ir.Block) -> list[Op]:
    """List our ops inside an operation or block, in order, each before the ops in its regions."""
    blocks = (
        [scope] if isinstance(scope, ir.Block) else [b for r in scope.regions for b in r.blocks]
    )
    found: list[Op] = []
    for block in blocks:
        for operation in block.operations:
            op = view(operation)
            if op is not None:
                found.append(op)
            if len(operation.operation.regions):
                found += ops(operation.operation)
    return found


def direct_ops(block: ir.Block) -> list[Op]:
    """List our ops of a block in order, without those in their regions."""
    return [op for operation in block.operations if (op := view(operation)) is not None]


def sources(values: Iterable[ir.Value], names: Mapping[ir.Value, str]) -> tuple[str, ...]:
    """Return the names of those named values on which others depend, in the order of the names."""
    seen: set[ir.Value] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value not in seen:
            seen.add(value)
            pending += value.owner.operands if isinstance(value, ir.OpResult) else []
    return tuple(name for value, name in names.items() if value in seen)


def operations(scope: ir.Operation) -> Iterator[ir.Operation]:
    """Yield all operations inside an operation, those that are not ours included, in that order."""
    for region in scope.regions:
        for block in region.blocks:
            for op in block.operations:
                yield op.operation
                yield from operations(op.operation)


def find_symbol(operation: ir.Operation, name: str) -> Op | None:
    """Find an op of ours by its name in the module that an operation is in, or None."""
    top = operation
    while top.parent is not None:
        top = top.parent.operation
    symbols = ir.SymbolTable(top)
    return view(symbols[name]) if name in symbols else None


def declared(function: ir.Operation, which: str, count: int) -> list[str]:
    """Return the names of a function's inputs or outputs (`which`), or x0, x1, … without any."""
    names = port_names(function, which)
    return [f"{which[0]}{i}" for i in range(count)] if names is None else list(names)


Weights = Mapping[str, Array]
