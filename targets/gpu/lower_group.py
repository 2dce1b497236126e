"""Lower one `tri.group` to kernels: its first op by its own road, the rest as epilogue."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ...dialects import tri
from ...dialects.core.attributes import order_of, tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import ops
from ...dialects.core.op import Op
from .buffer import Buffer
from .fill import Reader, fill
from .kernel import Kernel, KernelBuilder
from .sink import Sink
from .target import lowering_of

WORDS = 4
"""How many ops of a group its kernel is named after."""


def lower_group(group: tri.Group, module: ir.Module) -> list[Kernel]:
    """Generate the kernels of a group at the end of a module, in the order in which they run."""
    body = [op for op in ops(group.block) if not op.terminator]
    terminator = group.block.operations[len(group.block.operations) - 1].operation
    names = [op.op_name.partition(".")[2] for op in body if not isinstance(op, tri.Constant)]
    kernel = KernelBuilder(module, "_".join(names[:WORDS]), group.location)
    with kernel:
        _Body(kernel, list(group.block.arguments), list(terminator.operands)).lower(body)
    return kernel.finish()


class _Body:
    def __init__(
        self, kernel: KernelBuilder, inputs: Sequence[ir.Value], outputs: Sequence[ir.Value]
    ) -> None:
        self.kernel = kernel
        self.inputs: Mapping[ir.Value, Buffer] = {v: self._argument(v, "x") for v in inputs}
        self.outputs: Mapping[ir.Value, Buffer] = {
            v: self._argument(v, "y", output=True) for v in outputs
        }
        self.constants: dict[ir.Value, tri.Constant] = {}

    def _argument(self, value: ir.Value, name: str, output: bool = False) -> Buffer:
        tensor, order = tensor_of(value.type), order_of(value.type)
        return self.kernel.argument(value, tensor, order, name, output)

    def lower(self, body: Sequence[Op]) -> None:
        self.constants = {op.y: op for op in body if isinstance(op, tri.Constant)}
        first, *rest = [op for op in body if not isinstance(op, tri.Constant)]
        if lowering_of(first).road == "elementwise":
            self._sink(None, [first, *rest]).compute()
            return
        self._anchored(first, rest)

    def _anchored(self, anchor: Op, epilogue: Sequence[Op]) -> None:
        sinks = [self._sink(value, epilogue) for value in anchor.results]
        operands = [self._buffers(group) for group in anchor.operand_groups()]
        lowering = lowering_of(anchor)
        if lowering.road == "template":
            lowering.function(anchor, self.kernel, *operands, *sinks)
            return
        made = lowering.function(anchor, *operands)
        readers = cast("tuple[Reader, ...]", made) if isinstance(made, tuple) else (made,)
        fill(self.kernel, sinks, readers)

    def _sink(self, value: ir.Value | None, epilogue: Sequence[Op]) -> Sink:
        made = [v for op in epilogue for v in op.results] + ([value] if value else [])
        used = dict.fromkeys(v for op in epilogue for v in op.operation.operands if v not in made)
        shape = tensor_of((value or epilogue[-1].results[0]).type).shape
        leaves = {v: self.inputs[v].broadcast_to(shape) for v in used if v in self.inputs}
        constants = {v: self.constants[v] for v in used if v in self.constants}
        outputs = {v: out for v, out in self.outputs.items() if v in made}
        return Sink(self.kernel, shape, value, epilogue, constants, leaves, outputs)

    def _buffers(self, group: Any) -> Any:
        if group is None:
            return None
        if isinstance(group, list):
            return [self._buffer(v) for v in cast("list[ir.Value]", group)]
        return self._buffer(group)

    def _buffer(self, value: ir.Value) -> Buffer:
        return self.inputs[value]
