"""Recurrent layers: one step of a cell for each element of a sequence, in one or two directions.

With layout 0, `x` is [sequence, batch, inputs], `y` is [sequence, directions, batch, hidden] and a
state is [directions, batch, hidden]; with layout 1, `x` is [batch, sequence, inputs], `y` is
[batch, sequence, directions, hidden] and a state is [batch, directions, hidden]. `w` is
[directions, gates * hidden, inputs], `r` is [directions, gates * hidden, hidden], `b` has the bias
of `w` and then the bias of `r`. Half types are computed in f32.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ...core.fields import Operand, Result
from ...core.numerics.precision import widen
from ...core.tensor import Array, Tensor
from .recurrence import Activation, Cell, Recurrent, State, Step, Weights, biases_of

Recall = Callable[[int, Array], Array]
"""Multiply the state of a direction, given by its number, by the weights of the gates."""


class Rnn(Recurrent):
    """Walk a sequence with a plain cell: `h = f(x @ wᵀ + h @ rᵀ + b)`.

    `activations` has one name for each direction; empty means Tanh. Source: ONNX `RNN`.
    """

    cell = Cell(gates=1, activations=("Tanh",))

    def step(
        self, weights: Weights, functions: Sequence[Activation], inputs: Array, state: State
    ) -> State:
        (w, r, bias), (f,), (h,) = weights, functions, state
        return (f(self.clipped(inputs @ w.T + h @ r.T + bias.sum(0))),)


class Gru(Recurrent):
    """Walk a sequence with gated recurrent units; gates are in the order update, reset, hidden.

    `activations` has two names for each direction: f of the gates, g of the hidden part; empty
    means Sigmoid and Tanh. With `linear_before_reset`, the reset gate scales the product of the
    state and its weights, otherwise the state itself.
    Source: ONNX `GRU`; Cho et al., "Learning Phrase Representations", 2014.
    """

    cell = Cell(gates=3, activations=("Sigmoid", "Tanh"))

    linear_before_reset: bool = False

    def step(
        self, weights: Weights, functions: Sequence[Activation], inputs: Array, state: State
    ) -> State:
        (w, r, (bias_w, bias_r)), (f, g), (h,) = weights, functions, state
        gates, hidden = slice(0, 2 * self.hidden_size), slice(2 * self.hidden_size, None)
        seen = inputs @ w.T + bias_w
        kept = h @ r[gates].T + bias_r[gates]
        update, reset = np.split(f(self.clipped(seen[:, gates] + kept)), 2, axis=1)
        if self.linear_before_reset:
            recalled = reset * (h @ r[hidden].T + bias_r[hidden])
        else:
            recalled = (reset * h) @ r[hidden].T + bias_r[hidden]
        new = g(self.clipped(seen[:, hidden] + recalled))
        return ((1 - update) * new + update * h,)


class Lstm(Recurrent):
    """Walk a sequence with long short-term memory; gates are input, output, forget, cell.

    `p` has the peephole weights of the input, output and forget gates. `activations` has three
    names for each direction: f of the gates, g of the cell, h of the output; empty means Sigmoid,
    Tanh and Tanh. With `input_forget`, the forget gate is one minus the input gate. `projection`,
    [directions, size, hidden], multiplies the output of a step, which then has that size.
    Source: ONNX `LSTM`; Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997; the projection:
    Sak et al., "Long Short-Term Memory Based Recurrent Neural Network Architectures", 2014.
    """

    cell = Cell(gates=4, activations=("Sigmoid", "Tanh", "Tanh"), peepholes=3)

    initial_c: Operand | None = None
    p: Operand | None = None
    projection: Operand | None = None
    input_forget: bool = False
    y_c: Result

    def infer(
        self,
        x: Tensor,
        w: Tensor,
        r: Tensor,
        b: Tensor | None = None,
        sequence_lens: Tensor | None = None,
        initial_h: Tensor | None = None,
        initial_c: Tensor | None = None,
        p: Tensor | None = None,
        projection: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        states = [initial_h, initial_c]
        return self.infer_types(x, w, r, b, sequence_lens, states, p, projection)

    def reference(
        self,
        x: Array,
        w: Array,
        r: Array,
        b: Array | None = None,
        sequence_lens: Array | None = None,
        initial_h: Array | None = None,
        initial_c: Array | None = None,
        p: Array | None = None,
        projection: Array | None = None,
    ) -> tuple[Array, ...]:
        def multiply(number: int, inputs: Array) -> Array:
            return inputs @ widen(w[number]).T

        def recall(number: int, hidden: Array) -> Array:
            return hidden @ widen(r[number]).T

        biases = [biases_of(number, w, b).sum(0) for number in range(self.directions)]
        states = [initial_h, initial_c]
        return self.recalling(
            multiply, recall, x, biases, sequence_lens, states, p, projection, shown=r.shape[2]
        )

    def recalling(
        self,
        multiply: Recall,
        recall: Recall,
        x: Array,
        biases: Sequence[Array | float],
        sequence_lens: Array | None,
        states: Sequence[Array | None],
        p: Array | None = None,
        projection: Array | None = None,
        *,
        shown: int,
    ) -> tuple[Array, ...]:
        """Return the results where `recall` multiplies the state of a direction by its weights.

        `multiply` does so with the inputs. The state has `shown` elements.
        """

        def cell(number: int, f: Activation, g: Activation, h: Activation) -> Step:
            none = np.zeros(3 * self.hidden_size, widen(x).dtype)
            peep_i, peep_o, peep_f = np.split(none if p is None else widen(p[number]), 3)

            def step(inputs: Array, state: State) -> State:
                hidden, memory = state
                total = multiply(number, inputs) + recall(number, hidden) + biases[number]
                total_i, total_o, total_f, total_c = np.split(total, 4, axis=1)
                taken = f(self.clipped(total_i + peep_i * memory))
                kept = (
                    1 - taken if self.input_forget else f(self.clipped(total_f + peep_f * memory))
                )
                memory = kept * memory + taken * g(self.clipped(total_c))
                shown = f(self.clipped(total_o + peep_o * memory))
                y = shown * h(memory)
                return y if projection is None else y @ widen(projection[number]).T, memory

            return step

        steps = [cell(i, *f) for i, f in enumerate(self.activation_functions())]
        return self.walk(x, sequence_lens, states, steps, (shown, self.hidden_size))
