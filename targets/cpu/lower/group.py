"""Lower one `tri.group` to one kernel: an anchor by its own lowering, the rest as epilogue."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, cast

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import Machine
from ....dialects.core.mlir import ir
from ....dialects.core.module import ops
from ....dialects.core.op import Op
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.kernel_module import KernelModule
from ..kernels.value import Value, compute_dtype, constant_of, strict_numbers
from ..registry import lowering_of
from .pad import fill_border


def lower_group(group: tri.Group, machine: Machine, strict: bool = False) -> KernelModule:
    """Emit the kernel of a group as a kernel module at the current insertion point.

    With `strict`, numbers are computed without approximations.
    """
    terminator = group.block.operations[len(group.block.operations) - 1].operation
    with ir.Location.unknown(), strict_numbers(strict):
        kernel = KernelBuilder(machine, group.location)
        inputs: dict[ir.Value, Buffer] = {
            v: kernel.argument(tensor_of(v.type)) for v in group.block.arguments
        }
        outputs = {v: kernel.argument(tensor_of(v.type)) for v in terminator.operands}
        with ir.InsertionPoint(kernel.block):
            _Body(kernel, inputs, outputs).lower(
                [op for op in ops(group.block) if not op.terminator]
            )
        return kernel.finish()


def structure(group: tri.Group) -> Hashable:
    """Return a key of the structure of a group: groups with equal keys have equal kernels."""
    numbers: dict[ir.Value, int] = {}
    described: list[Hashable] = []
    for value in group.block.arguments:
        numbers[value] = len(numbers)
        described.append(str(value.type))
    for operation in group.block.operations:
        op = operation.operation
        attributes = tuple((name, str(op.attributes[name])) for name in op.attributes)
        operands = tuple(numbers[v] for v in op.operands)
        described.append((op.name, operands, attributes, tuple(str(v.type) for v in op.results)))
        for value in op.results:
            numbers[value] = len(numbers)
    return tuple(described)


class _Body:
    def __init__(
        self,
        kernel: KernelBuilder,
        inputs: Mapping[ir.Value, Buffer],
        outputs: Mapping[ir.Value, Buffer],
    ) -> None:
        self.kernel = kernel
        self.inputs = inputs
        self.outputs = outputs
        self.constants: dict[ir.Value, tri.Constant] = {}

    def lower(self, body: Sequence[Op]) -> None:
        self.constants = {op.y: op for op in body if isinstance(op, tri.Constant)}
        first, *rest = [op for op in body if not isinstance(op, tri.Constant)]
        if lowering_of(first).kind == "elementwise":
            self._epilogue(None, [first, *rest]).emit_ops()
            return
        if rest and isinstance(border := rest[-1], tri.Pad):
            self._lower_border(border)
            rest = rest[:-1]
        self._lower_anchor(first, rest)

    def _lower_border(self, border: tri.Pad) -> None:
        """Fill the border of the result; the ops before write the inside."""
        shape = tensor_of(border.x.type).shape
        made, inner = border.results[0], border.operation.operands[0]
        out = self.outputs[made]
        fill_border(border, shape, self._epilogue(made, []))
        self.outputs = {inner: out.slice(border.pads[: len(shape)], shape, [1] * len(shape))}

    def _lower_anchor(self, anchor: Op, following: Sequence[Op]) -> None:
        if not any(tensor_of(value.type).size for value in anchor.results):
            return
        epilogues = [self._epilogue(value, following) for value in anchor.results]
        operands = [self._buffers(group) for group in anchor.operand_groups()]
        lowering = lowering_of(anchor)
        if lowering.kind == "template":
            lowering.function(anchor, self.kernel, *operands, *epilogues)
            return
        made = lowering.function(anchor, *operands)
        readers = cast("tuple[Any, ...]", made) if isinstance(made, tuple) else (made,)
        for epilogue, reader in zip(epilogues, readers, strict=True):
            if isinstance(reader, Buffer):
                epilogue.emit_copy(reader)
            else:
                epilogue.emit_elementwise(reader)

    def _epilogue(self, value: ir.Value | None, following: Sequence[Op]) -> Epilogue:
        inside = {v for op in following for v in op.results} | set([value] if value else [])
        used = dict.fromkeys(
            v for op in following for v in op.operation.operands if v not in inside
        )
        shape = tensor_of((value or following[-1].results[0]).type).shape
        leaves = {v: self.inputs[v].broadcast_to(shape) for v in used if v in self.inputs}
        constants = {v: self.constants[v] for v in used if v in self.constants}
        outputs = {v: out for v, out in self.outputs.items() if v in inside}
        if not outputs and value is not None:
            # An unused result is stored in scratch memory.
            outputs = {value: self.kernel.scratch(shape, tensor_of(value.type).dtype)}
        return Epilogue(self.kernel, shape, value, following, constants, leaves, outputs)

    def _buffers(self, group: Any) -> Any:
        if group is None:
            return None
        if isinstance(group, list):
            return [self._buffer(v) for v in cast("list[ir.Value]", group)]
        return self._buffer(group)

    def _buffer(self, value: ir.Value) -> Buffer:
        if value not in self.constants:
            return self.inputs[value]
        return self._constant(self.constants[value])

    def _constant(self, op: tri.Constant) -> Buffer:
        """Store a one-element constant that an anchor reads in scratch memory."""
        tensor = tensor_of(op.y.type)
        cell = self.kernel.scratch(tensor.shape, tensor.dtype)
        dtype = compute_dtype(tensor.dtype)
        number = Value(constant_of(op.value.reshape(-1)[0].item(), dtype), dtype)
        cell.reshape(()).store(number, [])
        return cell
