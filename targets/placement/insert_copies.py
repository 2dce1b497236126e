"""Copy values to the memories that they are read in."""

from ...dialects import tri
from ...dialects.core.location import inner_location
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, functions
from ...dialects.core.op import view
from ...passes.core import Pass
from ...passes.rewriting import uses
from ...runtime.contents import PROCESS
from ..memory.values import VIEWS, memory_of, memory_of_target

View = tri.Reshape | tri.Transpose


class InsertCopies(Pass):
    """Copy what is in one memory and read in another: once for each value and memory.

    Kernels read the memory of their target, and the model's outputs are on the host. A copy to the
    host stands before its first reader, any other one right behind what makes the value: there,
    kernels follow one another without a copy between them. Of a view, its operand is copied.

        %y = tri.group %x {target = "gpu"}; return %y
            =>   %c = tri.copy %x to "gpu"; %y = tri.group %c; %d = tri.copy %y to "host"; return %d
    """

    needed = True

    def run(self, module: Module) -> None:
        with module.operation.context:
            for function in functions(module.operation):
                for block in tri.run_blocks(function):
                    _insert(block)


def _insert(block: ir.Block) -> None:
    copies = _Copies(block)
    for operation in list(block.operations):
        reads = _reads(operation.operation)
        if reads is not None:
            copies.serve(operation.operation, reads)
    copies.clean()


def _reads(operation: ir.Operation) -> str | None:
    """Return the memory that an operation reads, None where that is its operand's."""
    op = view(operation)
    if op is None:
        return PROCESS  # the function's return
    if op.terminator:
        return PROCESS  # the end of a body
    return memory_of_target(op.target) if isinstance(op, tri.Group) else op.memory_space


class _Copies:
    def __init__(self, block: ir.Block) -> None:
        self.block = block
        self.known: dict[tuple[ir.Value, str], ir.Value] = {}
        self.views: list[tuple[View, ir.Operation]] = []

    def serve(self, reader: ir.Operation, memory: str) -> None:
        """Let an operation read all operands from a memory."""
        for index, value in enumerate(list(reader.operands)):
            if memory_of(value) not in (None, memory):
                reader.operands[index] = self._brought(value, memory, reader)

    def clean(self) -> None:
        """Erase the views that nobody reads any more; their copies take on their names."""
        for old, new in reversed(self.views):
            if not uses(old.y):
                new.location = old.location
                old.operation.erase()

    def _brought(self, value: ir.Value, memory: str, reader: ir.Operation) -> ir.Value:
        if (value, memory) not in self.known:
            maker = view(value.owner) if isinstance(value, ir.OpResult) else None
            make = self._view if isinstance(maker, VIEWS) else self._copy
            self.known[value, memory] = make(value, memory, reader)
        return self.known[value, memory]

    def _view(self, value: ir.Value, memory: str, reader: ir.Operation) -> ir.Value:
        old = view(value.owner)
        assert isinstance(old, VIEWS)
        operand = self._brought(old.x, memory, reader)
        before = reader if memory == PROCESS else old.operation
        with ir.InsertionPoint(before):
            new = old.operation.clone()
        new.operands[0] = operand
        new.location = inner_location(old.location)
        self.views.append((old, new))
        return new.results[0]

    def _copy(self, value: ir.Value, memory: str, reader: ir.Operation) -> ir.Value:
        before = reader if memory == PROCESS else self._behind(value)
        with ir.InsertionPoint(before):
            location = inner_location(value.location)
            return tri.Copy.create([value], [value.type], {"to": memory}, loc=location).y

    def _behind(self, value: ir.Value) -> ir.Operation:
        """Return the operation behind what makes a value and the copies that stand there."""
        maker = value.owner.operation if isinstance(value, ir.OpResult) else None
        found = maker is None
        for operation in self.block.operations:
            if found and not isinstance(view(operation), tri.Copy):
                return operation.operation
            found = found or operation.operation == maker
        raise AssertionError("a block ends in its return")
