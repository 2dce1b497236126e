"""Lower one `tri.group` to one kernel: an anchor by its own lowering, the rest as epilogue."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import Machine
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ...kernels.arithmetic import compute_dtype
from ...kernels.epilogue import scalar_of
from ...kernels.group_body import GroupBody
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.kernel_module import KernelModule, set_record
from ..kernels.value import Value, constant_of, strict_numbers
from ..registry import TABLE
from .pad import fill_border
from .read_views import split_views, viewed
from .shared_sizes import shared_form


def lower_group(group: tri.Group, machine: Machine, strict: bool = False) -> KernelModule:
    """Emit the kernel of a group as a kernel module at the current insertion point.

    The group notes what the words of the kernel's record are. With `strict`, numbers are computed
    without approximations. Raises Undecided where the code depends on sizes of a run.
    """
    with ir.Location.unknown(), strict_numbers(strict):
        kernel = KernelBuilder(machine, group.location)
        form = shared_form(group)
        views, others = split_views(form.group.members)
        body = _Body(TABLE, kernel, Epilogue, others)
        body.inputs = {v: kernel.argument(tensor_of(v.type)) for v in form.group.block.arguments}
        body.outputs = {v: kernel.argument(tensor_of(v.type)) for v in form.group.end.operands}
        with ir.InsertionPoint(kernel.block), kernel.current():
            body.inputs |= _viewed(views, body.inputs)
            body.lower()
        made = kernel.finish()
        set_record(group.operation, form.own(kernel.record.sizes))
        return made


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


def _viewed(views: Sequence[Op], inputs: Mapping[ir.Value, Buffer]) -> dict[ir.Value, Buffer]:
    """Return buffers that are seen as views of others."""
    found = dict(inputs)
    for op in views:
        (value,) = op.results
        seen = viewed(value, found[op.operation.operands[0]])
        assert seen is not None, "views before a reader need no copy"
        found[value] = seen
    return found


def _transposed_back(out: Buffer, permutation: Sequence[int]) -> Buffer:
    """View memory in which a transposition is stored as what is transposed."""
    return out.transpose([permutation.index(axis) for axis in range(len(permutation))])


class _Body(GroupBody[KernelBuilder, Buffer, Epilogue]):
    def lower_anchor(self, anchor: Op, following: Sequence[Op]) -> None:
        if following and isinstance(border := following[-1], tri.Pad):
            self._lower_border(border)
            following = following[:-1]
        if following and isinstance(last := following[-1], tri.Transpose):
            self.outputs = {last.x: _transposed_back(self.outputs[last.y], last.permutation)}
            following = following[:-1]
        if any(tensor_of(value.type).size != 0 for value in anchor.results):
            super().lower_anchor(anchor, following)

    def _lower_border(self, border: tri.Pad) -> None:
        """Fill the border of the result; the ops before write the inside."""
        shape = tensor_of(border.x.type).shape
        made, inner = border.results[0], border.operation.operands[0]
        out = self.outputs[made]
        fill_border(border, shape, self.epilogue(made, []))
        self.outputs = {inner: out.slice(border.pads[: len(shape)], shape, [1] * len(shape))}

    def emit_indexed(self, epilogues: Sequence[Epilogue], readers: Sequence[Any]) -> None:
        for epilogue, reader in zip(epilogues, readers, strict=True):
            if isinstance(reader, Buffer):
                epilogue.emit_copy(reader)
            else:
                epilogue.emit_elementwise(reader)

    def scratch_outputs(self, value: ir.Value) -> Mapping[ir.Value, Buffer]:
        tensor = tensor_of(value.type)
        return {value: self.kernel.scratch(tensor.shape, tensor.dtype)}

    def buffer(self, value: ir.Value) -> Buffer:
        if value not in self.constants:
            return self.inputs[value]
        return self._constant(self.constants[value])

    def _constant(self, op: tri.Constant) -> Buffer:
        """Store a one-element constant that an anchor reads in scratch memory."""
        tensor = tensor_of(op.y.type)
        cell = self.kernel.scratch(tensor.shape, tensor.dtype)
        dtype = compute_dtype(tensor.dtype)
        cell.reshape(()).store(Value(constant_of(scalar_of(op), dtype), dtype), [])
        return cell
