"""Select max pools, average pools, and means over rows and columns."""

from typing import Any

import numpy as np

from ....dialects import dla, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import Shape, normalize_axes
from ....passes.rewriting import NoMatch
from .images import image_of, rows_of, tensor_from
from .products import ConvKernel, convolve
from .selection import OpSelection, QuantizedOperand, Selection
from .windows import KernelWindow


def sums_windows(op: tri.Conv, selection: OpSelection) -> bool:
    """Report whether a convolution sums windows of each channel: all weights are 1."""
    weights = tensor_of(op.w.type)
    if weights.shape[:2] != (op.group, 1) or op.b is not None:
        return False
    return bool((selection.constant(op.w, "weights") == 1).all())


def summed_windows(
    conv: tri.Conv, selection: OpSelection
) -> tuple[QuantizedOperand, KernelWindow, tuple[Op, ...]]:
    """Return the bytes and the windows of a convolution that sums them, and the ops covered."""
    source = selection.quantized_operand(conv.x)
    kernel = tensor_of(conv.w.type).shape[2:]
    window = KernelWindow.of(kernel, conv.strides, conv.dilations, conv.pads)
    return source, window, (*source.ops, conv)


def select_average(op: tri.Requantize, selection: Selection) -> None:
    """Select the average of windows, whose sum is a convolution with ones."""
    source, window, covered = summed_windows(selection.sole(op.x, tri.Conv), selection)
    with selection.place(*covered):
        made = _average(selection, image_of(source.value), source.zero, window, op)
        new = tensor_from(made.results[0], tensor_of(op.y.type).shape)
    selection.replace(new, covered)


def select_counted_average(op: tri.RequantizeMean, selection: Selection) -> None:
    """Select an average that divides by the number of values inside the image."""
    conv = selection.sole(op.x, tri.Conv)
    if not sums_windows(conv, selection):
        raise NoMatch(f"{selection.description.name} divides sums of windows, not of products")
    source, window, covered = summed_windows(conv, selection)
    counts, shape = selection.constant(op.count, "counts"), tensor_of(op.y.type).shape
    factor = {"multiplier": op.multiplier, "shift": op.shift}
    finish = {"source_zero": source.zero, **selection.ending(op), **factor}
    with selection.place(*covered):
        image = image_of(source.value)
        made = _pool(selection, image, "average", window, None, finish, "inside")
        expected = window.counts(_sizes(image), _sizes(made.y)).reshape(shape[2:])
        if not (np.broadcast_to(counts, shape) == expected).all():
            raise NoMatch(f"{selection.description.name} divides by what of windows is in images")
        new = tensor_from(made.y, shape)
    selection.replace(new, covered)


def select_mean(op: tri.Requantize, selection: Selection) -> None:
    """Select the mean over rows and columns, or over axis 1 of three."""
    total = selection.sole(op.x, tri.ReduceSum)
    source = selection.quantized_operand(total.x)
    shape = tensor_of(source.value.type).shape
    axes = normalize_axes(total.axes, len(shape))
    covered = (*source.ops, total)
    with selection.place(*covered):
        if len(shape) == 4 and axes and set(axes) <= {2, 3}:
            image, summed = image_of(source.value), [axis - 1 for axis in axes]
        elif len(shape) == 3 and tuple(axes) == (1,):
            image, summed = rows_of(source.value, selection.rewriter), [1]
        else:
            raise NoMatch(f"sums axes {axes} of {len(shape)}, must be rows and columns of images")
        kernel = tuple(n if 1 + i in summed else 1 for i, n in enumerate(_sizes(image)))
        y = _average(selection, image, source.zero, KernelWindow(kernel), op).results[0]
        if len(shape) == 4 and kernel != _sizes(image):
            y = tensor_from(y, (*shape[:2], *_sizes(y))).results[0]
        new = tri.Reshape.build(y, shape=tensor_of(op.y.type).shape)
    selection.replace(new, covered)


def select_max_pool(op: tri.MaxPool, selection: Selection) -> None:
    """Select a max pool without rescaling."""
    rounding = selection.description.rounding
    _select_max(op, op.y, {"rounding": rounding}, (), selection)


def select_rescaled_max_pool(op: tri.Requantize, selection: Selection) -> None:
    """Select a max pool with the requantization that follows."""
    source = selection.quantized_operand(op.x)
    pool = selection.rewriter.sole_producer(source.value, tri.MaxPool)
    scaling, factor = selection.scaling(op), selection.factor(op, "pool")
    finish = {"source_zero": source.zero, **scaling, **factor}
    _select_max(pool, op.y, finish, (pool, *source.ops), selection)


def is_requantized(op: tri.MaxPool) -> bool:
    """Report whether a requantization follows, which the packet of the pool includes."""
    value: ir.Value = op.y
    for classes in ((tri.Cast,), (tri.Sub, tri.Requantize)):
        found = [use.owner.operation for use in value.uses]
        if len(found) != 1 or found[0].name not in [cls.op_name for cls in classes]:
            return False
        if found[0].name == tri.Requantize.op_name:
            return True
        value = found[0].results[0]
    return [use.owner.operation.name for use in value.uses] == [tri.Requantize.op_name]


def _select_max(
    pool: tri.MaxPool,
    result: ir.Value,
    finish: dict[str, Any],
    covered: tuple[Op, ...],
    selection: Selection,
) -> None:
    shape = tensor_of(result.type).shape
    window = KernelWindow.of(pool.kernel, pool.strides, pool.dilations, pool.pads)
    with selection.place(*covered):
        made = _pool(selection, image_of(pool.x), "max", window, shape[2:], finish)
        new = tensor_from(made.y, shape)
    selection.replace(new, covered)


def _average(
    selection: Selection, x: ir.Value, zero: int, window: KernelWindow, op: tri.Requantize
) -> Op:
    """Build an average pool, or a convolution with ones if the packet cannot do it."""
    channels = tensor_of(x.type).shape[-1]
    try:
        scaling, factor = selection.scaling(op), selection.factor(op, "pool")
        finish = {"source_zero": zero, **scaling, **factor}
        return _pool(selection, x, "average", window, None, finish)
    except NoMatch as reason:
        ones = np.ones((*window.kernel, channels), np.int64)
        try:
            return convolve(selection, x, zero, ConvKernel(ones, np.zeros(channels)), window, op)
        except NoMatch:
            raise reason from None


def _pool(
    selection: Selection,
    x: ir.Value,
    mode: str,
    window: KernelWindow,
    out: Shape | None,
    finish: dict[str, Any],
    divisor: str = "none",
) -> dla.Pool:
    """Build a pool with the rows and columns of `out`, with more padding than the op if needed."""
    sizes = _sizes(x)
    if out is not None:
        window = window.reaching(sizes, (1,) * (2 - len(out)) + out)
    window.check()
    attributes: dict[str, Any] = {
        "strides": window.strides,
        "dilations": window.dilations,
        "pads": window.pads,
        "divisor": divisor,
    }
    made = selection.build(dla.Pool, x, mode=mode, kernel=window.kernel, **attributes, **finish)
    if not window.counts(sizes, _sizes(made.y)).all():
        raise NoMatch(f"{selection.description.name} pools no window that is outside of an image")
    return made


def _sizes(image: ir.Value) -> Shape:
    return tensor_of(image.type).shape[1:3]
