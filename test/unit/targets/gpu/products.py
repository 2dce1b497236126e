"""Kernels of matrix products, and their settings."""

from collections.abc import Iterator
from contextlib import contextmanager

from trivium.dialects import tile, tri
from trivium.dialects.core.attributes import type_of
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.tensor import Tensor
from trivium.dialects.tile.setting import Setting
from trivium.targets.gpu.lower.group import lower_group

LARGE = Setting.parse("BM=128 BN=128 BK=64 warps=8 stages=3")
MIDDLE = Setting.parse("BM=64 BN=64 BK=64 warps=4 stages=4")
SMALL = Setting.parse("BM=32 BN=32 BK=64 warps=4 stages=4")
FLAT = Setting.parse("BM=16 BN=64 BK=128 warps=4 stages=3")


@contextmanager
def product_kernel(
    rows: int, columns: int, depth: int, dtype: str = "f16"
) -> Iterator[tile.Kernel]:
    """Lower a matrix product to its one kernel, in a context of its own."""
    with new_context(), ir.Location.unknown():
        source, module = ir.Module.create(), ir.Module.create()
        with ir.InsertionPoint(source.body):
            group = tri.Group.create([[]], [], {"target": "gpu"})
        block = ir.Block.create_at_start(group.operation.regions[0], [])
        for shape in ((rows, depth), (depth, columns)):
            block.add_argument(type_of(Tensor(shape, dtype)), ir.Location.unknown())
        with ir.InsertionPoint(block):
            tri.Yield.build(list(tri.MatMul.build(*block.arguments).results))
        (kernel,) = lower_group(group, module)
        yield kernel.op
