"""Lower one `tri.group` to kernels.

The anchor has a lowering of its own. Ops before it are computed where it reads, ops behind it
where it writes.
"""

from collections.abc import Sequence
from typing import Any, cast

from ....dialects import tri
from ....dialects.core.attributes import order_of, tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ...kernels.epilogue import evaluate_ops, scalar_of
from ...kernels.group_body import GroupBody
from ..kernels.buffer import Argument, Buffer, Computed, constant_buffer
from ..kernels.builder import Kernel, KernelBuilder
from ..kernels.epilogue import Epilogue, Reader, emit_indexed
from ..kernels.value import Value
from ..registry import TABLE

WORDS = 4
"""The most ops of a group in the name of its kernel."""


def lower_group(group: tri.Group, module: ir.Module, precision: str = "ieee") -> list[Kernel]:
    """Generate the kernels of a group at the end of a module, in the order in which they run.

    `precision` is the precision of f32 factors, as in `tile.dot`.
    """
    body = group.members
    names = [op.op_name.partition(".")[2] for op in body if not isinstance(op, tri.Constant)]
    kernel = KernelBuilder(module, "_".join(names[:WORDS]), group.location, precision)
    with kernel:
        _Body(kernel, body, list(group.block.arguments), list(group.end.operands)).lower()
    return kernel.finish()


class _Body(GroupBody[KernelBuilder, Any, Epilogue]):
    def __init__(
        self,
        kernel: KernelBuilder,
        body: Sequence[Op],
        inputs: Sequence[ir.Value],
        outputs: Sequence[ir.Value],
    ) -> None:
        super().__init__(TABLE, kernel, Epilogue, body)
        self.inputs = {v: self._argument(v, self._name(v)) for v in inputs}
        self.outputs = {v: self._argument(v, "y", output=True) for v in outputs}

    def emit_indexed(self, epilogues: Sequence[Epilogue], readers: Sequence[Reader]) -> None:
        emit_indexed(self.kernel, epilogues, readers)

    def _name(self, value: ir.Value) -> str:
        """Name an argument after the field of the op that reads it."""
        first = [] if self.anchor is None else [self.work[self.anchor]]
        for op in (*first, *self.work):
            if field := field_of(op, value):
                return field if op in first else f"{op.op_name.partition('.')[2]}_{field}"
        return "x"

    def _argument(self, value: ir.Value, name: str, output: bool = False) -> Argument:
        tensor, order = tensor_of(value.type), order_of(value.type)
        return self.kernel.argument(value, tensor, order, name, output)

    def buffer(self, value: ir.Value) -> Buffer:
        if value in self.inputs:
            return self.inputs[value]
        tensor = tensor_of(value.type)
        if value in self.constants:
            return constant_buffer(tensor, scalar_of(self.constants[value]))
        leaves = self._leaves(value)
        buffers = [self.buffer(leaf) for leaf in leaves]
        narrow = self._narrow(value)
        return Computed.of(tensor, buffers, lambda n: self._compute(value, leaves, n), narrow)

    def _narrow(self, value: ir.Value) -> Buffer | None:
        """Return the operand of a value that is only a cast, or None."""
        maker = self._needed(value)[-1]
        return self.buffer(maker.x) if isinstance(maker, tri.Cast) else None

    def _needed(self, value: ir.Value) -> list[Op]:
        """Return the ops of the prologue that a value is computed by, in order."""
        wanted = {value}
        needed: list[Op] = []
        for op in reversed(self.work[: self.anchor]):
            if op.results[0] in wanted:
                wanted.update(op.operation.operands)
                needed.append(op)
        return needed[::-1]

    def _leaves(self, value: ir.Value) -> list[ir.Value]:
        needed = self._needed(value)
        made = {op.results[0] for op in needed}
        return list(dict.fromkeys(v for o in needed for v in o.operation.operands if v not in made))

    def _compute(
        self, value: ir.Value, leaves: Sequence[ir.Value], numbers: Sequence[Value]
    ) -> Value:
        known = dict(zip(leaves, numbers, strict=True))
        evaluate_ops(TABLE, self._needed(value), known)
        return known[value]


def field_of(op: Op, value: ir.Value) -> str:
    """Return the name of the field by which an op reads a value; empty when it does not."""
    for field, group in zip(op.fields.operands, op.operand_groups(), strict=True):
        values = cast("list[ir.Value]", group) if isinstance(group, list) else [group]
        if group is not None and value in values:
            return field.name
    return ""
