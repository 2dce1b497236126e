"""Recurrent layers: one step of a cell for each element of a sequence, in one or two directions.

With layout 0, `x` is [sequence, batch, inputs], `y` is [sequence, directions, batch, hidden] and a
state is [directions, batch, hidden]; with layout 1, `x` is [batch, sequence, inputs], `y` is
[batch, sequence, directions, hidden] and a state is [batch, directions, hidden]. `w` is
[directions, gates * hidden, inputs], `r` is [directions, gates * hidden, hidden], `b` has the bias
of `w` and then the bias of `r`. Half types are computed in f32.
"""

import numpy as np

from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.tensor import Array, Tensor
from ..dialect import TriOp
from .recurrence import Activation, Cell, Options, State, Step, infer_recurrent, walk

_RNN = Cell(gates=1, activations=("Tanh",))
_GRU = Cell(gates=3, activations=("Sigmoid", "Tanh"))
_LSTM = Cell(gates=4, activations=("Sigmoid", "Tanh", "Tanh"), peepholes=3)


class Recurrent(TriOp, abstract=True):
    """Base of recurrent layers: what they all take and make.

    `alphas` and `betas` are for those activations that take them, in order; `clip` limits what
    activations see, 0 means no limit.
    """

    x: Operand
    w: Operand
    r: Operand
    b: Operand | None = None
    sequence_lens: Operand | None = None
    initial_h: Operand | None = None
    hidden_size: int
    direction: str = "forward"
    activations: tuple[str, ...] = ()
    alphas: tuple[float, ...] = ()
    betas: tuple[float, ...] = ()
    clip: float = 0.0
    layout: int = 0
    y: Result
    y_h: Result


class Rnn(Recurrent):
    """Walk a sequence with a plain cell: `h = f(x @ wᵀ + h @ rᵀ + b)`.

    `activations` has one name for each direction; empty means Tanh. Source: ONNX `RNN`.
    """

    @staticmethod
    def infer(
        x: Tensor,
        w: Tensor,
        r: Tensor,
        b: Tensor | None = None,
        sequence_lens: Tensor | None = None,
        initial_h: Tensor | None = None,
        *,
        hidden_size: int,
        direction: str = "forward",
        activations: tuple[str, ...] = (),
        alphas: tuple[float, ...] = (),
        betas: tuple[float, ...] = (),
        clip: float = 0.0,
        layout: int = 0,
    ) -> tuple[Tensor, Tensor]:
        options = Options(hidden_size, direction, activations, alphas, betas, clip, layout)
        y, last = infer_recurrent(_RNN, options, x, w, r, b, sequence_lens, [initial_h])
        return y, last

    @staticmethod
    def reference(
        x: Array,
        w: Array,
        r: Array,
        b: Array | None = None,
        sequence_lens: Array | None = None,
        initial_h: Array | None = None,
        *,
        hidden_size: int,
        direction: str = "forward",
        activations: tuple[str, ...] = (),
        alphas: tuple[float, ...] = (),
        betas: tuple[float, ...] = (),
        clip: float = 0.0,
        layout: int = 0,
    ) -> tuple[Array, ...]:
        options = Options(hidden_size, direction, activations, alphas, betas, clip, layout)

        def cell(number: int, f: Activation) -> Step:
            wide_w, wide_r, bias = _direction(number, w, r, b)

            def step(inputs: Array, state: State) -> State:
                (h,) = state
                total = inputs @ wide_w.T + h @ wide_r.T + bias.sum(0)
                return (f(options.clipped(total)),)

            return step

        steps = [cell(i, *f) for i, f in enumerate(options.activation_functions(_RNN))]
        return _narrow_all(walk(options, x, sequence_lens, [initial_h], steps), x)


class Gru(Recurrent):
    """Walk a sequence with gated recurrent units; gates are in the order update, reset, hidden.

    `activations` has two names for each direction: f of the gates, g of the hidden part; empty
    means Sigmoid and Tanh. With `linear_before_reset`, the reset gate scales the product of the
    state and its weights, otherwise the state itself.
    Source: ONNX `GRU`; Cho et al., "Learning Phrase Representations", 2014.
    """

    linear_before_reset: bool = False

    @staticmethod
    def infer(
        x: Tensor,
        w: Tensor,
        r: Tensor,
        b: Tensor | None = None,
        sequence_lens: Tensor | None = None,
        initial_h: Tensor | None = None,
        *,
        hidden_size: int,
        direction: str = "forward",
        activations: tuple[str, ...] = (),
        alphas: tuple[float, ...] = (),
        betas: tuple[float, ...] = (),
        clip: float = 0.0,
        layout: int = 0,
        linear_before_reset: bool = False,
    ) -> tuple[Tensor, Tensor]:
        options = Options(hidden_size, direction, activations, alphas, betas, clip, layout)
        y, last = infer_recurrent(_GRU, options, x, w, r, b, sequence_lens, [initial_h])
        return y, last

    @staticmethod
    def reference(
        x: Array,
        w: Array,
        r: Array,
        b: Array | None = None,
        sequence_lens: Array | None = None,
        initial_h: Array | None = None,
        *,
        hidden_size: int,
        direction: str = "forward",
        activations: tuple[str, ...] = (),
        alphas: tuple[float, ...] = (),
        betas: tuple[float, ...] = (),
        clip: float = 0.0,
        layout: int = 0,
        linear_before_reset: bool = False,
    ) -> tuple[Array, ...]:
        options = Options(hidden_size, direction, activations, alphas, betas, clip, layout)

        def cell(number: int, f: Activation, g: Activation) -> Step:
            wide_w, wide_r, (bias_w, bias_r) = _direction(number, w, r, b)
            gates, hidden = slice(0, 2 * hidden_size), slice(2 * hidden_size, None)

            def step(inputs: Array, state: State) -> State:
                (h,) = state
                seen = inputs @ wide_w.T + bias_w
                kept = h @ wide_r[gates].T + bias_r[gates]
                update, reset = np.split(f(options.clipped(seen[:, gates] + kept)), 2, axis=1)
                if linear_before_reset:
                    recalled = reset * (h @ wide_r[hidden].T + bias_r[hidden])
                else:
                    recalled = (reset * h) @ wide_r[hidden].T + bias_r[hidden]
                new = g(options.clipped(seen[:, hidden] + recalled))
                return ((1 - update) * new + update * h,)

            return step

        steps = [cell(i, *f) for i, f in enumerate(options.activation_functions(_GRU))]
        return _narrow_all(walk(options, x, sequence_lens, [initial_h], steps), x)


