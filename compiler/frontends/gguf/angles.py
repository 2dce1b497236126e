"""Angles of rotary embedding at positions of any number, from two small tables.

The angle of position 256 h + l is the sum of those of 256 h and of l, so cosines and sines of both
are enough: tables of the root of the context's length, made in f64.
"""

import math

import numpy as np

from ....dialects import tri
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.tensor import Array
from ..core.main_function import MainFunction
from ..core.values import Value, constant, number, tensor
from .hyperparameters import RopeScaling

LOW = 256
"""How many positions there are from one row of the table of high parts to the next."""


def frequencies(rope: RopeScaling, rotated: int, factors: Array | None) -> Array:
    """Return by how much the angle of each pair grows with a position, in f64.

    `factors` divide the frequencies. Source: `ggml_rope_ext`, and for "yarn" Peng et al., "YaRN",
    2023.
    """
    pairs = np.arange(rotated // 2, dtype=np.float64)
    whole = rope.base ** (-2 * pairs / rotated)
    if factors is not None:
        whole = whole / factors.astype(np.float64)
    divided = whole / rope.factor
    if not rope.is_yarn:
        return divided
    first, last = (
        _pair_of_turns(rope, rotated, turns) for turns in (rope.beta_fast, rope.beta_slow)
    )
    start, end = max(math.floor(first), 0), min(math.ceil(last), rotated - 1)
    kept = 1 - np.clip((pairs - start) / max(end - start, 0.001), 0, 1)
    return divided * (1 - kept) + whole * kept


def _pair_of_turns(rope: RopeScaling, rotated: int, turns: float) -> float:
    """Return which pair turns so often over the original context."""
    length = rope.original_context / (turns * 2 * math.pi)
    return rotated * math.log(max(length, 1e-9)) / (2 * math.log(max(rope.base, 1 + 1e-9)))


class AngleTables:
    """Hold tables of cosines and sines as constants of a function.

    Of several `choices` of frequencies, a run uses the one of an index.
    """

    def __init__(
        self, main: MainFunction, name: str, choices: list[Array], context: int, magnitude: float
    ) -> None:
        self.rows = -(-context // LOW)
        high = np.arange(self.rows, dtype=np.float64)[:, None] * LOW
        low = np.arange(LOW, dtype=np.float64)[:, None]

        def table(part: str, angles: Array) -> Value:
            return main.constant(f"{name}.{part}", angles.astype(np.float32))

        of_high = np.concatenate([high * each for each in choices])
        of_low = np.concatenate([low * each for each in choices])
        self._high = table("high_cos", np.cos(of_high)), table("high_sin", np.sin(of_high))
        self._low = (
            table("low_cos", magnitude * np.cos(of_low)),
            table("low_sin", magnitude * np.sin(of_low)),
        )

    def at(self, positions: Value, choice: Value | None) -> tuple[Value, Value]:
        """Return cosines and sines of positions [batch, length]: [batch, length, 1, pairs]."""
        step = number(LOW)
        high = tri.Div.build(positions, step).y
        low = tri.Sub.build(positions, tri.Mul.build(high, step).y).y
        if choice is not None:
            high = tri.Add.build(high, tri.Mul.build(choice, number(self.rows)).y).y
            low = tri.Add.build(low, tri.Mul.build(choice, step).y).y
        batch, length = tensor(positions).shape
        cos, sin = (_row(table, high, batch, length) for table in self._high)
        low_cos, low_sin = (_row(table, low, batch, length) for table in self._low)
        return (
            tri.Sub.build(tri.Mul.build(cos, low_cos).y, tri.Mul.build(sin, low_sin).y).y,
            tri.Add.build(tri.Mul.build(sin, low_cos).y, tri.Mul.build(cos, low_sin).y).y,
        )


def _row(table: Value, index: Value, batch: Size, length: Size) -> Value:
    rows = tri.Gather.build(table, index, axis=0).y
    return tri.Reshape.build(rows, shape=(batch, length, 1, tensor(table).shape[1])).y


def is_beyond(total: Size, limit: int) -> Value:
    """Return 1 where a size is greater than a limit, else 0, as an i64."""
    more = tri.Greater.build(number(total), number(limit)).y
    return tri.Where.build(more, constant(np.array(1)), constant(np.array(0))).y
