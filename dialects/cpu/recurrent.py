"""Recurrent layers on packed weights, whose inputs have already been multiplied by weights.

`x` is [sequence, batch, directions * gates * hidden]: the contribution of the inputs to the gates
of each direction, biases included. `r` is [directions, panels, hidden, columns of
a panel]: the weights of the state, packed by `pack_recurrent`. `sequence_lens`, states, `y`,
`direction`, activations and `clip` are those of the op of `tri`, with layout 0.
"""

from collections.abc import Sequence

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.sizes.atoms import Size
from ..core.sizes.checks import need, need_same, need_same_shape
from ..core.tensor import Array, Shape, Tensor
from ..tri.recurrent.rnn import Gru, Lstm, Rnn
from .dialect import CpuOp
from .packing import pack_columns, unpack_columns


class PackedRecurrent(CpuOp, abstract=True):
    """Base of recurrent layers on packed weights: the operands, attributes and results of all."""

    x: Operand
    r: Operand
    sequence_lens: Operand | None = None
    initial_h: Operand | None = None
    hidden_size: int
    direction: str = "forward"
    activations: tuple[str, ...] = ()
    alphas: tuple[float, ...] = ()
    betas: tuple[float, ...] = ()
    clip: float = 0.0
    y: Result
    y_h: Result


