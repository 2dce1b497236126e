"""`GroupBody`: the walk over the ops of one group, around the op that is its anchor."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.op import Op
from .epilogue import GroupEpilogue
from .kernel_table import KernelTable

Builder = TypeVar("Builder")
Buffer = TypeVar("Buffer", bound=Any)
Epilogue = TypeVar("Epilogue", bound=GroupEpilogue[Any, Any, Any])


class GroupBody(Generic[Builder, Buffer, Epilogue]):
    """Lower the ops of a group: the anchor by its own lowering, the ops behind it as epilogue.

    The anchor is the first op that is not elementwise; a group without one is all epilogue. A
    target sets `inputs` and `outputs`, the buffers of the group's operands and results.
    """

    inputs: Mapping[ir.Value, Buffer]
    outputs: Mapping[ir.Value, Buffer]

    def __init__(
        self,
        table: KernelTable,
        kernel: Builder,
        epilogue: Callable[..., Epilogue],
        body: Sequence[Op],
    ) -> None:
        self.table = table
        self.kernel = kernel
        self.make_epilogue = epilogue
        self.constants: Mapping[ir.Value, tri.Constant] = {
            op.y: op for op in body if isinstance(op, tri.Constant)
        }
        self.work = [op for op in body if not isinstance(op, tri.Constant)]
        anchors = (i for i, op in enumerate(self.work) if not table.is_elementwise(op))
        self.anchor = next(anchors, None)

    def lower(self) -> None:
        """Emit the kernel of the group."""
        if self.anchor is None:
            self.epilogue(None, self.work).emit_ops()
            return
        self.lower_anchor(self.work[self.anchor], self.work[self.anchor + 1 :])

    def lower_anchor(self, anchor: Op, following: Sequence[Op]) -> None:
        """Emit the anchor by its lowering; its epilogues emit the ops that follow."""
        epilogues = [self.epilogue(value, following) for value in anchor.results]
        operands = [self._operand(group) for group in anchor.operand_groups()]
        lowering = self.table.lowering_of(anchor)
        if lowering.kind == "template":
            lowering.function(anchor, self.kernel, *operands, *epilogues)
            return
        made = lowering.function(anchor, *operands)
        readers = cast("tuple[Any, ...]", made) if isinstance(made, tuple) else (made,)
        self.emit_indexed(epilogues, readers)

    def emit_indexed(self, epilogues: Sequence[Epilogue], readers: Sequence[Any]) -> None:
        """Emit the loops or the grid of an indexed lowering, from one reader per result."""
        raise NotImplementedError

    def buffer(self, value: ir.Value) -> Buffer:
        """Return the buffer from which the anchor reads a value."""
        raise NotImplementedError

    def scratch_outputs(self, value: ir.Value) -> Mapping[ir.Value, Buffer]:
        """Return the outputs of an epilogue of which nothing is used."""
        return {}

    def epilogue(self, value: ir.Value | None, following: Sequence[Op]) -> Epilogue:
        """Make the epilogue of one result of the anchor; None stands for elementwise groups."""
        inside: set[ir.Value] = {v for op in following for v in op.results}
        if value is not None:
            inside.add(value)
        used = dict.fromkeys(
            v for op in following for v in op.operation.operands if v not in inside
        )
        shape = tensor_of((value or following[-1].results[0]).type).shape
        leaves = {v: self.inputs[v].broadcast_to(shape) for v in used if v in self.inputs}
        constants = {v: self.constants[v] for v in used if v in self.constants}
        outputs = {v: out for v, out in self.outputs.items() if v in inside}
        if not outputs and value is not None:
            outputs = self.scratch_outputs(value)
        return self.make_epilogue(self.kernel, shape, value, following, constants, leaves, outputs)

    def _operand(self, group: Any) -> Any:
        if group is None:
            return None
        if isinstance(group, list):
            return [self.buffer(v) for v in cast("list[ir.Value]", group)]
        return self.buffer(group)
