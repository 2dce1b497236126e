"""Convolutions whose image fits beside their tiles load it once, and their weights once."""

from math import prod

import numpy as np
import pytest
from drawn_networks import Network
from trivium.dialects import dla
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Shape
from trivium.targets.dla.allocate.allocate_buffers import AllocateBuffers
from trivium.targets.dla.allocate.insert_tokens import InsertTokens
from trivium.targets.dla.schedule.lower_to_buffers import LowerToBuffers
from trivium.targets.dla.schedule.prefetch import Prefetch

pytestmark = pytest.mark.usefixtures("context")

IMAGES: tuple[Shape, ...] = ((1, 14, 14, 64), (2, 11, 13, 48), (1, 9, 7, 100), (2, 20, 6, 30))


def convolution(seed: int) -> tuple[Module, Shape]:
    """Return a group of one convolution, with more weights than may stay, and its image."""
    shape = IMAGES[seed % len(IMAGES)]
    net = Network(np.random.default_rng(seed), shape)
    dilation = 1 + seed // 4 % 2
    filters = int(net.one(120, 128, 200))
    with ir.InsertionPoint(list(net.block.operations)[-1]):
        y = dla.Conv.build(
            net.block.arguments[0],
            net.constant(net.bytes(3, 3, shape[3], filters)),
            net.constant(net.random.integers(-9000, 9000, filters).astype(np.int32)),
            strides=tuple(int(net.one(1, 2)) for _ in range(2)),
            dilations=(dilation, dilation),
            pads=tuple(int(net.random.integers(1 + dilation)) for _ in range(4)),
            source_zero=int(net.random.integers(-9, 9)),
            destination_zero=int(net.random.integers(-9, 9)),
            multiplier=(int(net.random.integers(1 << 29, 1 << 30)),),
            shift=(39,),
        ).y
    net.enclose([y], "vanilla")
    return net.module, shape


@pytest.mark.parametrize("seed", range(16))
def test_an_image_that_fits_is_loaded_once(seed: int) -> None:
    module, shape = convolution(seed)
    x = np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)
    (expected,) = run(module, [x])
    for each in (LowerToBuffers(), Prefetch(), AllocateBuffers(), InsertTokens()):
        each.run(module)
        module.verify()
        (found,) = run(module, [x])
        np.testing.assert_array_equal(found, expected)
    (program,) = [op for op in ops(module.operation) if isinstance(op, dla.Program)]
    loads = [op for op in program.ops if isinstance(op, dla.Load)]
    assert sum(op.rows * op.columns * op.channels for op in loads) <= prod(
        shape
    )  # rows behind the last window are not
    weights = [op for op in program.ops if isinstance(op, dla.LoadWeights)]
    sources = {op.source for op in weights}
    assert sum(op.length for op in weights) == sum(source.type.shape[0] for source in sources)
