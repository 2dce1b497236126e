"""Derive the coefficients of `targets/kernels/coefficients.py`: run this file to print them.

Remez' exchange for rationals p/q, least maximum of |weight * (p/q - f)| on [0 or low, high].
For given reference points the levelled error is an eigenvalue: with Z spanning the left null
space of p's Vandermonde matrix, Z diag(f) Q b = -E Z diag(±1/weight) Q b; of the eigenvectors the
one whose q has no zero on the interval counts. High degrees start from a short interval, which
then grows, so that the reference points are always near.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev, polynomial

Vector = np.ndarray
Function = Callable[[Vector], Vector]

PIECES = 16
"""How many pieces a table has: the lanes of a vector."""

GELU_END = 6.0
"""Where tables for `gelu` end."""

_GRID = 2000
_GROWTH_PER_OCTAVE = 12
_GROWTH = 2 ** (1 / _GROWTH_PER_OCTAVE)


class Fit(NamedTuple):
    """Hold both polynomials, constant terms first, the largest error, and where it is reached."""

    above: Vector
    below: Vector
    error: float
    points: Vector


def remez(
    f: Function,
    weight: Function,
    low: float,
    high: float,
    degrees: tuple[int, int],
    points: Vector | None = None,
) -> Fit:
    """Fit a rational of the given degrees (0 below makes it a polynomial)."""
    count = sum(degrees) + 2
    points = low + (high - low) * _nodes(count) if points is None else points
    grid = low + (high - low) * _nodes(_GRID) ** (2 if low == 0 else 1)
    signs = (-1.0) ** np.arange(count)

    def basis(x: Vector, degree: int) -> Vector:
        return chebyshev.chebvander(2 * (x - low) / (high - low) - 1, degree)

    for _ in range(60):
        q, _ = np.linalg.qr(basis(points, degrees[0]), mode="complete")
        z, below = q[:, degrees[0] + 1 :].T, basis(points, degrees[1])
        levels = (signs / weight(points))[:, None]
        values, vectors = np.linalg.eig(
            np.linalg.solve(z @ (levels * below), z @ (f(points)[:, None] * below))
        )
        candidates = [
            (abs(value.real), -value.real, vector.real)
            for value, vector in zip(values, vectors.T, strict=True)
            if abs(value.imag) <= 1e-9 * abs(value)
            and np.ptp(np.sign(basis(grid, degrees[1]) @ vector.real)) == 0
        ]
        _, level, b = min(candidates, key=lambda candidate: candidate[0])
        wanted = (f(points) + signs * level / weight(points)) * (below @ b)
        a = np.linalg.lstsq(basis(points, degrees[0]), wanted, rcond=None)[0]
        error = weight(grid) * (
            (basis(grid, degrees[0]) @ a) / (basis(grid, degrees[1]) @ b) - f(grid)
        )
        points = _exchange(points, grid, error * np.sign(level), low, high)
        if np.abs(error).max() < abs(level) * 1.002:
            break
    above, below = _monomials(a, low, high), _monomials(b, low, high)
    return Fit(above / below[0], below / below[0], float(np.abs(error).max()), points)


def _nodes(count: int) -> Vector:
    return (1 - np.cos(np.pi * np.arange(count) / (count - 1))) / 2


def _exchange(points: Vector, grid: Vector, error: Vector, low: float, high: float) -> Vector:
    """Move each point to the greatest error of its sign between its neighbours."""
    edges = np.concatenate([[low], (points[1:] + points[:-1]) / 2, [high]])
    moved: list[float] = []
    for i in range(len(points)):
        near = np.flatnonzero((grid >= edges[i]) & (grid <= edges[i + 1]))
        moved.append(grid[near[np.argmax((-1) ** i * error[near])]])
    return np.array(moved)


def _monomials(coefficients: Vector, low: float, high: float) -> Vector:
    """Convert a Chebyshev series on [low, high] to powers of x."""
    line = np.array([-(low + high), 2.0]) / (high - low)
    total = np.zeros(1)
    for coefficient in chebyshev.cheb2poly(coefficients)[::-1]:
        total = polynomial.polyadd(polynomial.polymul(total, line), [coefficient])
    return total[: len(coefficients)]


def grow(f: Function, high: float, degrees: tuple[int, int], octaves: float) -> Fit:
    """Fit with relative error on [0, high], from an interval that is `octaves` shorter on."""
    steps = round(octaves * _GROWTH_PER_OCTAVE)
    fit: Fit | None = None
    for step in range(steps, -1, -1):
        end = high * _GROWTH**-step
        start = _nodes(sum(degrees) + 2) ** 1.2 * end if fit is None else fit.points * _GROWTH
        fit = remez(f, lambda u: 1 / f(u), 0, end, degrees, start)
    assert fit is not None
    return fit


def _by_root(f: Callable[[float], float], slope: float) -> Function:
    """Return f(x)/x as a function of u = x^2."""
    return np.vectorize(lambda u: f(math.sqrt(u)) / math.sqrt(u) if u > 1e-12 else slope)


def _exp_rest(r: Vector) -> Vector:
    """Return (exp(r) - 1 - r) / r^2, by its series near zero."""
    terms = [r**k / math.factorial(k + 2) for k in range(16)]
    return np.sum(terms, axis=0)


def _exp2_rest(r: Vector) -> Vector:
    """Return (2^r - 1) / r, by its series near zero."""
    return math.log(2) * (1 + r * math.log(2) * _exp_rest(r * math.log(2)))


def _log_rest(f: Vector) -> Vector:
    """Return (log(1 + f) - f + f^2 / 2) / f^3, by its series near zero."""
    small = np.abs(f) < 0.05
    series = np.sum([(-f) ** k / (k + 3) for k in range(20)], axis=0)
    safe = np.where(small, 1, f)
    return np.where(small, series, (np.log1p(safe) - safe + safe**2 / 2) / safe**3)


def _sin_rest(u: Vector) -> Vector:
    """Return (sin(r) - r) / r^3 of u = r^2."""
    return np.sum([-((-u) ** k) / math.factorial(2 * k + 3) for k in range(10)], axis=0)


def _cos_rest(u: Vector) -> Vector:
    """Return (cos(r) - 1 + r^2 / 2) / r^4 of u = r^2."""
    return np.sum([(-u) ** k / math.factorial(2 * k + 4) for k in range(10)], axis=0)


def _normal_tail(a: Vector) -> Vector:
    """Return Phi(-a), Phi the normal distribution function."""
    return np.array([math.erfc(each * math.sqrt(0.5)) / 2 for each in a])


def _normal_root(a: Vector) -> Vector:
    """Return the 16th root of Phi(-a)."""
    return _normal_tail(a) ** (1 / 16)


def _tanh_tail(a: Vector) -> Vector:
    """Return (1 - tanh(sqrt(2 / pi) (a + 0.044715 a^3))) / 2."""
    return 1 / (1 + np.exp(math.sqrt(8 / math.pi) * (a + 0.044715 * a**3)))


def _lgamma_rest(e: Vector) -> Vector:
    """Return lgamma(2 + e) / e, by its series: zeta(k) of all whole numbers but 1."""
    zetas = [sum(n**-k for n in range(2, 400)) + _tail(k) for k in range(2, 60)]
    terms = [(-e) ** (k - 1) * zeta / k for k, zeta in enumerate(zetas, 2)]
    return 1 - np.euler_gamma - np.sum(terms, axis=0)


def _tail(k: int) -> float:
    """Return the sum of n^-k from n = 400 on, by Euler and Maclaurin's formula."""
    n = 400
    return n ** (1 - k) / (k - 1) + n**-k / 2 + k * n ** (-k - 1) / 12


