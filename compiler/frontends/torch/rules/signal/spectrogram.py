"""Rules for short-time Fourier transforms."""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.sizes.atoms import Size, is_symbolic
from ......dialects.core.sizes.checks import need
from ......dialects.core.tensor import Array, numpy_dtype
from ....core.folding import fold_blocks
from ....core.values import constant, counted, number, tensor
from ...promotion import as_type
from ...registry import Complex, Value, torch_op
from ...views import cut, gather, reshape, shape_of, swap

LONGEST = 1 << 30
"""A signal of more numbers than this is taken for a mistake."""


def _window(window: Array | None, win_length: int | None, n_fft: int) -> Array:
    """Return the window in the middle of a frame; without any it is as high everywhere."""
    length = n_fft if win_length is None else win_length
    if not 1 <= length <= n_fft:
        raise Invalid(f"has windows of {length} for frames of {n_fft}")
    given = np.ones(length, np.float32) if window is None else window
    before = (n_fft - length) // 2
    if given.shape != (length,):
        raise Invalid(f"has a window of shape {list(given.shape)}, must have {length} of {n_fft}")
    return np.pad(given, (before, n_fft - length - before))


def _hop(hop_length: int | None, n_fft: int) -> int:
    hop = n_fft // 4 if hop_length is None else hop_length
    if n_fft < 1 or hop < 1:
        raise Invalid(f"has frames of {n_fft} at steps of {hop}, must be at least 1")
    return hop


@torch_op("aten::stft.default")
def stft_of_frames(
    self: Value,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Array | None = None,
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Value | Complex:
    """Transform the frames that are in a signal; what is around it was padded before."""
    if align_to_window:
        raise Unsupported("has align_to_window, must not have it")
    return stft(
        self,
        n_fft,
        hop_length,
        win_length,
        window,
        center=False,
        normalized=normalized,
        onesided=onesided,
        return_complex=return_complex,
    )


@torch_op("torch.stft")
def stft(
    input: Value,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Array | None = None,
    *,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Value | Complex:
    """Cut the signal in frames that may overlap, and transform each: [batch, bins, frames]."""
    hop, wave = _hop(hop_length, n_fft), _window(window, win_length, n_fft)
    shape = tensor(input).shape
    if len(shape) not in (1, 2):
        raise Invalid(f"has an input {tensor(input)}, must have rank 1 or 2")
    x = reshape(input, (1, *shape)) if len(shape) == 1 else input
    if center:
        x = tri.Pad.build(x, pads=(0, n_fft // 2) * 2, mode=pad_mode).y
    whole = tensor(x).shape[1]
    need(whole, n_fft, f"has a signal of {whole}, must have at least a frame of {n_fft}")
    frames = gather(x, _places((whole - n_fft) // hop + 1, hop, n_fft), 1)
    dtype = numpy_dtype(tensor(input).dtype)
    seen = tri.Mul.build(frames, constant(wave.astype(dtype))).y
    signal = reshape(seen, (*tensor(seen).shape, 1))
    half = onesided is not False
    y = Complex(tri.Dft.build(signal, axis=2, length=n_fft, onesided=half).y)
    y = swap(y, 1, 2)
    if normalized:
        y = Complex(tri.Mul.build(y.parts, as_type(n_fft**-0.5, tensor(input).dtype)).y)
    y = reshape(y, shape_of(y)[1:]) if len(shape) == 1 else y
    return y.parts if return_complex is False else y


def _places(count: Size, hop: int, n_fft: int) -> Value:
    """Return the places of the elements of each frame: [frames, n_fft]."""
    if not is_symbolic(count):
        return constant(np.arange(0, count * hop, hop)[:, None] + np.arange(n_fft))
    starts = tri.Mul.build(counted(count, (count, 1)), number(hop)).y
    return tri.Add.build(starts, counted(n_fft, (n_fft,))).y


@torch_op("torch.istft")
def istft(
    input: Complex,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Array | None = None,
    *,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Value | Complex:
    """Transform frames back, add them up where they overlap, and divide by the sum of windows."""
    hop, wave = _hop(hop_length, n_fft), _window(window, win_length, n_fft)
    shape = shape_of(input)
    if len(shape) not in (2, 3):
        raise Invalid(f"has an input of shape {list(shape)}, must have rank 2 or 3")
    x = reshape(input, (1, *shape)) if len(shape) == 2 else input
    half = shape[-2] != n_fft if onesided is None else onesided
    if shape[-2] != (n_fft // 2 + 1 if half else n_fft):
        raise Invalid(f"has {shape[-2]} bins for frames of {n_fft}")
    frames = tri.Dft.build(x.parts, axis=1, length=n_fft, inverse=True, onesided=half).y
    if normalized:
        frames = tri.Mul.build(frames, as_type(n_fft**0.5, tensor(frames).dtype)).y
    kept = 2 if return_complex and not half else 1
    signals = [_summed(cut(frames, 3, i, i + 1), wave, hop) for i in range(kept)]
    total = signals[0] if kept == 1 else tri.Concat.build(signals, axis=2).y
    start, end = _span(tensor(total).shape[1], n_fft, center, length)
    y = cut(total, 1, start, end)
    if length is not None and tensor(y).shape[1] < length:
        more = length - tensor(y).shape[1]
        y = tri.Pad.build(y, pads=(0, 0, 0, 0, more, 0)).y
    y = reshape(y, tensor(y).shape[1:]) if len(shape) == 2 else y
    return Complex(y) if kept == 2 else reshape(y, tensor(y).shape[:-1])


def _summed(frames: Value, wave: Array, hop: int) -> Value:
    """Weigh frames, [batch, n_fft, frames, 1], by the window; return [batch, length, 1]."""
    batch, size, count, _ = tensor(frames).shape
    dtype = numpy_dtype(tensor(frames).dtype)
    x = reshape(frames, (batch, size, count))
    x = tri.Mul.build(x, constant(wave.astype(dtype)[:, None])).y
    whole = size + hop * (count - 1)
    if whole > LONGEST:
        raise Invalid(f"makes a signal of {whole}, must be at most {LONGEST}")
    options = {"strides": (hop,), "pads": (0, 0), "dilations": (1,)}
    total = fold_blocks(x, (whole,), (size,), **options)
    envelope = np.zeros(whole, np.float64)
    for start in range(0, hop * count, hop):
        envelope[start : start + size] += wave.astype(np.float64) ** 2
    # Beyond the reach of all windows there is nothing to divide.
    envelope[envelope < 1e-11] = 1
    level = constant(envelope.astype(dtype))
    return reshape(tri.Div.build(total, level).y, (batch, whole, 1))


def _span(whole: int, n_fft: int, center: bool, length: int | None) -> tuple[int, int]:
    """Return where the signal begins and ends in what the frames cover."""
    start = n_fft // 2 if center else 0
    if length is not None:
        return start, start + length
    return start, whole - start
