"""Rules for recurrent layers: a module, with all its layers and directions, is one op."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.tensor import Array
from ...core.main_function import MainFunction
from ...core.values import tensor
from ..node import Node
from ..registry import Value, torch_op
from ..views import reshape

Weights = dict[str, Array]

LSTM_GATES = (0, 3, 1, 2)
"""Torch has the gates input, forget, cell and output; ours are input, output, forget, cell."""

GRU_GATES = (1, 0, 2)
"""Torch has the gates reset, update and new; ours are update, reset and new."""


@dataclass(frozen=True)
class RecurrentModule:
    """Hold what the modules have in common, and where constants are made.

    `gates` is the order in which ours have torch's gates.
    """

    name: str
    main: MainFunction
    weights: Weights
    cell: str
    gates: tuple[int, ...]
    hidden_size: int
    layers: int
    bidirectional: bool
    batch_first: bool

    def __call__(self, x: Value, states: Sequence[Value | None]) -> tuple[Value, ...]:
        """Build the op. A sequence without a batch has no axis for it, nor have its states."""
        if tensor(x).rank not in (2, 3):
            raise Invalid(f"has an input {tensor(x)}, must have rank 2 or 3")
        if tensor(x).rank == 3:
            return self._build(x, states, self.batch_first)
        wide = reshape(x, (tensor(x).shape[0], 1, tensor(x).shape[1]))
        made = self._build(wide, [None if s is None else _with_batch(s) for s in states], False)
        return tuple(_without_batch(each) for each in made)

    def _build(
        self, x: Value, states: Sequence[Value | None], batch_first: bool
    ) -> tuple[Value, ...]:
        given = [state for state in states if state is not None]
        if len(given) not in (0, len(states)):
            raise Invalid("has one of h0 and c0, must have both or neither")
        made = tri.RecurrentStack.build(
            x,
            self._by_layer("weight_ih"),
            self._by_layer("weight_hh"),
            self._biases(),
            self._by_layer("weight_hr") if "weight_hr_l0" in self.weights else [],
            given,
            cell=self.cell,
            hidden_size=self.hidden_size,
            bidirectional=self.bidirectional,
            batch_first=batch_first,
        )
        return tuple(made.results)

    def _by_layer(self, kind: str) -> list[Value]:
        """Return a weight of each layer: of all its directions, with its gates in our order."""
        return [
            self._constant(kind, layer, [self._ordered(name) for name in names])
            for layer, names in enumerate(self._names(kind))
        ]

    def _biases(self) -> list[Value]:
        """Return the biases of each layer: those of inputs, then of states."""
        if "bias_ih_l0" not in self.weights:
            return []
        pairs = zip(self._names("bias_ih"), self._names("bias_hh"), strict=True)
        return [
            self._constant(
                "bias",
                layer,
                [
                    np.concatenate([self._ordered(i), self._ordered(h)])
                    for i, h in zip(ih, hh, strict=True)
                ],
            )
            for layer, (ih, hh) in enumerate(pairs)
        ]

    def _names(self, kind: str) -> list[list[str]]:
        suffixes = ("", "_reverse")[: 1 + self.bidirectional]
        return [[f"{kind}_l{layer}{suffix}" for suffix in suffixes] for layer in range(self.layers)]

    def _ordered(self, name: str) -> Array:
        if name not in self.weights:
            raise Invalid(f"has no {name}")
        weight = self.weights[name]
        if name.startswith("weight_hr"):
            return weight
        if weight.shape[0] != len(self.gates) * self.hidden_size:
            raise Invalid(f"has a weight of shape {list(weight.shape)} for {self.hidden_size}")
        parts = np.split(weight, len(self.gates))
        return np.concatenate([parts[gate] for gate in self.gates])

    def _constant(self, kind: str, layer: int, directions: Sequence[Array]) -> Value:
        return self.main.constant(f"{self.name}.{kind}_l{layer}", np.stack(directions), self.name)


def _without_batch(x: Value) -> Value:
    return reshape(x, (tensor(x).shape[0], tensor(x).shape[2]))


def _with_batch(state: Value) -> Value:
    if tensor(state).rank != 2:
        raise Invalid(f"has a state {tensor(state)}, must have rank 2 or 3")
    layers, size = tensor(state).shape
    return reshape(state, (layers, 1, size))


@torch_op("nn.RNN")
def rnn(
    input: Value,
    h0: Value | None = None,
    *,
    hidden_size: int,
    num_layers: int = 1,
    nonlinearity: str = "tanh",
    batch_first: bool = False,
    bidirectional: bool = False,
    operator: Node,
    main: MainFunction,
    **weights: Array,
) -> tuple[Value, ...]:
    if nonlinearity not in ("tanh", "relu"):
        raise Invalid(f"has nonlinearity '{nonlinearity}', must be tanh or relu")
    kind = (nonlinearity, (0,), hidden_size, num_layers, bidirectional, batch_first)
    return RecurrentModule(operator.name, main, weights, *kind)(input, [h0])


@torch_op("nn.GRU")
def gru(
    input: Value,
    h0: Value | None = None,
    *,
    hidden_size: int,
    num_layers: int = 1,
    batch_first: bool = False,
    bidirectional: bool = False,
    operator: Node,
    main: MainFunction,
    **weights: Array,
) -> tuple[Value, ...]:
    kind = ("gru", GRU_GATES, hidden_size, num_layers, bidirectional, batch_first)
    return RecurrentModule(operator.name, main, weights, *kind)(input, [h0])


@torch_op("nn.LSTM")
def lstm(
    input: Value,
    h0: Value | None = None,
    c0: Value | None = None,
    *,
    hidden_size: int,
    num_layers: int = 1,
    proj_size: int = 0,
    batch_first: bool = False,
    bidirectional: bool = False,
    operator: Node,
    main: MainFunction,
    **weights: Array,
) -> tuple[Value, ...]:
    if proj_size and "weight_hr_l0" not in weights:
        raise Invalid("has no weight_hr_l0")
    kind = ("lstm", LSTM_GATES, hidden_size, num_layers, bidirectional, batch_first)
    return RecurrentModule(operator.name, main, weights, *kind)(input, [h0, c0])