class Lstm(Recurrent):
    """Walk a sequence with long short-term memory; gates are input, output, forget, cell.

    `p` has the peephole weights of the input, output and forget gates. `activations` has three
    names for each direction: f of the gates, g of the cell, h of the output; empty means Sigmoid,
    Tanh and Tanh. With `input_forget`, the forget gate is one minus the input gate. `projection`,
    [directions, size, hidden], multiplies what a step puts out, which then has that size.
    Source: ONNX `LSTM`; Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997; the projection:
    Sak et al., "Long Short-Term Memory Based Recurrent Neural Network Architectures", 2014.
    """

    initial_c: Operand | None = None
    p: Operand | None = None
    projection: Operand | None = None
    input_forget: bool = False
    y_c: Result

    @staticmethod
    def infer(
        x: Tensor,
        w: Tensor,
        r: Tensor,
        b: Tensor | None = None,
        sequence_lens: Tensor | None = None,
        initial_h: Tensor | None = None,
        initial_c: Tensor | None = None,
        p: Tensor | None = None,
        projection: Tensor | None = None,
        *,
        hidden_size: int,
        direction: str = "forward",
        activations: tuple[str, ...] = (),
        alphas: tuple[float, ...] = (),
        betas: tuple[float, ...] = (),
        clip: float = 0.0,
        layout: int = 0,
        input_forget: bool = False,
    ) -> tuple[Tensor, Tensor, Tensor]:
        options = Options(hidden_size, direction, activations, alphas, betas, clip, layout)
        states = [initial_h, initial_c]
        y, last_h, last_c = infer_recurrent(
            _LSTM, options, x, w, r, b, sequence_lens, states, p, projection
        )
        return y, last_h, last_c

    @staticmethod
    def reference(
        x: Array,
        w: Array,
        r: Array,
        b: Array | None = None,
        sequence_lens: Array | None = None,
        initial_h: Array | None = None,
        initial_c: Array | None = None,
        p: Array | None = None,
        projection: Array | None = None,
        *,
        hidden_size: int,
        direction: str = "forward",
        activations: tuple[str, ...] = (),
        alphas: tuple[float, ...] = (),
        betas: tuple[float, ...] = (),
        clip: float = 0.0,
        layout: int = 0,
        input_forget: bool = False,
    ) -> tuple[Array, ...]:
        options = Options(hidden_size, direction, activations, alphas, betas, clip, layout)

        def cell(number: int, f: Activation, g: Activation, h: Activation) -> Step:
            wide_w, wide_r, bias = _direction(number, w, r, b)
            none = np.zeros(3 * hidden_size, wide_w.dtype)
            peep_i, peep_o, peep_f = np.split(none if p is None else widen(p[number]), 3)

            def step(inputs: Array, state: State) -> State:
                hidden, memory = state
                total = inputs @ wide_w.T + hidden @ wide_r.T + bias.sum(0)
                total_i, total_o, total_f, total_c = np.split(total, 4, axis=1)
                taken = f(options.clipped(total_i + peep_i * memory))
                kept = 1 - taken if input_forget else f(options.clipped(total_f + peep_f * memory))
                memory = kept * memory + taken * g(options.clipped(total_c))
                shown = f(options.clipped(total_o + peep_o * memory))
                y = shown * h(memory)
                return y if projection is None else y @ widen(projection[number]).T, memory

            return step

        steps = [cell(i, *f) for i, f in enumerate(options.activation_functions(_LSTM))]
        states, shown = [initial_h, initial_c], r.shape[2]
        made = walk(options, x, sequence_lens, states, steps, (shown, hidden_size))
        return _narrow_all(made, x)


def _direction(number: int, w: Array, r: Array, b: Array | None) -> tuple[Array, Array, Array]:
    """Return the weights of one direction, and its biases as two rows: of `w` and of `r`."""
    rows = w.shape[1]
    bias = np.zeros((2, rows), widen(w).dtype) if b is None else widen(b[number]).reshape(2, rows)
    return widen(w[number]), widen(r[number]), bias


def _narrow_all(results: tuple[Array, ...], x: Array) -> tuple[Array, ...]:
    return tuple(narrow(result, x) for result in results)
