"""Select transposed convolutions: a convolution for each phase of the strides, and RUBIK.

Pixels of the result whose rows and columns leave the same rests by the strides are a convolution of
the input with some of the taps. RUBIK moves these images, which are channels, to their pixels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Array, Shape
from .....passes.rewriting import NoMatch
from ...select.windows import KernelWindow
from ..dialect.moves import CHANNELS, Contract, Join, Window
from .convolutions import Kernel, biases_of, convolved, ending_of, kernel_of
from .selection import NvdlaSelection, image_of, image_shape


@dataclass(frozen=True)
class Taps:
    """The taps of a phase along an axis: `indices` into the kernel, -1 for a zero; and pads."""

    indices: tuple[int, ...]
    pads: tuple[int, int]


def select_deconv(op: tri.Requantize, selection: NvdlaSelection) -> None:
    """Select a transposed convolution of images, of one or two axes, with any number of groups."""
    conv = selection.sole(op.x, tri.ConvTranspose)
    source = selection.quantized_operand(conv.x)
    given = selection.constant(conv.w, "weights").astype(np.int64)
    bias = biases_of(conv, selection)
    window = KernelWindow.of(given.shape[2:], conv.strides, conv.dilations, conv.pads)
    kernel = kernel_of(op, dense_weights(given, conv.group, window), bias, source.zero)
    ending = ending_of(op, selection)
    covered = (*source.ops, conv)

    def convolve(x: ir.Value, phase: Kernel, taps: KernelWindow) -> ir.Value:
        return convolved(selection, x, phase, taps, ending)

    with selection.place(*covered):
        out = image_shape(tensor_of(op.y.type).shape)[2:]
        y = contracted(selection, image_of(source.value), kernel, window, out, convolve)
    selection.replaced(y, covered)


def contracted(
    selection: NvdlaSelection,
    image: ir.Value,
    kernel: Kernel,
    window: KernelWindow,
    out: Shape,
    convolve: Callable[[ir.Value, Kernel, KernelWindow], ir.Value],
) -> ir.Value:
    """Build a transposed convolution with rows and columns `out` of convolutions of phases."""
    if not selection.configuration.has("RUBIK"):
        name = selection.description.name
        raise NoMatch(f"{name} has no RUBIK, which transposed convolutions need")
    sizes, kernels = tensor_of(image.type).shape[2:], len(kernel.weights)
    filled = _filled(kernel, selection.atom)
    rows, columns = (_phases(window, axis, sizes[axis], out[axis]) for axis in (0, 1))
    parts = [
        convolve(image, _phase(filled, *taps), _window(*taps)) for taps in product(rows, columns)
    ]
    joined = parts[0] if len(parts) == 1 else selection.build(Join, parts, axis=CHANNELS).y
    y = selection.build(
        Contract, joined, channels=kernels, atom=selection.atom, strides=window.strides
    ).y
    if tensor_of(y.type).shape[2:] != out:
        y = selection.build(Window, y, start=(0, 0, 0), sizes=(kernels, *out)).y
    return y


def dense_weights(weights: Array, groups: int, window: KernelWindow) -> Array:
    """Return weights [K, C, R, S] of weights [C, K / groups, R…], dilated by zeros."""
    channels, share = weights.shape[:2]
    depth = channels // groups
    given = weights.reshape(channels, share, *window.kernel)
    found = np.zeros((share * groups, channels, *window.extents), weights.dtype)
    down, across = window.dilations
    for group in range(groups):
        kernels = slice(group * share, (group + 1) * share)
        part = slice(group * depth, (group + 1) * depth)
        found[kernels, part, ::down, ::across] = given[part].swapaxes(0, 1)
    return found


def _filled(kernel: Kernel, atom: int) -> Kernel:
    """Return kernels that fill atoms; those that are added are zeros."""
    more = -len(kernel.weights) % atom
    bias, multiplier = (np.pad(each, (0, more)) for each in (kernel.bias, kernel.multiplier))
    shift = np.pad(kernel.shift, (0, more), mode="edge")
    weights = np.pad(kernel.weights, ((0, more), *((0, 0),) * 3))
    return Kernel(weights, bias, multiplier, shift, kernel.zero)


def _phases(window: KernelWindow, axis: int, size: int, out: int) -> list[Taps]:
    """Return the taps of each phase of an axis, all of which give as many pixels."""
    stride, begin, extent = window.strides[axis], window.pads[axis], window.extents[axis]
    count = -(-out // stride)
    found: list[Taps] = []
    for phase in range(stride):
        shift, first = divmod(phase + begin, stride)
        taps = range(first, extent, stride)
        # Pixel q of the phase is the sum of w[first + t * stride] * x[q + shift - t].
        low = min(shift - len(taps) + 1, 0, size - count)
        high = max(shift, 0, size - count)
        places = (shift - offset for offset in range(low, high + 1))
        indices = tuple(taps[t] if 0 <= t < len(taps) else -1 for t in places)
        found.append(Taps(indices, (-low, count + high - size)))
    return found


def _phase(kernel: Kernel, rows: Taps, columns: Taps) -> Kernel:
    """Return the kernels of a phase; a zero is behind the last row and column."""
    ends = ((0, 0), (0, 0), (0, 1), (0, 1))
    padded = np.pad(kernel.weights, ends)
    chosen = padded[:, :, np.array(rows.indices)][..., np.array(columns.indices)]
    return kernel.part(slice(None), chosen)


def _window(rows: Taps, columns: Taps) -> KernelWindow:
    size: Shape = len(rows.indices), len(columns.indices)
    (top, bottom), (left, right) = rows.pads, columns.pads
    return KernelWindow(size, pads=(top, left, bottom, right))
