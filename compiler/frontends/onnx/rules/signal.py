"""ONNX rules for spectra: Fourier transforms and mel bands."""

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.sizes.atoms import is_symbolic
from .....dialects.core.sizes.checks import need
from .....dialects.core.sizes.dim import floordiv, highest
from .....dialects.core.tensor import Array, normalize_axis, numpy_dtype
from ...core.mel import MelScale
from ...core.sizes.run_time_axes import ChosenAxes
from ...core.values import constant, counted, number, only, single, tensor
from ..element_types import element_type
from ..registry import Node, Size, Value, onnx_op


@onnx_op("DFT", since=17)
def dft_by_attribute(
    x: Value,
    dft_length: Value | None = None,
    *,
    axis: int = 1,
    inverse: int = 0,
    onesided: int = 0,
    node: Node,
) -> tri.Dft:
    return _dft(x, _length(dft_length, node), axis, bool(inverse), bool(onesided))


@onnx_op("DFT", since=20)
def dft(
    x: Value,
    dft_length: Value | None = None,
    axis: Value | None = None,
    *,
    inverse: int = 0,
    onesided: int = 0,
    node: Node,
) -> tri.Dft | Value:
    length = _length(dft_length, node)
    if axis is not None and None in node.found.known(axis):
        return _dft_at_run_time(x, length, axis, bool(inverse), bool(onesided), node)
    along = -2 if axis is None else only(node.sizes(axis, "input 'axis'"))
    return _dft(x, length, along, bool(inverse), bool(onesided))


def _length(length: Value | None, node: Node) -> Size | None:
    return None if length is None else only(node.found.compute(length))


def _dft(x: Value, length: Size | None, axis: int, inverse: bool, onesided: bool) -> tri.Dft:
    axis = normalize_axis(axis, tensor(x).rank)
    size = tensor(x).shape[axis]
    default = 2 * (size - 1) if inverse and onesided else size
    length = default if length is None else length
    return tri.Dft.build(x, axis=axis, length=length, inverse=inverse, onesided=onesided)


def _dft_at_run_time(
    x: Value, length: Size | None, axis: Value, inverse: bool, onesided: bool, node: Node
) -> Value:
    """Transform along an axis that a run chooses: it is in the middle of three meanwhile."""
    *dims, parts = tensor(x).shape
    axes = ChosenAxes.of(tuple(dims), axis, tensor(x).rank)
    around = node.found.compute(axes.around(), axes.most)
    rows = tri.Reshape.build(x, shape=(*around, parts)).y
    y = _dft(rows, length, 1, inverse, onesided).y
    made = tensor(y).shape
    limits = tuple(highest(size, made[1]) for size in dims)
    shape = node.found.compute(axes.replaced(made[1]), limits)
    return tri.Reshape.build(y, shape=(*shape, made[-1])).y


@onnx_op("STFT", since=17)
def stft(
    signal: Value,
    frame_step: Value,
    window: Value | None = None,
    frame_length: Value | None = None,
    *,
    onesided: int = 1,
    node: Node,
) -> tri.Dft:
    """Cut the signal in frames that may overlap, and transform each."""
    if tensor(signal).rank != 3:
        raise Invalid(f"has signal {tensor(signal)}, must have rank 3")
    whole, step = tensor(signal).shape[1], only(node.found.compute(frame_step))
    length = whole if window is None else tensor(window).size
    length = length if frame_length is None else only(node.found.compute(frame_length))
    fault = f"has frames of {length} at steps of {step} in a signal of {whole}"
    for size, least in ((step, 1), (length, 1), (whole, length)):
        need(size, least, fault)
    places = tri.Add.build(_starts(whole - length, step), counted(length, (length,))).y
    frames = tri.Gather.build(signal, places, axis=1).y
    if window is not None:
        frames = tri.Mul.build(frames, tri.Reshape.build(window, shape=(length, 1)).y).y
    return tri.Dft.build(frames, axis=2, length=length, onesided=bool(onesided))


def _starts(last: Size, step: Size) -> Value:
    """Return the numbers up to the last one, a step apart, in a column."""
    if not is_symbolic(last) and not is_symbolic(step):
        return constant(np.arange(0, last + 1, step)[:, None])
    count = floordiv(last, highest(step, 1)) + 1
    return tri.Mul.build(counted(count, (count, 1)), number(step)).y


@onnx_op("MelWeightMatrix", since=17)
def mel_weight_matrix(
    num_mel_bins: Value,
    dft_length: Value,
    sample_rate: Value,
    lower_edge_hertz: Value,
    upper_edge_hertz: Value,
    *,
    output_datatype: int = 1,
    node: Node,
) -> Array | Value:
    """Make triangles that are evenly spaced on the mel scale, their corners on DFT bins."""
    bands, length = (only(node.found.compute(each)) for each in (num_mel_bins, dft_length))
    numbers = (sample_rate, lower_edge_hertz, upper_edge_hertz)
    known = [node.evaluate(each) for each in numbers]
    scale = MelScale(bands, length)
    dtype = element_type(output_datatype)
    given = [float(single(each).item()) for each in known if each is not None]
    if len(given) == len(numbers) and not is_symbolic(bands) and not is_symbolic(length):
        return scale.matrix(*given).astype(numpy_dtype(dtype))
    return scale.at_run_time(*numbers, dtype)
