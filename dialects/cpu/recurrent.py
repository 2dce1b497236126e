"""Recurrent layers on packed weights, whose inputs have already been multiplied by weights.

`x` is [sequence, batch, directions * gates * hidden]: the contribution of the inputs to the gates
of each direction, biases included. `r` is [directions, panels, hidden, gates, units of a panel]:
the weights of the state, packed by `pack_recurrent`. `sequence_lens`, states, `y`, `direction`,
activations and `clip` are those of the op of `tri`, with layout 0.
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
from .packing import pack_last_axis


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
        w, plain = _plain_types(x, r, self.direction, self.hidden_size, (1,), self.hidden_size)
        return Rnn(**self.attributes).infer(x, w, plain, None, sequence_lens, initial_h)

    def reference(
        self,
        x: Array,
        r: Array,
        sequence_lens: Array | None = None,
        initial_h: Array | None = None,
    ) -> tuple[Array, ...]:
        w, plain = _plain_weights(x, r, self.hidden_size, (1,))
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
        hidden, parts = self.hidden_size, gru_parts(self.linear_before_reset)
        w, plain = _plain_types(x, r, self.direction, hidden, parts, hidden)
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
        parts = gru_parts(self.linear_before_reset)
        w, plain = _plain_weights(x, r, self.hidden_size, parts)
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
            shown = r.shape[2] if r.rank == 5 else 0
            directions = 2 if self.direction == "bidirectional" else 1
            _need_panels("projection", projection, directions, shown, (1,), hidden)
            plain_projection = Tensor((directions, shown, hidden), projection.dtype)
        w, plain = _plain_types(x, r, self.direction, hidden, (4,), shown)
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
        w, plain = _plain_weights(x, r, self.hidden_size, (4,))
        shown = None
        if projection is not None:
            shown = unpack_recurrent(projection, plain.shape[2], (1,))
        rest = (sequence_lens, initial_h, initial_c, p)
        return Lstm(**self.attributes).reference(x, w, plain, None, *rest, shown)


def gru_parts(linear_before_reset: bool) -> Shape:
    """Return the numbers of gates of a GRU whose weights are multiplied at a time."""
    return (3,) if linear_before_reset else (2, 1)


def pack_recurrent(r: Array, parts: Sequence[int], units: int) -> Array:
    """Pack [directions, gates * hidden, depth], whose gates are multiplied in `parts`.

    A panel has the columns of all gates of a part for some units, gate by gate: for so many of the
    first part, for more of a part that has fewer gates. Zeros fill up the last panel of a part.
    """
    directions, rows, depth = r.shape
    gates = r.reshape(directions, sum(parts), rows // sum(parts), depth)
    ends = np.cumsum(parts)[:-1]
    panels = [
        _pack_part(part, units_of_panel(parts, number, units))
        for number, part in enumerate(np.split(gates, ends, axis=1))
    ]
    return np.concatenate(panels, axis=1).reshape(directions, -1, depth, parts[0], units)


def _pack_part(part: Array, units: int) -> Array:
    """Pack [directions, gates, hidden, depth] to [directions, panels, depth, gates * units]."""
    directions, gates, _, depth = part.shape
    panels = pack_last_axis(part.swapaxes(2, 3), units)
    return panels.transpose(1, 0, 3, 2, 4).reshape(directions, len(panels), depth, gates * units)


def unpack_recurrent(packed: Array, hidden: int, parts: Sequence[int]) -> Array:
    """Undo `pack_recurrent`: return [directions, gates * hidden, depth]."""
    directions, _, depth, _, units = packed.shape
    ends = np.cumsum(panels_of_parts(hidden, parts, units))[:-1]
    unpacked: list[Array] = []
    for part, gates in zip(np.split(packed, ends, axis=1), parts, strict=True):
        split = part.reshape(directions, part.shape[1], depth, gates, -1)
        plain = split.transpose(0, 3, 1, 4, 2).reshape(directions, gates, -1, depth)
        unpacked.append(plain[:, :, :hidden].reshape(directions, gates * hidden, depth))
    return np.concatenate(unpacked, axis=1)


def units_of_panel(parts: Sequence[int], part: int, units: Size) -> Size:
    """Return for how many units a panel of a part has columns, given those of the first part."""
    return units * (parts[0] // parts[part])


def panels_of_parts(hidden: Size, parts: Sequence[int], units: Size) -> list[Size]:
    """Return how many panels the weights of each part of the gates take."""
    return [-(-hidden // units_of_panel(parts, part, units)) for part in range(len(parts))]


def _need_panels(
    what: str, r: Tensor, directions: int, hidden: Size, parts: Sequence[int], depth: Size
) -> None:
    units = r.shape[-1] if r.rank == 5 else 0
    gates = " and ".join(map(str, parts))
    fault = f"{what} {r} does not hold {gates} gates of {hidden} units in panels"
    need(units, 1, fault)
    panels = sum(panels_of_parts(hidden, parts, units))
    need_same_shape(r.shape[:4], (directions, panels, depth, parts[0]), fault)


def _plain_types(
    x: Tensor, r: Tensor, direction: str, hidden: int, parts: Sequence[int], shown: Size
) -> tuple[Tensor, Tensor]:
    """Return the types of identity weights of the inputs, and of the weights of the state.

    A state has `shown` elements.
    """
    directions, width = 2 if direction == "bidirectional" else 1, sum(parts) * hidden
    fault = f"input is {x}, must have 3 axes, the last one of {directions * width}"
    if x.rank != 3:
        raise Invalid(fault)
    need_same(x.shape[2], directions * width, fault)
    _need_panels("weight", r, directions, hidden, parts, shown)
    return (
        Tensor((directions, width, directions * width), x.dtype),
        Tensor((directions, width, shown), r.dtype),
    )


def _plain_weights(x: Array, r: Array, hidden: int, parts: Sequence[int]) -> tuple[Array, Array]:
    """Return identity weights for the inputs of a direction, and the weights of the state."""
    directions, width = len(r), sum(parts) * hidden
    w = np.eye(directions * width, dtype=x.dtype).reshape(directions, width, -1)
    return w, unpack_recurrent(r, hidden, parts)