class PackedRnn(PackedRecurrent):
    """Walk a sequence with the plain cell of `tri.rnn`."""

    def infer(
        self,
        x: Tensor,
        r: Tensor,
        sequence_lens: Tensor | None = None,
        initial_h: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        w, plain = _plain_types(x, r, self.direction, (self.hidden_size,), self.hidden_size)
        return Rnn(**self.attributes).infer(x, w, plain, None, sequence_lens, initial_h)

    def reference(
        self,
        x: Array,
        r: Array,
        sequence_lens: Array | None = None,
        initial_h: Array | None = None,
    ) -> tuple[Array, ...]:
        w, plain = _plain_weights(x, r, (self.hidden_size,))
        return Rnn(**self.attributes).reference(x, w, plain, None, sequence_lens, initial_h)


class PackedGru(PackedRecurrent):
    """Walk a sequence with the gated recurrent units of `tri.gru`.

    `b` is [directions, hidden]: the bias of the product of the state and the weights of the
    hidden part, before the reset gate scales that; only with `linear_before_reset`. Otherwise
    the weights of the hidden part are packed apart from those of the gates.
    """

    b: Operand | None = None
    linear_before_reset: bool = False

    def infer(
        self,
        x: Tensor,
        r: Tensor,
        sequence_lens: Tensor | None = None,
        initial_h: Tensor | None = None,
        b: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        parts = gru_parts(self.hidden_size, self.linear_before_reset)
        w, plain = _plain_types(x, r, self.direction, parts, self.hidden_size)
        if b is not None:
            wanted = (w.shape[0], self.hidden_size)
            fault = f"bias is {b}, must be {'x'.join(map(str, wanted))}, for linear_before_reset"
            if not self.linear_before_reset:
                raise Invalid(fault)
            need_same_shape(b.shape, wanted, fault)
        return Gru(**self.attributes).infer(x, w, plain, None, sequence_lens, initial_h)

    def reference(
        self,
        x: Array,
        r: Array,
        sequence_lens: Array | None = None,
        initial_h: Array | None = None,
        b: Array | None = None,
    ) -> tuple[Array, ...]:
        w, plain = _plain_weights(x, r, gru_parts(self.hidden_size, self.linear_before_reset))
        biases = None
        if b is not None:
            biases = np.zeros((len(b), 6 * self.hidden_size), b.dtype)
            biases[:, 5 * self.hidden_size :] = b
        return Gru(**self.attributes).reference(x, w, plain, biases, sequence_lens, initial_h)


class PackedLstm(PackedRecurrent):
    """Walk a sequence with the long short-term memory of `tri.lstm`.

    `projection` is packed as the weights of the state are.
    """

    initial_c: Operand | None = None
    p: Operand | None = None
    projection: Operand | None = None
    input_forget: bool = False
    y_c: Result

    def infer(
        self,
        x: Tensor,
        r: Tensor,
        sequence_lens: Tensor | None = None,
        initial_h: Tensor | None = None,
        initial_c: Tensor | None = None,
        p: Tensor | None = None,
        projection: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        hidden, shown = self.hidden_size, self.hidden_size
        plain_projection = None
        if projection is not None:
            shown = r.shape[2] if r.rank == 4 else 0
            directions = 2 if self.direction == "bidirectional" else 1
            _need_panels("projection", projection, directions, (shown,), hidden)
            plain_projection = Tensor((directions, shown, hidden), projection.dtype)
        w, plain = _plain_types(x, r, self.direction, (4 * hidden,), shown)
        rest = (sequence_lens, initial_h, initial_c, p)
        layer = Lstm(**self.attributes)
        return layer.infer(x, w, plain, None, *rest, plain_projection)

    def reference(
        self,
        x: Array,
        r: Array,
        sequence_lens: Array | None = None,
        initial_h: Array | None = None,
        initial_c: Array | None = None,
        p: Array | None = None,
        projection: Array | None = None,
    ) -> tuple[Array, ...]:
        w, plain = _plain_weights(x, r, (4 * self.hidden_size,))
        shown = None if projection is None else unpack_recurrent(projection, (plain.shape[2],))
        rest = (sequence_lens, initial_h, initial_c, p)
        return Lstm(**self.attributes).reference(x, w, plain, None, *rest, shown)


def gru_parts(hidden: int, linear_before_reset: bool) -> Shape:
    """Return the numbers of columns of a GRU's weights that are multiplied at a time."""
    return (3 * hidden,) if linear_before_reset else (2 * hidden, hidden)


def pack_recurrent(r: Array, parts: Shape, columns: int) -> Array:
    """Pack [directions, gates * hidden, hidden], whose rows are multiplied in `parts`."""
    ends = np.cumsum(parts)[:-1]
    return np.stack(
        [
            np.concatenate([pack_columns(part.T, columns) for part in np.split(matrix, ends)])
            for matrix in r
        ]
    )


def unpack_recurrent(packed: Array, parts: Shape) -> Array:
    """Undo `pack_recurrent`."""
    ends = np.cumsum(_panels(parts, packed.shape[3]))[:-1]
    return np.stack(
        [
            np.concatenate(
                [
                    unpack_columns(panels, part).T
                    for panels, part in zip(np.split(each, ends), parts, strict=True)
                ]
            )
            for each in packed
        ]
    )


def _panels(parts: Sequence[int], columns: Size) -> list[Size]:
    return [-(-part // columns) for part in parts]


def _need_panels(what: str, r: Tensor, directions: int, parts: Shape, depth: Size) -> None:
    columns = r.shape[-1] if r.rank == 4 else 0
    fault = f"{what} {r} does not hold {' and '.join(map(str, parts))} columns in panels"
    need(columns, 1, fault)
    need_same_shape(r.shape[:3], (directions, sum(_panels(parts, columns)), depth), fault)


def _plain_types(
    x: Tensor, r: Tensor, direction: str, parts: Shape, shown: Size
) -> tuple[Tensor, Tensor]:
    """Return the types of identity weights of the inputs, and of the weights of the state.

    A state has `shown` elements.
    """
    directions, width = 2 if direction == "bidirectional" else 1, sum(parts)
    fault = f"input is {x}, must have 3 axes, the last one of {directions * width}"
    if x.rank != 3:
        raise Invalid(fault)
    need_same(x.shape[2], directions * width, fault)
    _need_panels("weight", r, directions, parts, shown)
    return (
        Tensor((directions, width, directions * width), x.dtype),
        Tensor((directions, width, shown), r.dtype),
    )


def _plain_weights(x: Array, r: Array, parts: Shape) -> tuple[Array, Array]:
    """Return identity weights for the inputs of a direction, and the weights of the state."""
    directions, width = len(r), sum(parts)
    w = np.eye(directions * width, dtype=x.dtype).reshape(directions, width, -1)
    return w, unpack_recurrent(r, parts)
