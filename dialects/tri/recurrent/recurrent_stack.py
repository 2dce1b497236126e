"""Stacks of recurrent layers: each layer reads the output sequence of the layer below."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import Invalid, need_one_of
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need_same
from ...core.tensor import Array, Tensor
from ..dialect import TriOp
from .rnn import Gru, Lstm, Rnn

CELLS = ("lstm", "gru", "tanh", "relu")


class RecurrentStack(TriOp):
    """Walk a sequence with layers of one kind, in one direction or in both at once.

    `x` is [sequence, batch, inputs], or [batch, sequence, inputs] with `batch_first`; `w`, `r`, `b`
    and `projection` have an entry for each layer, as `tri.lstm`, `tri.gru` and `tri.rnn` take them
    (a GRU scales the product of its state: `linear_before_reset`); biases and projections may be
    absent. `states` are the first states, [layers * directions, batch, size], or none: one, two of
    an LSTM. `cell` is "lstm", "gru", or the activation of a plain layer, "tanh" or "relu".
    `ys` are the output of the last layer, with its directions concatenated, and all last states.
    Half types are computed in f32. Source: torch `nn.LSTM`, `nn.GRU`, `nn.RNN`.
    """

    x: Operand
    w: Sequence[Operand]
    r: Sequence[Operand]
    b: Sequence[Operand]
    projection: Sequence[Operand]
    states: Sequence[Operand]
    cell: str
    hidden_size: int
    bidirectional: bool = False
    batch_first: bool = False
    ys: Sequence[Result]

    @property
    def layer(self) -> Lstm | Gru | Rnn:
        """Return the op of one layer, without operands."""
        size, direction = self.hidden_size, "bidirectional" if self.bidirectional else "forward"
        if self.cell == "lstm":
            return Lstm(hidden_size=size, direction=direction)
        if self.cell == "gru":
            return Gru(hidden_size=size, direction=direction, linear_before_reset=True)
        activations = (self.cell.capitalize(),) * (1 + self.bidirectional)
        return Rnn(hidden_size=size, direction=direction, activations=activations)

    def layer_operands(self, operands: Sequence[Any], states: Sequence[Any]) -> list[Any]:
        """Return the operands of one layer after its input, in the order of its op."""
        w, r, b, projection = operands
        lstm = self.cell == "lstm"
        initial = list(states) or [None] * (1 + lstm)
        return [w, r, b, None, *initial, *([None, projection] if lstm else [])]

    def infer(
        self,
        x: Tensor,
        w: Sequence[Tensor],
        r: Sequence[Tensor],
        b: Sequence[Tensor],
        projection: Sequence[Tensor],
        states: Sequence[Tensor],
    ) -> tuple[Tensor, ...]:
        need_one_of("cell", self.cell, CELLS)
        layers, directions = len(w), 1 + self.bidirectional
        _check_counts(self.cell, layers, r=r, b=b, projection=projection, states=states)
        if x.rank != 3:
            raise Invalid(f"input has rank {x.rank}, must have 3: sequence, batch, elements")
        for state in states:
            fault = f"state is {state}, must have {layers * directions} rows of 3 axes"
            if state.rank != 3:
                raise Invalid(fault)
            need_same(state.shape[0], layers * directions, fault)
        firsts = [Tensor((directions, *state.shape[1:]), state.dtype) for state in states]
        y = Tensor((x.shape[1], x.shape[0], x.shape[2]), x.dtype) if self.batch_first else x
        ends: list[Tensor] = []
        for operands in _by_layer(w, r, b, projection):
            made, *ends = self.layer.infer(y, *self.layer_operands(operands, firsts))
            length, _, batch, size = made.shape
            y = Tensor((length, batch, directions * size), x.dtype)
        lasts = [Tensor((layers * directions, *end.shape[1:]), end.dtype) for end in ends]
        y = Tensor((y.shape[1], y.shape[0], y.shape[2]), y.dtype) if self.batch_first else y
        return y, *lasts

    def reference(
        self,
        x: Array,
        w: Sequence[Array],
        r: Sequence[Array],
        b: Sequence[Array],
        projection: Sequence[Array],
        states: Sequence[Array],
    ) -> tuple[Array, ...]:
        directions = 1 + self.bidirectional
        y = widen(x.swapaxes(0, 1) if self.batch_first else x)
        lasts: list[list[Array]] = []
        for number, operands in enumerate(_by_layer(w, r, b, projection)):
            firsts = [s[number * directions : (number + 1) * directions] for s in states]
            wide = [None if each is None else widen(each) for each in operands]
            made, *ends = self.layer.reference(
                y, *self.layer_operands(wide, [widen(first) for first in firsts])
            )
            y = made.swapaxes(1, 2).reshape(*y.shape[:2], -1)
            lasts.append(ends)
        y = y.swapaxes(0, 1) if self.batch_first else y
        joined = [np.concatenate(ends) for ends in zip(*lasts, strict=True)]
        return tuple(narrow(each, x) for each in (y, *joined))


def _by_layer(*operands: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the operands of each layer; None for those that no layer has."""
    layers = len(operands[0])
    return list(zip(*(each or [None] * layers for each in operands), strict=True))


def _check_counts(cell: str, layers: int, **operands: Sequence[Tensor]) -> None:
    if not layers:
        raise Invalid("has no layers, must have at least 1")
    of_cell = 2 if cell == "lstm" else 1
    allowed = {
        "r": (layers,),
        "b": (0, layers),
        "projection": (0, layers) if cell == "lstm" else (0,),
        "states": (0, of_cell),
    }
    for name, counts in allowed.items():
        if len(operands[name]) not in counts:
            must = " or ".join(map(str, counts))
            raise Invalid(
                f"has {len(operands[name])} of {name} for {layers} layers, must be {must}"
            )
