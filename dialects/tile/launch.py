"""Calls of kernels, from functions."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..core.attributes import order_of, tensor_of
from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.mlir import ir
from ..core.op import NO_SIZES, Op, view
from ..core.sizes.binding import replaced
from ..core.sizes.limits import at_least
from ..core.tensor import Array, Tensor, is_float, numpy_dtype
from .dialect import TILE
from .interpret import run_kernel
from .kernel import Kernel, find_kernel, nested
from .memory import Store, StoreBlock, View
from .types import Memory


class Launch(Op, dialect=TILE):
    """Call a kernel: the operands are its inputs, the results are its outputs.

    Operands and results are tensors, each in memory in the order of dimensions of its type.
    The kernel may see that memory in any shape. What a kernel leaves of an output is undefined.
    """

    memory_space: ClassVar[str | None] = "gpu"

    inputs: Sequence[Operand]
    kernel: str
    outputs: Sequence[Result]

    def verify(self) -> None:
        self.check_attributes()
        kernel = find_kernel(self.operation, self.kernel)
        values, memories = self._values, kernel.memories
        if len(values) != len(memories):
            raise Invalid(
                f"has {len(values)} operands and results, "
                f"'{self.kernel}' has {len(memories)} arguments"
            )
        for index, (value, memory) in enumerate(zip(values, memories, strict=True)):
            _check_argument(index, value.type, memory)
        written, inputs = stored(kernel), len(self.inputs)
        for index in range(len(values)):
            if index in written and index < inputs:
                raise Invalid(f"'{self.kernel}' stores to input {index}")
            if index not in written and index >= inputs and tensor_of(values[index].type).size != 0:
                raise Invalid(f"'{self.kernel}' stores nothing to output {index}")

    @property
    def _values(self) -> list[ir.Value]:
        return [*self.operation.operands, *self.results]

    def evaluate(
        self, groups: Sequence[Any], sizes: Mapping[str, int] = NO_SIZES
    ) -> tuple[Array, ...]:
        """Run the kernel on the memory of all operands and results, and read the results there."""
        kernel = find_kernel(self.operation, self.kernel)
        types = [value.type for value in self._values]
        inputs = [laid_out(x, order_of(t)) for x, t in zip(groups[0], types, strict=False)]
        results = types[len(inputs) :]
        tensors = [_at(tensor_of(type_), sizes) for type_ in results]
        outputs = list(map(_undefined, tensors))
        run_kernel(kernel, [*inputs, *outputs], sizes)
        made = zip(outputs, tensors, map(order_of, results), strict=True)
        return tuple(_read(flat, tensor, order) for flat, tensor, order in made)


def stored(kernel: Kernel) -> set[int]:
    """Return which arguments of a kernel it stores to."""
    numbers: dict[ir.Value, int] = {a: i for i, a in enumerate(kernel.block.arguments)}
    return {
        numbers[_seen(op.memory)]
        for op in map(view, nested(kernel.block))
        if isinstance(op, Store | StoreBlock)
    }


def _seen(memory: ir.Value) -> ir.Value:
    """Return the argument of a kernel that a view is of."""
    while isinstance(memory, ir.OpResult):
        memory = View(memory.owner.operation).memory
    return memory


def _check_argument(index: int, type_: ir.Type, memory: Memory) -> None:
    """Raise Invalid unless the memory of a tensor is as large as a kernel takes it to be."""
    tensor = tensor_of(type_)
    if tensor.dtype != memory.dtype:
        raise Invalid(f"argument {index} is of {tensor.dtype}, must be of {memory.dtype}")
    if at_least(tensor.size, memory.extent) is False:
        raise Invalid(f"argument {index} has {tensor.size} elements, is seen as {memory.extent}")


def laid_out(array: Array, order: Sequence[int]) -> Array:
    """Return the elements of an array in memory order, for an order of its dimensions."""
    return np.array(array.transpose(order)).reshape(-1)


def _read(flat: Array, tensor: Tensor, order: Sequence[int]) -> Array:
    """Return the tensor with these elements in memory order, for an order of its dimensions."""
    lying = flat.reshape([tensor.shape[dim] for dim in order])
    return lying.transpose(np.argsort(np.array(order, int)))


def _at(tensor: Tensor, sizes: Mapping[str, int]) -> Tensor:
    return Tensor(replaced(tensor.shape, sizes), tensor.dtype)


def _undefined(tensor: Tensor) -> Array:
    """Return memory that a kernel has not written to: it should show when that is read."""
    dtype = numpy_dtype(tensor.dtype)
    if is_float(tensor.dtype):
        return np.full(tensor.size, np.nan, dtype)
    return np.full(tensor.size, True if tensor.dtype == "i1" else np.iinfo(dtype).max, dtype)
