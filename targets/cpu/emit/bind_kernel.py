"""Bind a kernel to the record of a call: its sizes become expressions of the model's symbols."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.dim import symbol
from ....dialects.core.sizes.symbols import Range
from ....dialects.core.tensor import Tensor
from ..kernels.kernel_module import Kernel, Phase
from ..kernels.record import bind_record


def words_of(count: int) -> Mapping[str, Size]:
    """Return the words of a record by their names."""
    return {name: symbol(name, Range(0)) for name in (f"_{number}" for number in range(count))}


def bind_kernel(kernel: Kernel, record: Sequence[Size]) -> Kernel:
    """Return a kernel whose scratch memory and phases have the sizes of a call with a record."""
    if not record:
        return kernel

    def bound(size: Size) -> Size:
        return bind_record(size, record)

    scratch = tuple(
        replace(each, tensor=Tensor(tuple(map(bound, each.tensor.shape)), each.tensor.dtype))
        for each in kernel.scratch
    )
    phases = tuple(Phase(*map(bound, each)) for each in kernel.phases)
    return replace(kernel, scratch=scratch, phases=phases)
