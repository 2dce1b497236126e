"""Lower one `tri.group` to kernels.

The anchor has a lowering of its own. Ops before it are computed where it reads, ops behind it
where it writes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ....dialects import tri
from ....dialects.core.attributes import order_of, tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.module import ops
from ....dialects.core.op import Op
from ..kernels.buffer import Argument, Buffer, Computed, constant_buffer
from ..kernels.builder import Kernel, KernelBuilder
from ..kernels.epilogue import Epilogue, Reader, emit_indexed
from ..kernels.value import Value
from ..registry import is_elementwise, lowering_of

WORDS = 4
"""How many ops of a group its kernel is named after."""


def lower_group(group: tri.Group, module: ir.Module, precision: str = "ieee") -> list[Kernel]:
    """Generate the kernels of a group at the end of a module, in the order in which they run.

    `precision` is the precision of f32 factors, as in `tile.dot`.
    """
    body = [op for op in ops(group.block) if not op.terminator]
    terminator = group.block.operations[len(group.block.operations) - 1].operation
    names = [op.op_name.partition(".")[2] for op in body if not isinstance(op, tri.Constant)]
    kernel = KernelBuilder(module, "_".join(names[:WORDS]), group.location, precision)
    with kernel:
        _Body(kernel, body, list(group.block.arguments), list(terminator.operands)).lower()
    return kernel.finish()


class _Body:
    def __init__(
        self,
        kernel: KernelBuilder,
        body: Sequence[Op],
        inputs: Sequence[ir.Value],
        outputs: Sequence[ir.Value],
    ) -> None:
        self.kernel = kernel
        self.constants: Mapping[ir.Value, tri.Constant] = {
            op.y: op for op in body if isinstance(op, tri.Constant)
        }
        self.work = [op for op in body if not isinstance(op, tri.Constant)]
        anchors = (i for i, op in enumerate(self.work) if not is_elementwise(op))
        self.anchor = next(anchors, None)
        self.inputs: Mapping[ir.Value, Buffer] = {
            v: self._argument(v, self._name(v)) for v in inputs
        }
        self.outputs: Mapping[ir.Value, Argument] = {
            v: self._argument(v, "y", output=True) for v in outputs
        }

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

    def lower(self) -> None:
        if self.anchor is None:
            self._epilogue(None, self.work).emit_ops()
            return
        self._anchored(self.work[self.anchor], self.work[self.anchor + 1 :])

    def _anchored(self, anchor: Op, following: Sequence[Op]) -> None:
        epilogues = [self._epilogue(value, following) for value in anchor.results]
        operands = [self._buffers(group) for group in anchor.operand_groups()]
        lowering = lowering_of(anchor)
        if lowering.kind == "template":
            lowering.function(anchor, self.kernel, *operands, *epilogues)
            return
        made = lowering.function(anchor, *operands)
        readers = cast("tuple[Reader, ...]", made) if isinstance(made, tuple) else (made,)
        emit_indexed(self.kernel, epilogues, readers)

    def _epilogue(self, value: ir.Value | None, following: Sequence[Op]) -> Epilogue:
        made = [v for op in following for v in op.results] + ([value] if value else [])
        used = dict.fromkeys(v for op in following for v in op.operation.operands if v not in made)
        shape = tensor_of((value or following[-1].results[0]).type).shape
        leaves = {v: self.inputs[v].broadcast_to(shape) for v in used if v in self.inputs}
        constants = {v: self.constants[v] for v in used if v in self.constants}
        outputs = {v: out for v, out in self.outputs.items() if v in made}
        return Epilogue(self.kernel, shape, value, following, constants, leaves, outputs)

    def _buffers(self, group: Any) -> Any:
        if group is None:
            return None
        if isinstance(group, list):
            return [self._buffer(v) for v in cast("list[ir.Value]", group)]
        return self._buffer(group)

    def _buffer(self, value: ir.Value) -> Buffer:
        if value in self.inputs:
            return self.inputs[value]
        tensor = tensor_of(value.type)
        if value in self.constants:
            return constant_buffer(tensor, self.constants[value].value.reshape(-1)[0].item())
        leaves = self._leaves(value)
        buffers = [self._buffer(leaf) for leaf in leaves]
        narrow = self._narrow(value)
        return Computed.of(tensor, buffers, lambda n: self._compute(value, leaves, n), narrow)

    def _narrow(self, value: ir.Value) -> Buffer | None:
        """Return the operand of a value that is only a cast, or None."""
        maker = self._needed(value)[-1]
        return self._buffer(maker.x) if isinstance(maker, tri.Cast) else None

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
        for op in self._needed(value):
            operands = [known[v] for v in op.operation.operands]
            known[op.results[0]] = lowering_of(op).function(op, *operands)
        return known[value]


def field_of(op: Op, value: ir.Value) -> str:
    """Return the name of the field by which an op reads a value; empty when it does not."""
    for field, group in zip(op.fields.operands, op.operand_groups(), strict=True):
        values = cast("list[ir.Value]", group) if isinstance(group, list) else [group]
        if group is not None and value in values:
            return field.name
    return ""
