"""Rules for recurrent layers whose weights come as lists."""

from typing import Any

from ......dialects.core.errors import Invalid
from ....core.main_function import MainFunction
from ...node import Node, Weight
from ...registry import Value, torch_op
from ..rnn import GRU_GATES, LSTM_GATES, RecurrentModule


def _register(name: str, cell: str, gates: tuple[int, ...]) -> None:
    @torch_op(f"aten::{name}.input")
    def recurrent(
        input: Value,
        hx: list[Any] | Value,
        params: list[Any],
        has_biases: bool,
        num_layers: int,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
        dropout: float = 0.0,
        *,
        operator: Node,
        main: MainFunction,
    ) -> tuple[Value, ...]:
        if train and dropout:
            raise Invalid("drops elements at random (train=True), must be inference")
        states = hx if isinstance(hx, list) else [hx]
        kinds = ["weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if has_biases else ())]
        ends = ("", "_reverse")[: 1 + bidirectional]
        names = [
            f"{kind}_l{layer}{end}" for layer in range(num_layers) for end in ends for kind in kinds
        ]
        if len(params) == len(names) + num_layers * len(ends):
            raise Invalid("has projections of its state, which nn.LSTM of PNNX reads alone")
        if len(params) != len(names):
            raise Invalid(f"has {len(params)} weights, must have {len(names)}")
        weights = {n: _known(x, main) for n, x in zip(names, params, strict=True)}
        hidden = weights["weight_hh_l0"].shape[1]
        module = RecurrentModule(
            operator.name,
            main,
            weights,
            cell,
            gates,
            hidden,
            num_layers,
            bidirectional,
            batch_first,
        )
        return module(input, states)


def _known(weight: Any, main: MainFunction) -> Any:
    if isinstance(weight, Weight):
        return weight.array()
    return main.known(weight, "a weight")


_register("lstm", "lstm", LSTM_GATES)
_register("gru", "gru", GRU_GATES)
_register("rnn_tanh", "tanh", (0,))
_register("rnn_relu", "relu", (0,))
