"""ONNX rules for spectra: Fourier transforms and mel bands."""

import math

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.tensor import Array, normalize_axis, numpy_dtype
from ...core.values import constant, single, tensor
from ..element_types import element_type
from ..registry import Value, onnx_op


@onnx_op("DFT", since=17)
def dft_by_attribute(
    x: Value,
    dft_length: Array | None = None,
    *,
    axis: int = 1,
    inverse: int = 0,
    onesided: int = 0,
) -> tri.Dft:
    return _dft(x, dft_length, axis, bool(inverse), bool(onesided))


@onnx_op("DFT", since=20)
def dft(
    x: Value,
    dft_length: Array | None = None,
    axis: Array | None = None,
    *,
    inverse: int = 0,
    onesided: int = 0,
) -> tri.Dft:
    along = -2 if axis is None else int(single(axis).item())
    return _dft(x, dft_length, along, bool(inverse), bool(onesided))


def _dft(x: Value, dft_length: Array | None, axis: int, inverse: bool, onesided: bool) -> tri.Dft:
    axis = normalize_axis(axis, tensor(x).rank)
    size = tensor(x).shape[axis]
    default = 2 * (size - 1) if inverse and onesided else size
    length = default if dft_length is None else int(single(dft_length).item())
    return tri.Dft.build(x, axis=axis, length=length, inverse=inverse, onesided=onesided)


@onnx_op("STFT", since=17)
def stft(
    signal: Value,
    frame_step: Array,
    window: Value | None = None,
    frame_length: Array | None = None,
    *,
    onesided: int = 1,
) -> tri.Dft:
    """Cut the signal in frames that may overlap, and transform each."""
    if tensor(signal).rank != 3:
        raise Invalid(f"has signal {tensor(signal)}, must have rank 3")
    whole, step = tensor(signal).shape[1], int(single(frame_step).item())
    length = whole if window is None else tensor(window).size
    length = length if frame_length is None else int(single(frame_length).item())
    if step < 1 or not 1 <= length <= whole:
        raise Invalid(f"has frames of {length} at steps of {step} in a signal of {whole}")
    starts = constant(np.arange(0, whole - length + 1, step)[:, None])
    places = tri.Add.build(starts, constant(np.arange(length))).y
    frames = tri.Gather.build(signal, places, axis=1).y
    if window is not None:
        frames = tri.Mul.build(frames, tri.Reshape.build(window, shape=(length, 1)).y).y
    return tri.Dft.build(frames, axis=2, length=length, onesided=bool(onesided))


@onnx_op("MelWeightMatrix", since=17)
def mel_weight_matrix(
    num_mel_bins: Array,
    dft_length: Array,
    sample_rate: Array,
    lower_edge_hertz: Array,
    upper_edge_hertz: Array,
    *,
    output_datatype: int = 1,
) -> Array:
    """Make triangles that are evenly spaced on the mel scale, their corners on DFT bins."""
    bands, length = int(single(num_mel_bins).item()), int(single(dft_length).item())
    lowest, highest = _mel(lower_edge_hertz), _mel(upper_edge_hertz)
    rate = float(single(sample_rate).item())
    if bands < 1 or length < 1 or not rate > 0:
        raise Invalid(f"has {bands} bands of {length} at {rate} Hz, must all be above 0")
    # ONNX's steps end before the highest edge: the one that would reach it is number bands + 2.
    mels = lowest + (highest - lowest) / (bands + 2) * np.arange(bands + 2)
    hertz = 700 * (10 ** (mels / 2595) - 1)
    corners = np.floor((length + 1) * hertz / rate)[:, None]
    low, center, high = corners[:-2], corners[1:-1], corners[2:]
    bins = np.arange(length // 2 + 1)
    rising = (bins - low) / np.maximum(center - low, 1)
    falling = (high - bins) / np.maximum(high - center, 1)
    bands_by_bin = np.where(bins == center, 1, np.minimum(rising, falling).clip(0)).T
    return bands_by_bin.astype(numpy_dtype(element_type(output_datatype)))


def _mel(edge: Array) -> float:
    hertz = float(single(edge).item())
    if not 0 <= hertz < math.inf:
        raise Invalid(f"has an edge at {hertz} Hz, must be at least 0")
    return 2595 * math.log10(1 + hertz / 700)
