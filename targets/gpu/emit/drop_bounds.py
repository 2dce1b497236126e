"""Drop checks of bounds that cannot fail."""

from ....dialects import tile
from ....dialects.core.module import Module, ops
from ....dialects.core.sizes.limits import bounds
from ....dialects.tile.types import need_memory, plain_type
from ....passes.core import Pass
from ..schedule.intervals import Intervals


class DropBounds(Pass):
    """Drop the checks of loads and stores whose indices are inside, for the kernel's block sizes.

    %i = program_id * 64 + arange(64) of 128    =>    tile.load %x[%i]
    tile.load %x[%i] {low = [0], high = [0]} of memref<128xf32>
    """

    def run(self, module: Module) -> None:
        with module.operation.context:
            for kernel in tile.kernels_of(module.operation):
                drop_bounds(kernel)


def drop_bounds(kernel: tile.Kernel) -> None:
    """Drop the checks of one kernel that cannot fail."""
    intervals = Intervals(kernel)
    for op in ops(kernel.block):
        if not isinstance(op, (tile.Load, tile.Store)):
            continue
        shape = need_memory("memory", plain_type(op.memory.type)).shape
        found = [intervals.of(index) for index in op.indices]
        low = [dim for dim in op.low if not (i := found[dim]) or i[0] < 0]
        least = [bounds(size)[0] or 0 for size in shape]
        high = [dim for dim in op.high if not (i := found[dim]) or i[1] >= least[dim]]
        op.set_attributes({"low": tuple(low), "high": tuple(high)})
