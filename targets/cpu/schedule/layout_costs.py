"""The cost model of layouts, in the unit of `costs`, which has the costs of convolutions.

The numbers are times of kernels of MobileNetV2, RegNet and ResNet-50 on a machine with AVX-512,
beside those of their convolutions.
"""

import math
from dataclasses import replace

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import Machine
from ....dialects.core.tensor import DTYPES, Tensor
from ....dialects.cpu.vnni import BYTES, VNNI, vnni_count
from .costs import cheapest, cost, loading
from .products import Product
from .schedule import Schedule

RELAYOUT = 18.0  # a vector that is put into another order
PLAIN_POOL = 110.0  # a vector of the result of a pooling
BLOCKED_POOL = 30.0
PLAIN_RESIZE = 36.0  # a vector of the result of a resampling
BLOCKED_RESIZE = 14.0
PLAIN_TAP = {1: 4.2, 2: 7.5}  # a vector under a tap of a depthwise convolution, by its stride
LANE_TAP = {1: 2.5, 2: 4.0}


def relayout_cost(tensor: Tensor, machine: Machine) -> float:
    """Return the cost of blocking an image, unblocking it, or adding a border."""
    vectors = tensor.likely.size / machine.lanes(DTYPES[tensor.dtype].bits)
    return loading(machine.core) * RELAYOUT * vectors


def conv_cost(product: Product, machine: Machine, error: float) -> tuple[Schedule, float]:
    """Return the cheapest schedule of a convolution, and its cost."""
    best = cheapest(product, machine, error)
    return best, product.count * cost(best, product, machine)


def on_blocks(product: Product) -> Product:
    """Return the product of a convolution on blocked images, whose groups are whole blocks."""
    alone = product.group == 1
    return replace(product, group=1, plain=product.plain and alone, blocked=True)


def depthwise_costs(op: tri.Conv, machine: Machine) -> tuple[float, float]:
    """Return the costs of a depthwise convolution on plain and on blocked images."""
    y = tensor_of(op.y.type).likely
    lanes = machine.lanes(DTYPES[y.dtype].bits)
    *leading, width = y.shape
    taps = math.prod(tensor_of(op.w.type).shape[2:])
    stride = min(max(op.strides), 2)
    plain = PLAIN_TAP[stride] * math.prod(leading) * -(-width // lanes)
    blocked = LANE_TAP[stride] * y.size / lanes
    return loading(machine.core) * plain * taps, loading(machine.core) * blocked * taps


def depthwise_dot_costs(op: cpu.DotConv, machine: Machine) -> tuple[float, float]:
    """Return the costs of a depthwise convolution of bytes on plain and on blocked images.

    On blocked ones, a word has several taps of a line; on plain ones, a single channel.
    """
    *lines, taps = op.kernel
    vectors = tensor_of(op.y.type).likely.size / machine.lanes(DTYPES[VNNI].bits)
    line = loading(machine.core) * vectors * math.prod(lines)
    return PLAIN_TAP[2] * line * taps, LANE_TAP[1] * line * vnni_count(taps, BYTES)
