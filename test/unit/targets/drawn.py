"""Cases for kernels: the dialect's examples of ops, drawn with sizes that vectors stumble over."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from examples import Maker, Pick
from groups import Case, build_group, op_of
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, Shape, dtype_of, is_float
from trivium.targets.core import Target

_SIZES = (1, 1, 2, 3, 5, 7, 15, 16, 17, 32, 33)
_MOST = 5000


class RandomPick(Pick):
    """Draw the parts of an example from a seed.

    With `wide`, shapes fill vectors and leave tails; without, as for the layers of networks,
    shapes are those of the tables, and floats are finite: what zeros of padding make of an
    infinity depends on the order of a sum.
    """

    def __init__(self, seed: int, wide: bool) -> None:
        self.random = np.random.default_rng(seed)
        self.wide = wide

    def one(self, *choices: Any) -> Any:
        return choices[int(self.random.integers(len(choices)))]

    def between(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def number(self, low: float = -2.0, high: float = 2.0) -> float:
        return round(float(self.random.uniform(low, high)), 3)

    def flag(self) -> bool:
        return bool(self.random.integers(2))

    def permutation(self, rank: int) -> tuple[int, ...]:
        return tuple(int(i) for i in self.random.permutation(rank))

    def shape(self, ranks: tuple[int, int] = (0, 3), sizes: tuple[int, int] = (0, 3)) -> Shape:
        if not self.wide or self.between(0, 7) == 0:
            return super().shape(ranks, sizes)
        while True:
            shape = tuple(self.one(*_SIZES) for _ in range(self.between(*ranks)))
            if np.prod(shape) <= _MOST and all(size >= sizes[0] for size in shape):
                return shape

    def array(self, shape: Shape, *dtypes: str) -> Array:
        values = super().array(shape, *dtypes)
        if self.wide or not is_float(dtype_of(values.dtype)):
            return values
        return np.where(np.isfinite(values), values, 1).astype(values.dtype)


class Cases:
    """Draw cases of the ops that a target lowers, from tables of examples.

    Those in `layers` are drawn as for the layers of networks.
    """

    def __init__(
        self, target: Target, examples: Mapping[type[Op], Maker], layers: Mapping[type[Op], Maker]
    ) -> None:
        self.target = target
        self.layers = layers
        self.examples = {op: m for op, m in examples.items() if op in target.lowerings}

    def of(self, op: type[Op], count: int) -> list[Case]:
        """Return so many cases of an op that the target takes."""
        accepted = (case for case in self._drawn(op, 50 * count) if self._is_accepted(case))
        return list(islice(accepted, count))

    def _drawn(self, op: type[Op], count: int) -> Iterator[Case]:
        for seed in range(count):
            example = self.examples[op](RandomPick(seed, op not in self.layers))
            yield Case(str(seed), op, example.operands, example.attributes)

    def _is_accepted(self, case: Case) -> bool:
        if case.cls not in self.target.limits:
            return True
        with new_context(), ir.Location.unknown():
            return self.target.refusal(op_of(build_group(case))) is None
