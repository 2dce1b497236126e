"""Run convolutions of 3x3 in fp16 by Winograd's method where they take fewer cycles."""

from math import prod
from typing import Any

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.interpret import compute
from .....dialects.core.location import inner_location
from .....dialects.core.mlir import ir
from .....dialects.core.module import Module, ops
from .....dialects.core.tensor import Array, Shape
from .....passes.constants import hint
from .....passes.core import Pass
from .....passes.rewriting import users
from ....choices import WINOGRAD_ERROR
from ...schedule.group_members import groups_of
from ..choice import NAME, Choice
from ..configuration import Configuration
from ..dialect.convolution import Conv
from ..format.network import Precision
from ..timing.cycles import conv_cycles
from ..winograd_weights import SIZE, exactly_transformed
from .cbuf import conv_sizes, fit, winograd_sizes
from .places import fed_pool, maker_of
from .split_rows import sdp_of

FULL = Choice()

LOSS = 1e-3
"""What a layer may lose by the method in fp16, as a part of its largest sum.

Measured were up to 6.7e-4 on random layers of 16 to 512 channels, of pixels drawn from a normal
distribution, or of what ReLU leaves of these: pixels are rounded twice when they are transformed,
and weights once more.
"""

KERNEL = 3
"""The rows and columns of kernels."""

_ROUNDED = 2.0**-11
"""What rounding to f16 loses of a normal number."""


class ChooseNvdlaWinograd(Pass):
    """Run 3x3 convolutions of stride 1 in fp16 by Winograd's method, where it takes fewer cycles.

    `error` is the error allowed to a layer, relative to its largest sum: the method needs 1e-3.
    Results must be multiples of 4 rows and columns, which no pool gets on the fly, and all data
    must fit into CBUF. Kernels are constants that nothing else reads, and are transformed here.

        nvdla.conv %x, %w   =>   nvdla.conv %x, %w' {winograd = true}
    """

    target: Choice = FULL
    error: float = WINOGRAD_ERROR

    def run(self, module: Module) -> None:
        configuration = self.target.configuration
        if self.error < LOSS or not configuration.winograd:
            return
        with module.operation.context:
            for group in groups_of(module, NAME):
                for conv in [op for op in ops(group.block) if isinstance(op, Conv)]:
                    kernels = _kernels(module, group, conv, configuration)
                    if kernels is not None:
                        _transform(module, group, conv, kernels)


def _pays(conv: Conv, configuration: Configuration) -> bool:
    """Report whether a convolution can be computed by the method, in fewer cycles."""
    x, w, y = (tensor_of(value.type) for value in (conv.x, conv.w, conv.y))
    ones = conv.strides == conv.dilations == (1, 1)
    if x.dtype != "f16" or w.shape[2:] != (KERNEL, KERNEL) or not ones:
        return False
    if any(size % SIZE for size in y.shape[2:]) or fed_pool(sdp_of(conv)) is not None:
        return False
    made, kernels = _winograd(conv), (*w.shape[:2], SIZE, SIZE)
    sizes = winograd_sizes(x.shape, kernels, made.pads, configuration, Precision.FP16)
    if fit(sizes, configuration) is None:
        return False
    before = conv_sizes(conv, configuration).padded
    return _cycles(made, x.shape, sizes.padded, y.shape, configuration) < _cycles(
        conv, x.shape, before, y.shape, configuration
    )


def _cycles(op: Conv, x: Shape, w: Shape, y: Shape, configuration: Configuration) -> int:
    """Return the cycles for images: those of computing, or of reading data and weights if more."""
    operation = op.operation_for(x, w, y, Precision.FP16)
    computed = conv_cycles(operation, w[0], configuration)
    rates = configuration.rates
    moved = (prod(x[1:]) + prod(w)) * Precision.FP16.bytes
    return max(computed, 0 if rates is None else -(-moved // rates.memory_bytes))


def _winograd(conv: Conv) -> Conv:
    """Return the convolution by the method, in no IR: its padded image is one tile larger."""
    top, left, _, _ = conv.pads
    sizes = zip(tensor_of(conv.x.type).shape[2:], tensor_of(conv.y.type).shape[2:], strict=True)
    rows, columns = (out + SIZE - size for size, out in sizes)
    pads = (top, left, rows - top, columns - left)
    attributes: dict[str, Any] = {**conv.attributes, "pads": pads, "winograd": True}
    return Conv(**attributes)


def _kernels(
    module: Module, group: tri.Group, conv: Conv, configuration: Configuration
) -> Array | None:
    """Return the transformed kernels of a convolution, None if it is left as it is."""
    if len(users(conv.w)) > 1 or not _pays(conv, configuration):
        return None
    made = maker_of(group.operation.operands[_index(group, conv)])
    if not isinstance(made, tri.Constant | tri.Weight):
        return None
    (weights,) = compute(made, [], module.weights)
    return _transformed(weights)


def _transformed(weights: Array) -> Array | None:
    """Return transformed kernels in f16, None where these lose more than normal numbers do.

    Those are kernels so large that their transforms are infinite, or so small that f16 has few bits
    for them.
    """
    exact = exactly_transformed(weights)
    with np.errstate(over="ignore"):
        rounded = exact.astype(np.float16)
    lost = np.abs(rounded - exact).max((1, 2, 3))
    return rounded if (lost <= _ROUNDED * np.abs(exact).max((1, 2, 3))).all() else None


def _index(group: tri.Group, conv: Conv) -> int:
    return list[ir.Value](group.block.arguments).index(conv.w)


def _transform(module: Module, group: tri.Group, conv: Conv, kernels: Array) -> None:
    """Replace a convolution, and the constant that are its weights."""
    operands, index = group.operation.operands, _index(group, conv)
    before = operands[index]
    with ir.InsertionPoint(group.operation), inner_location(conv.location):
        stored = tri.build_constant(module, kernels, f"{hint(conv)}.weights").results[0]
    operands[index] = stored
    group.block.arguments[index].set_type(stored.type)
    if not users(before):
        before.owner.erase()
    with ir.InsertionPoint(conv.operation), conv.location:
        new = Conv.build(conv.x, conv.w, **_winograd(conv).attributes)
    conv.y.replace_all_uses_with(new.y)
    conv.operation.erase()
