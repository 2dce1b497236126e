"""PNNX rules for recurrent layers: each layer of a module is one op, in both directions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ....dialects import tri
from ....dialects.core.errors import Invalid
from ....dialects.core.tensor import Array
from ..core.main_function import MainFunction
from ..core.values import tensor
from .graph import Operator
from .movement import cut, reshape, transpose
from .rules import Value, is_unpacked, pnnx_op

Weights = dict[str, Array]


@dataclass(frozen=True)
class _Module:
    """Hold what the modules have in common, and where constants are made.

    `gates` is the order in which ours have torch's gates; `wants_states` says whether anybody uses
    the last states.
    """

    name: str
    main: MainFunction
    weights: Weights
    gates: tuple[int, ...]
    hidden_size: int
    layers: int
    directions: int
    wants_states: bool

    def stacked(self, kind: str, layer: int) -> Value | None:
        """Return a weight of all directions of a layer, with its gates in our order."""
        names = [f"{kind}_l{layer}{suffix}" for suffix in ("", "_reverse")[: self.directions]]
        if any(name not in self.weights for name in names):
            return None
        stacked = np.stack([self._ordered(self.weights[name], kind) for name in names])
        return self.main.constant(f"{self.name}.{kind}_l{layer}", stacked, self.name)

    def bias(self, layer: int) -> Value | None:
        """Return the biases of all directions of a layer: those of inputs, then of states."""
        rows: list[Array] = []
        for suffix in ("", "_reverse")[: self.directions]:
            names = [f"bias_{kind}_l{layer}{suffix}" for kind in ("ih", "hh")]
            if any(name not in self.weights for name in names):
                return None
            rows.append(np.concatenate([self._ordered(self.weights[n], "bias") for n in names]))
        return self.main.constant(f"{self.name}.bias_l{layer}", np.stack(rows), self.name)

    def _ordered(self, weight: Array, kind: str) -> Array:
        if kind == "weight_hr":
            return weight
        if weight.shape[0] != len(self.gates) * self.hidden_size:
            raise Invalid(f"has a weight of shape {list(weight.shape)} for {self.hidden_size}")
        parts = np.split(weight, len(self.gates))
        return np.concatenate([parts[gate] for gate in self.gates])


Layer = Callable[[Value, int, Sequence[Value | None]], tuple[Value, ...]]
"""Walk a layer, by its number, from states; return what it makes, and its last states."""


def _walk(
    module: _Module, x: Value, states: Sequence[Value | None], batch_first: bool, layer: Layer
) -> tuple[Value | None, ...]:
    """Walk all layers, each on what the one before made; return that of the last, and all states.

    A sequence without a batch has no axis for it, and neither do its states.
    """
    unbatched = tensor(x).rank == 2
    if tensor(x).rank not in (2, 3):
        raise Invalid(f"has an input {tensor(x)}, must have rank 2 or 3")
    swapped = batch_first and not unbatched
    y = reshape(x, (tensor(x).shape[0], 1, tensor(x).shape[1])) if unbatched else x
    y = transpose(y, (1, 0, 2)) if swapped else y
    wide = [s if s is None or tensor(s).rank == 3 else _with_batch(s) for s in states]
    last: list[list[Value]] = [[] for _ in states]
    for number in range(module.layers):
        first = number * module.directions
        own = [None if s is None else cut(s, 0, first, first + module.directions) for s in wide]
        made, *ends = layer(y, number, own)
        y = _side_by_side(made)
        for listed, end in zip(last, ends, strict=True):
            listed.append(end)
    y = transpose(y, (1, 0, 2)) if swapped else y
    if not module.wants_states:
        return (_without_batch(y) if unbatched else y), *[None] * len(states)
    joined = [s[0] if len(s) == 1 else tri.Concat.build(s, axis=0).y for s in last]
    return tuple(_without_batch(each) if unbatched else each for each in (y, *joined))


def _side_by_side(y: Value) -> Value:
    """Turn [length, directions, batch, size] into [length, batch, directions * size]."""
    length, directions, batch, size = tensor(y).shape
    y = transpose(y, (0, 2, 1, 3)) if directions > 1 else y
    return reshape(y, (length, batch, directions * size))


def _without_batch(x: Value) -> Value:
    return reshape(x, (tensor(x).shape[0], tensor(x).shape[2]))


def _with_batch(state: Value) -> Value:
    if tensor(state).rank != 2:
        raise Invalid(f"has a state {tensor(state)}, must have rank 2 or 3")
    layers, size = tensor(state).shape
    return reshape(state, (layers, 1, size))


def _wants_states(operator: Operator) -> bool:
    """Say whether anybody uses the last states: outputs after the first, or a tuple of all."""
    first, *others = operator.outputs
    return any(operand.consumers for operand in others) or (not others and is_unpacked(first))


def _direction(module: _Module) -> str:
    return "bidirectional" if module.directions == 2 else "forward"


def _weight(module: _Module, kind: str, number: int) -> Value:
    made = module.stacked(kind, number)
    if made is None:
        raise Invalid(f"has no {kind}_l{number}")
    return made


@pnnx_op("nn.RNN")
def rnn(
    input: Value,
    h0: Value | None = None,
    *,
    hidden_size: int,
    num_layers: int = 1,
    nonlinearity: str = "tanh",
    batch_first: bool = False,
    bidirectional: bool = False,
    operator: Operator,
    main: MainFunction,
    **weights: Array,
) -> tuple[Value | None, ...]:
    names = {"tanh": "Tanh", "relu": "Relu"}
    if nonlinearity not in names:
        raise Invalid(f"has nonlinearity '{nonlinearity}', must be tanh or relu")
    directions = 1 + bidirectional
    wants = _wants_states(operator)
    module = _Module(operator.name, main, weights, (0,), hidden_size, num_layers, directions, wants)

    def layer(x: Value, number: int, states: Sequence[Value | None]) -> tuple[Value, ...]:
        made = tri.Rnn.build(
            x,
            _weight(module, "weight_ih", number),
            _weight(module, "weight_hh", number),
            module.bias(number),
            None,
            states[0],
            hidden_size=hidden_size,
            direction=_direction(module),
            activations=(names[nonlinearity],) * directions,
        )
        return made.y, made.y_h

    return _walk(module, input, [h0], batch_first, layer)


@pnnx_op("nn.GRU")
def gru(
    input: Value,
    h0: Value | None = None,
    *,
    hidden_size: int,
    num_layers: int = 1,
    batch_first: bool = False,
    bidirectional: bool = False,
    operator: Operator,
    main: MainFunction,
    **weights: Array,
) -> tuple[Value | None, ...]:
    """Torch has the gates reset, update and new; ours are update, reset and new."""
    directions = 1 + bidirectional
    wants = _wants_states(operator)
    module = _Module(
        operator.name, main, weights, (1, 0, 2), hidden_size, num_layers, directions, wants
    )

    def layer(x: Value, number: int, states: Sequence[Value | None]) -> tuple[Value, ...]:
        made = tri.Gru.build(
            x,
            _weight(module, "weight_ih", number),
            _weight(module, "weight_hh", number),
            module.bias(number),
            None,
            states[0],
            hidden_size=hidden_size,
            direction=_direction(module),
            linear_before_reset=True,
        )
        return made.y, made.y_h

    return _walk(module, input, [h0], batch_first, layer)


@pnnx_op("nn.LSTM")
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
    operator: Operator,
    main: MainFunction,
    **weights: Array,
) -> tuple[Value | None, ...]:
    """Torch has the gates input, forget, cell and output; ours are input, output, forget, cell."""
    directions, order = 1 + bidirectional, (0, 3, 1, 2)
    wants = _wants_states(operator)
    module = _Module(
        operator.name, main, weights, order, hidden_size, num_layers, directions, wants
    )

    def layer(x: Value, number: int, states: Sequence[Value | None]) -> tuple[Value, ...]:
        made = tri.Lstm.build(
            x,
            _weight(module, "weight_ih", number),
            _weight(module, "weight_hh", number),
            module.bias(number),
            None,
            *states,
            None,
            module.stacked("weight_hr", number) if proj_size else None,
            hidden_size=hidden_size,
            direction=_direction(module),
        )
        return made.y, made.y_h, made.y_c

    return _walk(module, input, [h0, c0], batch_first, layer)
