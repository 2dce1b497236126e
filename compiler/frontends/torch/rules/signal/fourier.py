"""Rules for Fourier transforms, along one axis and several."""

import math
from collections.abc import Callable, Sequence

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ....core.values import tensor
from ...promotion import as_float, as_type
from ...registry import Complex, Value, torch_op
from ...views import Ints, as_complex, axis_of, parts, rank_of, reshape, shape_of
from .complex import conjugate

Tensor = Value | Complex


def _scaled(x: Tensor, factor: float) -> Tensor:
    if factor == 1:
        return x
    made = tri.Mul.build(parts(x), as_type(factor, tensor(parts(x)).dtype)).y
    return Complex(made) if isinstance(x, Complex) else made


def _factor(norm: str, size: int, *, forward: bool) -> float:
    """Return what torch multiplies an unscaled transform of a size with."""
    if norm not in ("backward", "ortho", "forward"):
        raise Invalid(f"has norm '{norm}', must be backward, ortho or forward")
    if norm == "ortho":
        return 1 / math.sqrt(size)
    return 1 / size if (norm == "forward") == forward else 1.0


def _c2c(x: Tensor, axis: int, size: int, norm: str, *, forward: bool) -> Complex:
    """Transform along an axis; real numbers have no imaginary part."""
    real = None if isinstance(x, Complex) else as_float(x)
    signal = parts(x) if real is None else reshape(real, (*shape_of(x), 1))
    made = tri.Dft.build(signal, axis=axis, length=size, inverse=not forward).y
    factor = _factor(norm, size, forward=forward) * (1 if forward else size)
    return as_complex(_scaled(Complex(made), factor))


def _r2c(x: Value, axis: int, size: int, norm: str, *, forward: bool) -> Complex:
    """Transform real numbers to half of their spectrum; its conjugate when backwards."""
    signal = reshape(as_float(x), (*shape_of(x), 1))
    made: Tensor = Complex(tri.Dft.build(signal, axis=axis, length=size, onesided=True).y)
    made = _scaled(made, _factor(norm, size, forward=forward))
    return as_complex(made if forward else conjugate(made))


def _c2r(x: Tensor, axis: int, size: int, norm: str, *, forward: bool) -> Value:
    """Transform half of a spectrum, or its conjugate when forwards, to real numbers."""
    half = as_complex(conjugate(x) if forward else x)
    made = tri.Dft.build(half.parts, axis=axis, length=size, inverse=True, onesided=True).y
    whole = reshape(made, tensor(made).shape[:-1])
    return parts(_scaled(whole, _factor(norm, size, forward=forward) * size))


def _axes(x: Tensor, dim: int | Ints | None, s: Ints | None) -> list[int]:
    if isinstance(dim, int):
        dim = (dim,)
    if dim is None:
        dim = tuple(range(-(rank_of(x) if s is None else len(s)), 0))
    if s is not None and len(s) != len(dim):
        raise Invalid(f"has s {s} for dim {dim}, must be as many")
    if not dim:
        raise Invalid("has no axes to transform")
    return [axis_of(x, each) for each in dim]


def _sizes(x: Tensor, axes: Sequence[int], s: Ints | None, *, of_half: bool = False) -> list[int]:
    """Return the size of each transform; the last one, of half a spectrum, has twice as much."""
    sizes = [shape_of(x)[axis] for axis in axes]
    if of_half and sizes:
        sizes[-1] = 2 * (sizes[-1] - 1)
    given = s or (-1,) * len(axes)
    return [size if want == -1 else want for size, want in zip(sizes, given, strict=True)]


def _all(
    x: Tensor, axes: Sequence[int], sizes: Sequence[int], norm: str, *, forward: bool
) -> Tensor:
    """Transform along several axes, one after another."""
    for axis, size in zip(axes, sizes, strict=True):
        x = _c2c(x, axis, size, norm, forward=forward)
    return x


def _complex(forward: bool) -> Callable[..., Tensor]:
    def transform(
        input: Tensor, dim: int | Ints | None, s: Ints | None, norm: str | None
    ) -> Tensor:
        axes = _axes(input, dim, s)
        return _all(input, axes, _sizes(input, axes, s), norm or "backward", forward=forward)

    return transform


def _to_half(forward: bool) -> Callable[..., Tensor]:
    def transform(input: Value, dim: int | Ints | None, s: Ints | None, norm: str | None) -> Tensor:
        axes = _axes(input, dim, s)
        *sizes, last = _sizes(input, axes, s)
        half = _r2c(input, axes[-1], last, norm or "backward", forward=forward)
        return _all(half, axes[:-1], sizes, norm or "backward", forward=forward)

    return transform


def _of_half(forward: bool) -> Callable[..., Tensor]:
    def transform(
        input: Tensor, dim: int | Ints | None, s: Ints | None, norm: str | None
    ) -> Tensor:
        axes = _axes(input, dim, s)
        *sizes, last = _sizes(input, axes, s, of_half=True)
        x = _all(input, axes[:-1], sizes, norm or "backward", forward=forward)
        return _c2r(x, axes[-1], last, norm or "backward", forward=forward)

    return transform


def _register(name: str, transform: Callable[..., Tensor], takes: object) -> None:
    """Register a transform of one axis, of two, and of any number."""

    @torch_op(f"torch.fft.{name}")
    def one(
        input: Tensor, n: int | None = None, dim: int = -1, *, norm: str | None = None
    ) -> Tensor:
        return transform(_checked(name, input, takes), dim, None if n is None else (n,), norm)

    @torch_op(f"torch.fft.{name}2")
    def two(
        input: Tensor, s: Ints | None = None, dim: Ints = (-2, -1), *, norm: str | None = None
    ) -> Tensor:
        return transform(_checked(name, input, takes), dim, s, norm)

    @torch_op(f"torch.fft.{name}n")
    def several(
        input: Tensor, s: Ints | None = None, dim: Ints | None = None, *, norm: str | None = None
    ) -> Tensor:
        return transform(_checked(name, input, takes), dim, s, norm)


def _checked(name: str, x: Tensor, takes: object) -> Tensor:
    if takes is Value and isinstance(x, Complex):
        raise Invalid("has a complex input, must be real")
    return x


_register("fft", _complex(forward=True), Tensor)
_register("ifft", _complex(forward=False), Tensor)
_register("rfft", _to_half(forward=True), Value)
_register("irfft", _of_half(forward=False), Tensor)
_register("hfft", _of_half(forward=True), Tensor)
_register("ihfft", _to_half(forward=False), Value)
