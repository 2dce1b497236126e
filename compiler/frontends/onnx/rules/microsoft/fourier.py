"""Rules of ONNX Runtime for the Fourier transform of real signals of an even length."""

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ....core.values import tensor
from ...registry import Value, onnx_op
from . import DOMAIN


@onnx_op("Rfft", since=1, domain=DOMAIN)
def rfft(x: Value, *, normalized: int = 0, onesided: int = 1, signal_ndim: int) -> tri.Dft:
    """Transform the last axis, [..., n], to its first n / 2 + 1 numbers, [..., n / 2 + 1, 2]."""
    _need_plain(normalized, onesided, signal_ndim)
    shape = tensor(x).shape
    if not shape:
        raise Invalid(f"has signal {tensor(x)}, must have an axis")
    parts = tri.Reshape.build(x, shape=(*shape, 1)).y
    return tri.Dft.build(parts, axis=len(shape) - 1, length=shape[-1], onesided=True)


@onnx_op("Irfft", since=1, domain=DOMAIN)
def irfft(x: Value, *, normalized: int = 0, onesided: int = 1, signal_ndim: int) -> Value:
    """Transform back what `Rfft` makes: [..., n / 2 + 1, 2] to [..., n]."""
    _need_plain(normalized, onesided, signal_ndim)
    shape = tensor(x).shape
    if len(shape) < 2:
        raise Invalid(f"has spectrum {tensor(x)}, must have an axis of numbers and one of parts")
    length = 2 * (shape[-2] - 1)
    y = tri.Dft.build(x, axis=len(shape) - 2, length=length, inverse=True, onesided=True).y
    return tri.Reshape.build(y, shape=(*shape[:-2], length)).y


def _need_plain(normalized: int, onesided: int, signal_ndim: int) -> None:
    given = {"normalized": normalized, "onesided": onesided, "signal_ndim": signal_ndim}
    for name, wanted in (("normalized", 0), ("onesided", 1), ("signal_ndim", 1)):
        if given[name] != wanted:
            raise Unsupported(f"has {name} {given[name]}, must be {wanted}")
