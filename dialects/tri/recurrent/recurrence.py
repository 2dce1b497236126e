"""The base of recurrent ops: fields, shapes, activations, and the loop over time steps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from ...core.errors import Invalid, need_one_of
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.tensor import Array, Tensor, same_dtype
from ..dialect import TriOp
from ..numeric import need_float, need_shape, sigmoid, softplus

Activation = Callable[[Array], Array]
State = tuple[Array, ...]
Step = Callable[[Array, State], State]
Weights = tuple[Array, Array, Array]

DIRECTIONS = ("forward", "reverse", "bidirectional")

_DEFAULTS: dict[str, tuple[float, ...]] = {
    "Affine": (1.0, 0.0),
    "Elu": (1.0,),
    "HardSigmoid": (0.2, 0.5),
    "LeakyRelu": (0.01,),
    "Relu": (),
    "ScaledTanh": (1.0, 1.0),
    "Sigmoid": (),
    "Softplus": (),
    "Softsign": (),
    "Tanh": (),
    "ThresholdedRelu": (1.0,),
}
"""Every activation, with the defaults of its alpha and its beta where it has them."""


def activation(name: str, alpha: float = 0.0, beta: float = 0.0) -> Activation:
    """Return an activation as a function; names and parameters are ONNX's."""
    functions: dict[str, Activation] = {
        "Affine": lambda x: alpha * x + beta,
        "Elu": lambda x: np.where(x >= 0, x, alpha * np.expm1(x)),
        "HardSigmoid": lambda x: np.clip(alpha * x + beta, 0, 1),
        "LeakyRelu": lambda x: np.where(x >= 0, x, alpha * x),
        "Relu": lambda x: np.maximum(x, 0),
        "ScaledTanh": lambda x: alpha * np.tanh(beta * x),
        "Sigmoid": sigmoid,
        "Softplus": softplus,
        "Softsign": lambda x: x / (1 + np.abs(x)),
        "Tanh": np.tanh,
        "ThresholdedRelu": lambda x: np.where(x > alpha, x, 0),
    }
    return functions[name]


NamedActivation = tuple[str, tuple[float, ...]]
"""An activation: its name, and its alpha and its beta where it has them."""


def named_activations(
    names: Sequence[str], alphas: Sequence[float], betas: Sequence[float]
) -> list[NamedActivation]:
    """Return activations with their parameters: alphas and betas go to those that take one.

    Raises Invalid for the name of none.
    """
    sources = iter(alphas), iter(betas)
    found: list[NamedActivation] = []
    for name in names:
        need_one_of("activation", name, tuple(_DEFAULTS))
        given = zip(_DEFAULTS[name], sources, strict=False)
        found.append((name, tuple(next(source, value) for value, source in given)))
    return found


@dataclass(frozen=True)
class Cell:
    """Describe a kind of recurrent op: gates of its weights, and activations by default."""

    gates: int
    activations: tuple[str, ...]
    peepholes: int = 0


