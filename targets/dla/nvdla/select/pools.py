"""Select pools and means: those of PDP, and averages that are convolutions with ones."""

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Shape, normalize_axes
from .....passes.rewriting import NoMatch
from ...select.pools import summed_windows
from ...select.selection import QuantizedOperand
from ...select.windows import KernelWindow
from ..dialect.pools import Pdp
from .convolutions import Kernel, convolved, convolved_groups, ending_of, factors_of
from .selection import NvdlaSelection, image_of

_SAME = 2.0**-10
"""How far from one over the size of a window a factor may be: that is less than a step."""


def select_max_pool(op: tri.MaxPool, selection: NvdlaSelection) -> None:
    """Select the greatest value of windows, which may be padded more than the op says."""
    shape = tensor_of(op.y.type).shape
    window = KernelWindow.of(op.kernel, op.strides, op.dilations, op.pads)
    with selection.place():
        image = image_of(op.x)
        sizes = tensor_of(image.type).shape[2:]
        y = pooled(selection, image, "max", window, (1,) * (2 - len(shape[2:])) + shape[2:], sizes)
    selection.replaced(y, ())


def select_average(op: tri.Requantize, selection: NvdlaSelection) -> None:
    """Select the average of windows, whose sum is a convolution with ones."""
    source, window, covered = summed_windows(selection.sole(op.x, tri.Conv), selection)
    with selection.place(*covered):
        y = _average(selection, op, source, window)
    selection.replaced(y, covered)


def select_mean(op: tri.Requantize, selection: NvdlaSelection) -> None:
    """Select the mean over the rows and columns of images."""
    total = selection.sole(op.x, tri.ReduceSum)
    source = selection.quantized_operand(total.x)
    shape = tensor_of(source.value.type).shape
    axes = normalize_axes(total.axes, len(shape))
    if len(shape) != 4 or set(axes) != {2, 3}:
        raise NoMatch(f"sums axes {axes} of {len(shape)}, must be rows and columns of images")
    covered = (*source.ops, total)
    with selection.place(*covered):
        y = _average(selection, op, source, KernelWindow(shape[2:]))
    selection.replaced(y, covered)


def _average(
    selection: NvdlaSelection, op: tri.Requantize, source: QuantizedOperand, window: KernelWindow
) -> ir.Value:
    """Build an average: PDP divides by the size of windows alone, and rounds."""
    image = image_of(source.value)
    channels = tensor_of(image.type).shape[1]
    ending = ending_of(op, selection)
    factor = op.multiplier[0] * 2.0 ** -op.shift[0] * window.kernel[0] * window.kernel[1]
    same = len(op.multiplier) == 1 and abs(factor - 1) < _SAME and source.zero == ending.zero
    if same and (not any(window.pads) or source.zero == 0):
        try:
            y = pooled(selection, image, "average", window, None, tensor_of(image.type).shape[2:])
            return selection.clamped(y, ending.low, ending.high)
        except NoMatch:
            pass  # a convolution has larger windows
    ones = np.ones((channels, 1, *window.kernel), np.int64)
    bias = np.zeros(channels, np.int64)
    kernel = Kernel(ones, bias, *factors_of(op, channels, 1), source.zero)

    def convolve(x: ir.Value, dense: Kernel) -> ir.Value:
        return convolved(selection, x, dense, window, ending)

    return convolved_groups(selection, image, kernel, channels, convolve)


def pooled(
    selection: NvdlaSelection,
    x: ir.Value,
    mode: str,
    window: KernelWindow,
    out: Shape | None,
    sizes: Shape,
) -> ir.Value:
    """Build a pool with the rows and columns of `out`, with more padding if needed."""
    name = selection.description.name
    if max(window.dilations) > 1:
        raise NoMatch(f"{name} pools neighbours, not windows with dilations")
    if max(window.kernel) > 8:
        raise NoMatch(f"{name} pools windows of 8x8 or less, not of {window.kernel}")
    if out is not None:
        window = window.reaching(sizes, out)
    window.check()
    made = selection.build(
        Pdp, x, mode=mode, kernel=window.kernel, strides=window.strides, pads=window.pads
    )
    found = tensor_of(made.y.type).shape[2:]
    if out is not None and found != out:
        raise NoMatch(f"{name} pools whole windows")
    if not window.counts(sizes, found).all():
        raise NoMatch(f"{name} pools no window that is outside of an image")
    return made.y
