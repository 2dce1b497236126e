"""The discrete Fourier transform as products with matrices.

Short signals are multiplied by one matrix. A long one of n = n1 n2 elements is a table of n1 rows:
its columns are transformed, the result is turned by twiddle factors, and so are its rows. Lengths
without such factors become a convolution, of chirps, at a length that has them. Sources: Cooley and
Tukey, 1965; Bailey, "FFTs in external or hierarchical memory", 1990; Bluestein, 1970.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.sizes.atoms import is_symbolic
from ...dialects.core.tensor import Array, normalize_axis, numpy_dtype
from ..building import add, mat_mul, mul, reduce_mean, reshape, shape_of, sub, transpose
from ..fold.fold_slices import build_slice
from ..rewriting import NoMatch
from .norms import narrowed, widened
from .registry import decomposes

Complex = np.ndarray[Any, np.dtype[np.complex128]]

LARGEST = 60_000
"""How many numbers a matrix may have: products with larger ones take longer than two steps."""


@decomposes(tri.Dft)
def dft(op: tri.Dft) -> ir.Value:
    rank = len(shape_of(op.x))
    axis = normalize_axis(op.axis, rank)
    given = shape_of(op.x)[axis]
    if is_symbolic(op.length) or is_symbolic(given):
        raise NoMatch("transforms a signal whose length depends on a run")
    others = [other for other in range(rank - 1) if other != axis]
    x = transpose(widened(op.x), *others, rank - 1, axis)
    outer = [shape_of(op.x)[other] for other in others]
    parts, length = shape_of(op.x)[-1], op.length
    if given > length:
        x = build_slice(x, rank - 1, 0, length).y
    x = reshape(x, math.prod(outer), parts, min(given, length))
    halved = op.onesided and op.inverse
    if halved:
        x = mul(x, _constant(_shares(min(given, length), length), x))
    step = _Step(
        length=length,
        count=shape_of(op.y)[axis],
        kept=shape_of(op.y)[-1],
        sign=1 if op.inverse else -1,
        scale=1 / length if op.inverse else 1.0,
    )
    y = reshape(step.transform(x), *outer, step.count, step.kept)
    back = [*range(axis), rank - 2, *range(axis, rank - 2), rank - 1]
    return narrowed(transpose(y, *back), op.y)


def _shares(given: int, length: int) -> Array:
    """Count in how many elements of a whole spectrum each one of its half is."""
    shares = np.full(given, 2.0)
    shares[0] = 1
    shares[length // 2 + 1 :] = 0
    if length % 2 == 0:
        shares[length // 2 : length // 2 + 1] = 1
    return shares


@dataclass(frozen=True)
class _Step:
    """Transform the last axis of [rows, parts, elements], to [rows, count, kept].

    There are one part or two, the real and the imaginary one; of the result `kept` parts and
    the first `count` elements are wanted. Elements that are not given are zero.

    The mean of a signal is taken off before, and its transform added: in a sum of products with
    rounded powers, it would not cancel out.
    """

    length: int
    count: int
    kept: int
    sign: int
    scale: float

    def transform(self, x: ir.Value) -> ir.Value:
        _, parts, given = shape_of(x)
        if parts * given * self.count * self.kept <= LARGEST:
            return self._multiply(x)
        first = _divisor(self.length)
        x = _filled(x, self.length)
        return self._convolve(x) if first == 1 else self._split(x, first)

    def _multiply(self, x: ir.Value) -> ir.Value:
        """Multiply by the powers of the root of unity."""
        rows, parts, given = shape_of(x)
        angles = np.outer(np.arange(given), np.arange(self.count))
        powers = self.scale * self._turns(angles, self.length)
        matrix = _real(powers)[:parts, :, :, : self.kept]
        sums = matrix.sum(1).reshape(parts, 1, -1)
        matrix = matrix.reshape(parts * given, self.count * self.kept)
        middle = reduce_mean(x, (2,))
        y = mat_mul(reshape(sub(x, middle), rows, parts * given), _constant(matrix, x))
        for part in range(parts):
            share = reshape(build_slice(middle, 1, part, 1).y, rows, 1)
            y = add(y, mul(share, _constant(sums[part], x)))
        return reshape(y, rows, self.count, self.kept)

    def _split(self, x: ir.Value, first: int) -> ir.Value:
        """Transform the columns of tables of `first` rows, then their rows."""
        rows, parts, _ = shape_of(x)
        second = self.length // first
        x = reshape(x, rows, parts, first, second)
        middle = reduce_mean(x, (2,))
        tables = reshape(sub(x, middle), rows, parts * first, second)
        powers = self._turns(np.outer(np.arange(first), np.arange(first)), first)
        twiddles = self._turns(np.outer(np.arange(first), np.arange(second)), self.length)
        made: list[ir.Value] = []
        # A complex product is the sum of two real ones, the second one of swapped parts.
        for turned, factor in ((powers, twiddles.real), (powers * 1j, twiddles.imag)):
            matrix = _real(turned)[:parts].transpose(2, 3, 0, 1)
            matrix = matrix.reshape(2 * first, parts * first)
            product = mat_mul(_constant(matrix, x), tables)
            made.append(mul(product, _constant(np.repeat(factor, 2, axis=0), x)))
        sums = np.zeros((first, 2, 1))
        sums[0, :parts] = first
        turned = reshape(add(*made), rows, first, 2, second)
        columns = add(turned, mul(reshape(middle, rows, 1, parts, second), _constant(sums, x)))
        columns = reshape(columns, rows * first, 2, second)
        count = -(-self.count // first)
        y = replace(self, length=second, count=count).transform(columns)
        y = transpose(reshape(y, rows, first, count, self.kept), 0, 2, 1, 3)
        y = reshape(y, rows, first * count, self.kept)
        return build_slice(y, 1, 0, self.count).y

    def _convolve(self, x: ir.Value) -> ir.Value:
        """Convolve with a chirp: j k is half of j^2 + k^2 - (k - j)^2."""
        length = 1 << (2 * self.length - 2).bit_length()
        squares = np.array([i * i % (2 * self.length) for i in range(self.length)])
        chirp = self._turns(squares, 2 * self.length)
        response = np.zeros(length, complex)
        response[: self.length] = chirp.conj()
        response[1 - self.length :] = chirp[:0:-1].conj()
        spectrum = np.fft.fft(response) * (self.scale / length)
        whole = _Step(length, length, 2, -1, 1.0)
        y = whole.transform(_turned(x, chirp))
        y = _turned(transpose(y, 0, 2, 1), spectrum)
        y = replace(whole, count=self.count, sign=1).transform(y)
        y = _turned(transpose(y, 0, 2, 1), chirp[: self.count])
        return build_slice(transpose(y, 0, 2, 1), 2, 0, self.kept).y

    def _turns(self, steps: Array, length: int) -> Complex:
        """Return powers of the root of unity of a length."""
        return np.exp(self.sign * 2j * np.pi / length * (steps % length))


def _divisor(length: int) -> int:
    """Return the factor of a length nearest to its square root, from below."""
    return next(n for n in range(math.isqrt(length), 0, -1) if length % n == 0)


def _real(powers: Complex) -> Array:
    """Return complex factors as factors of parts: [part, from, to, part of the product]."""
    parts = np.array([[powers.real, powers.imag], [-powers.imag, powers.real]])
    return parts.transpose(0, 2, 3, 1)


def _turned(x: ir.Value, factors: Complex) -> ir.Value:
    """Multiply [rows, parts, elements] by complex factors: there are two parts then."""
    if shape_of(x)[1] == 1:
        return mul(x, _constant(np.stack([factors.real, factors.imag]), x))
    swapped = tri.Concat.build([build_slice(x, 1, part, 1).y for part in (1, 0)], axis=1).y
    other = np.stack([-factors.imag, factors.imag])
    return add(mul(x, _constant(factors.real, x)), mul(swapped, _constant(other, x)))


def _filled(x: ir.Value, length: int) -> ir.Value:
    """Add zeros at the end of the last axis."""
    missing = length - shape_of(x)[-1]
    return tri.Pad.build(x, pads=(0, 0, 0, 0, 0, missing)).y if missing else x


def _constant(values: Array, like: ir.Value) -> ir.Value:
    dtype = numpy_dtype(tensor_of(like.type).dtype)
    return tri.Constant.build(value=np.ascontiguousarray(values.astype(dtype))).y