class Recurrent(TriOp, abstract=True):
    """Base of recurrent layers: their common fields, shapes, and loop over time steps.

    `alphas` and `betas` are for those activations that take them, in order; `clip` limits the
    inputs of activations, 0 means no limit.
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

    cell: ClassVar[Cell]

    @property
    def directions(self) -> int:
        """Return the number of directions."""
        return 2 if self.direction == "bidirectional" else 1

    def activation_functions(self) -> list[list[Activation]]:
        """Return each direction's activations."""
        count = len(self.cell.activations)
        names = self.activations or self.cell.activations * self.directions
        if len(names) != count * self.directions:
            raise Invalid(f"has {len(names)} activations, must have {count * self.directions}")
        named = named_activations(names, self.alphas, self.betas)
        functions = [activation(name, *parameters) for name, parameters in named]
        return [functions[i : i + count] for i in range(0, len(functions), count)]

    def clipped(self, x: Array) -> Array:
        """Limit the input of an activation to [-clip, clip], unless clip is 0."""
        return np.clip(x, -self.clip, self.clip) if self.clip else x

    def infer(
        self,
        x: Tensor,
        w: Tensor,
        r: Tensor,
        b: Tensor | None = None,
        sequence_lens: Tensor | None = None,
        initial_h: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        return self.infer_types(x, w, r, b, sequence_lens, [initial_h])

    def reference(
        self,
        x: Array,
        w: Array,
        r: Array,
        b: Array | None = None,
        sequence_lens: Array | None = None,
        initial_h: Array | None = None,
    ) -> tuple[Array, ...]:
        steps = [
            partial(self.step, weights_of(number, w, r, b), functions)
            for number, functions in enumerate(self.activation_functions())
        ]
        return self.walk(x, sequence_lens, [initial_h], steps)

    def step(
        self, weights: Weights, functions: Sequence[Activation], inputs: Array, state: State
    ) -> State:
        """Compute one step of a direction."""
        raise NotImplementedError

    def infer_types(
        self,
        x: Tensor,
        w: Tensor,
        r: Tensor,
        b: Tensor | None,
        sequence_lens: Tensor | None,
        states: Sequence[Tensor | None],
        p: Tensor | None = None,
        projection: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """Check the operands; return the types of `y` and of the last states.

        With a projection, `y` and the first state have its size.
        """
        dtype = same_dtype(need_float(x), w, r, b, *states, p, projection)
        need_one_of("direction", self.direction, DIRECTIONS)
        if self.layout not in (0, 1):
            raise Invalid(f"layout is {self.layout}, must be 0 or 1")
        if self.clip < 0:
            raise Invalid(f"clip is {self.clip}, must be at least 0")
        if x.rank != 3:
            raise Invalid(f"input has rank {x.rank}, must have 3: sequence, batch, elements")
        self.activation_functions()
        length, batch = x.shape[:2] if self.layout == 0 else x.shape[1::-1]
        directions, hidden = self.directions, self.hidden_size
        shown = hidden if projection is None or projection.rank != 3 else projection.shape[1]
        outer = (directions, batch) if self.layout == 0 else (batch, directions)
        lasts = [(*outer, shown), *((*outer, hidden) for _ in states[1:])]
        need_shape("w", w, (directions, self.cell.gates * hidden, x.shape[2]))
        need_shape("r", r, (directions, self.cell.gates * hidden, shown))
        need_shape("b", b, (directions, 2 * self.cell.gates * hidden))
        need_shape("p", p, (directions, self.cell.peepholes * hidden))
        need_shape("projection", projection, (directions, shown, hidden))
        need_shape("sequence_lens", sequence_lens, (batch,))
        if sequence_lens is not None and sequence_lens.dtype not in ("i32", "i64"):
            raise Invalid(
                f"sequence_lens has element type {sequence_lens.dtype}, must be i32 or i64"
            )
        for state, last in zip(states, lasts, strict=True):
            need_shape("initial state", state, last)
        y = (length, *lasts[0]) if self.layout == 0 else (batch, length, directions, shown)
        return Tensor(y, dtype), *(Tensor(last, dtype) for last in lasts)

    def walk(
        self,
        x: Array,
        sequence_lens: Array | None,
        initial: Sequence[Array | None],
        steps: Sequence[Step],
        sizes: Sequence[int] = (),
    ) -> tuple[Array, ...]:
        """Apply each direction's step along the sequence; return `y`, then all last states.

        The first part of a state is the output of a step; `sizes` are those of the parts where
        they differ from `hidden_size`. Beyond the length of a sequence the output is zero and the
        state does not change; the reverse direction begins at the last element. Results have the
        element type of `x`.
        """
        swapped = self.layout == 1
        narrowed = x
        x = widen(x.swapaxes(0, 1) if swapped else x)
        length, batch = x.shape[:2]
        lengths = np.full(batch, length) if sequence_lens is None else sequence_lens
        shapes = [(batch, size) for size in sizes or [self.hidden_size] * len(initial)]
        outputs: list[Array] = []
        lasts: list[State] = []
        for number, step in enumerate(steps):
            pairs = zip(initial, shapes, strict=True)
            state = tuple(_initial(given, number, shape, swapped, x) for given, shape in pairs)
            reverse = self.direction == "reverse" or number == 1
            y, last = _walk_once(x, lengths, state, step, reverse=reverse)
            outputs.append(y)
            lasts.append(last)
        y = np.stack(outputs, axis=1)
        states = (np.stack(state, axis=self.layout) for state in zip(*lasts, strict=True))
        results = (y.transpose(2, 0, 1, 3) if swapped else y, *states)
        return tuple(narrow(result, narrowed) for result in results)


def weights_of(number: int, w: Array, r: Array, b: Array | None) -> Weights:
    """Return the weights of one direction, and its biases as two rows: of `w` and of `r`."""
    return widen(w[number]), widen(r[number]), biases_of(number, w, b)


def biases_of(number: int, w: Array, b: Array | None) -> Array:
    """Return the biases of one direction as two rows, zeros where there are none."""
    rows = w.shape[1]
    return np.zeros((2, rows), widen(w).dtype) if b is None else widen(b[number]).reshape(2, rows)


def _initial(
    given: Array | None, number: int, shape: tuple[int, int], swapped: bool, x: Array
) -> Array:
    if given is None:
        return np.zeros(shape, x.dtype)
    return widen(given[:, number] if swapped else given[number])


def _walk_once(
    x: Array, lengths: Array, state: State, step: Step, *, reverse: bool
) -> tuple[Array, State]:
    length, batch = x.shape[:2]
    rows = list(range(batch))
    y = np.zeros((length, *state[0].shape), x.dtype)
    for time in range(length):
        active = time < lengths
        at = np.where(active, lengths - 1 - time, time) if reverse else np.full(batch, time)
        new = step(x[at, rows], state)
        state = tuple(np.where(active[:, None], a, b) for a, b in zip(new, state, strict=True))
        y[at, rows] = np.where(active[:, None], state[0], 0)
    return y, state