def _relative(power: int, whole: Function) -> Function:
    """Return the weight of a term x^power * p(x) by which `whole` has relative error."""
    return lambda x: np.abs(x**power / np.where(x == 0, 1, whole(x))) + 1e-30


def pieces(f: Function, end: float, degree: int) -> list[Vector]:
    """Fit f on [0, end] by pieces around the whole numbers of a scale; return them by powers.

    Errors are weighed by the root of f, between absolute and relative. The last piece ends in the
    middle, and in zero.
    """
    scale = (PIECES - 1) / end
    made: list[Vector] = []
    for middle in range(PIECES):

        def piece(u: Vector, middle: int = middle) -> Vector:
            return f((middle + u) / scale)

        def weight(u: Vector, piece: Function = piece) -> Vector:
            return piece(u) ** -0.5

        low, high = -0.5 if middle else 0, 0.5 if middle < PIECES - 1 else 0
        made.append(remez(piece, weight, low, high, (degree, 0)).above)
    made[-1][0] = 0
    return list(np.transpose(made))


def tables() -> dict[str, list[Vector]]:
    return {
        "normal_tail": pieces(_normal_tail, GELU_END, 5),
        "tanh_tail": pieces(_tanh_tail, GELU_END, 5),
    }


def fits() -> dict[str, Fit]:
    half = math.log(2) / 2 * 1.0005
    root = math.sqrt(0.5)
    eighth = (math.pi / 4 * 1.0005) ** 2
    return {
        "sin": remez(_sin_rest, _relative(1, lambda u: 1 + u * _sin_rest(u)), 0, eighth, (2, 0)),
        "cos": remez(_cos_rest, _relative(2, lambda u: np.cos(np.sqrt(u))), 0, eighth, (2, 0)),
        "exp": remez(_exp_rest, _relative(2, np.exp), -half, half, (4, 0)),
        "exp2": remez(_exp2_rest, _relative(1, np.exp2), -0.5, 0.5, (5, 0)),
        "exp2_fraction": remez(_exp2_rest, _relative(1, np.exp2), 0, 1, (5, 0)),
        "exp2_short": remez(_exp2_rest, _relative(1, np.exp2), 0, 1, (2, 0)),
        "exp2_near": remez(_exp2_rest, _relative(1, np.exp2), -1 / 32, 1 / 32, (2, 0)),
        "expm1": remez(_exp_rest, _relative(2, np.expm1), -0.36, 0.36, (5, 0)),
        "log": remez(_log_rest, _relative(3, np.log1p), root - 1, 1 / root - 1, (7, 0)),
        "lgamma": remez(_lgamma_rest, lambda e: 1 / _lgamma_rest(e), -0.5, 0.5, (7, 0)),
        "normal_root": remez(_normal_root, lambda a: 16 / _normal_root(a), 0, 5, (5, 0)),
        "tanh": grow(_by_root(math.tanh, 1.0), 9.02**2, (4, 4), 2.5),
        "erf": grow(_by_root(math.erf, 2 / math.sqrt(math.pi)), 3.93**2, (6, 5), 2.25),
    }


if __name__ == "__main__":
    for name, fit in fits().items():
        print(f"{name}: error {fit.error:.3g}")
        print("  above", [float(f"{c:.12g}") for c in fit.above])
        print("  below", [float(f"{c:.12g}") for c in fit.below])
    for name, powers in tables().items():
        print(f"{name}:")
        for power in powers:
            print("  ", [float(f"{c:.9g}") for c in power])
