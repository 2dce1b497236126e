"""Random numbers: a function of how many runs there were, of the node and of the element.

In the body of a loop, they are one of the iteration as well. The generator is Squares, a
counter-based one: B. Widynski, "Squares: A Fast Counter-Based RNG", 2020. So kernels need no state
of their own, and any target can draw. The number of the run is an input that a session carries from
run to run.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....dialects import tri
from ....dialects.core.location import node_location
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.tensor import Shape, Tensor
from .main_function import MainFunction
from .values import cast, constant, number, tensor

RUN, NEXT = "random.run", "random.next"

_BITS_OF_ELEMENTS = 40
"""The low bits of a counter, which count elements; the others count runs."""

_WIDE = 53
"""The bits of the mantissa of f64."""

_MIX = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""The constants of SplitMix64: G. L. Steele et al., "Fast Splittable Pseudorandom Number
Generators", 2014."""


class Draws:
    """Count what is drawn in a function, and add the number of the run to its inputs."""

    def __init__(self, main: MainFunction) -> None:
        self._main = main
        self._run: ir.Value | None = None
        self._count = 0

    def next_key(self, seed: float | None) -> int:
        """Return an odd key for the next draw of the function; with a seed, another one."""
        bits = 0 if seed is None else int(np.float64(seed).view(np.uint64)) + 1
        mixed = _mixed(_mixed(bits) + self._count)
        self._count += 1
        return mixed | 1

    def run_number(self) -> ir.Value:
        """Return the number of the run: a session carries it on."""
        if self._run is None:
            location = node_location(RUN, [RUN])
            run = self._run = self._main.add_input(RUN, Tensor((), "i64"), location)
            self._main.carry(NEXT, RUN, lambda: tri.Add.build(run, number(1)).y)
        return self._run


@dataclass(frozen=True)
class RandomNumbers:
    """Draw random numbers, each time others, in the bodies of loops that count `iterations`."""

    draws: Draws
    iterations: Sequence[ir.Value] = ()

    def uniform(self, shape: Shape, dtype: str, seed: float | None) -> ir.Value:
        """Return numbers in [0, 1): multiples of 2**-24, and of 2**-53 in f64."""
        if dtype != "f64":
            bits = tri.ShiftRight.build(self._bits(shape, seed), _unsigned(8)).y
            return tri.Mul.build(cast(bits, "f32"), constant(np.array(2**-24, np.float32))).y
        high = tri.ShiftRight.build(self._bits(shape, seed), _unsigned(5)).y
        low = tri.ShiftRight.build(self._bits(shape, seed), _unsigned(6)).y
        whole = tri.Add.build(tri.ShiftLeft.build(high, _unsigned(26)).y, low).y
        return tri.Mul.build(cast(whole, "f64"), constant(np.array(2.0**-_WIDE))).y

    def normal(self, shape: Shape, dtype: str, seed: float | None) -> ir.Value:
        """Return numbers of mean 0 and deviation 1, by the transform of Box and Muller (1958)."""
        wide = "f64" if dtype == "f64" else "f32"
        kind = np.float64 if wide == "f64" else np.float32
        first, second = (self.uniform(shape, dtype, seed) for _ in range(2))
        above_zero = tri.Sub.build(constant(np.array(1, kind)), first).y
        radius = tri.Sqrt.build(
            tri.Mul.build(tri.Log.build(above_zero).y, constant(np.array(-2, kind))).y
        ).y
        angle = tri.Mul.build(second, constant(np.array(2 * np.pi, kind))).y
        return tri.Mul.build(radius, tri.Cos.build(angle).y).y

    def classes(self, weights: ir.Value, count: Size, seed: float | None) -> ir.Value:
        """Draw `count` classes for each row of weights [rows, classes], as i64.

        A row adds up to 1.
        """
        rows, classes = tensor(weights).shape
        ends = tri.CumSum.build(weights, axis=1).y
        drawn = self.uniform((rows, count), tensor(weights).dtype, seed)
        below = tri.LessEqual.build(
            tri.Reshape.build(ends, shape=(rows, 1, classes)).y,
            tri.Reshape.build(drawn, shape=(rows, count, 1)).y,
        ).y
        place = tri.ReduceSum.build(cast(below, "i64"), axes=(2,), keepdims=False).y
        last = tri.Sub.build(number(classes), number(1)).y  # ends may be rounded down
        return tri.Minimum.build(place, last).y

    def _bits(self, shape: Shape, seed: float | None) -> ir.Value:
        """Return 32 random bits for each element, in ui64."""
        key = _unsigned(self.draws.next_key(seed))
        count = Tensor(shape, "i64").size
        element = cast(tri.Reshape.build(tri.Iota.build(size=count).y, shape=shape).y, "ui64")
        run = cast(self.draws.run_number(), "ui64")
        run = tri.ShiftLeft.build(run, _unsigned(_BITS_OF_ELEMENTS)).y
        for iteration in self.iterations:
            key = _key_of(tri.Add.build(run, cast(iteration, "ui64")).y, key)
        return _squares(tri.Add.build(run, element).y, key)


def _key_of(counter: ir.Value, key: ir.Value) -> ir.Value:
    """Return the key of an iteration: 64 random bits of another key, the last of them 1."""
    twice = tri.ShiftLeft.build(counter, _unsigned(1)).y
    high = _squares(twice, key)
    low = _squares(tri.BitwiseOr.build(twice, _unsigned(1)).y, key)
    both = tri.BitwiseOr.build(tri.ShiftLeft.build(high, _unsigned(32)).y, low).y
    return tri.BitwiseOr.build(both, _unsigned(1)).y


def _squares(counter: ir.Value, key: ir.Value) -> ir.Value:
    """Return 32 random bits in ui64: four rounds of Squares."""
    y = tri.Mul.build(counter, key).y
    z = tri.Add.build(y, key).y
    x = y
    for added in (y, z, y):
        x = _swapped(tri.Add.build(tri.Mul.build(x, x).y, added).y)
    last = tri.Add.build(tri.Mul.build(x, x).y, z).y
    return tri.ShiftRight.build(last, _unsigned(32)).y


def _swapped(x: ir.Value) -> ir.Value:
    """Exchange the halves of integers."""
    high = tri.ShiftLeft.build(x, _unsigned(32)).y
    return tri.BitwiseOr.build(high, tri.ShiftRight.build(x, _unsigned(32)).y).y


def _mixed(bits: int) -> int:
    """Return other bits: SplitMix64."""
    wrap = (1 << 64) - 1
    bits = (bits + _MIX[0]) & wrap
    bits = ((bits ^ (bits >> 30)) * _MIX[1]) & wrap
    bits = ((bits ^ (bits >> 27)) * _MIX[2]) & wrap
    return bits ^ (bits >> 31)


def _unsigned(value: int) -> ir.Value:
    return constant(np.array(value, np.uint64))
