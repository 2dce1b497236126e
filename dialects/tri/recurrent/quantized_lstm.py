"""Long short-term memory whose state is rounded to bytes, and multiplied by integers."""

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.sizes.checks import need_same
from ...core.tensor import Array, Tensor
from ..dialect import TriOp
from ..numeric import need_shape
from .rnn import Lstm

BYTE = 255
"""The greatest integer that an element of a state is rounded to; the least is 0."""


class QuantizedLstm(TriOp):
    """Walk a sequence as `tri.lstm` does, with a state that is rounded to bytes for its product.

    `x` is [sequence, batch, directions * 4 * hidden]: the inputs, already multiplied, biases
    included. `r` is [directions, hidden, 4 * hidden] of i32: the weights of the state without their
    scales, which are `r_scale`, [directions, 4 * hidden]. In each step the state of all of the
    batch is rounded as ONNX's `DynamicQuantizeLinear` does. Other fields are those of `tri.lstm`.
    Source: ONNX Runtime `DynamicQuantizeLSTM`.
    """

    x: Operand
    r: Operand
    r_scale: Operand
    sequence_lens: Operand | None = None
    initial_h: Operand | None = None
    initial_c: Operand | None = None
    p: Operand | None = None
    hidden_size: int
    direction: str = "forward"
    activations: tuple[str, ...] = ()
    alphas: tuple[float, ...] = ()
    betas: tuple[float, ...] = ()
    clip: float = 0.0
    input_forget: bool = False
    y: Result
    y_h: Result
    y_c: Result

    def infer(
        self,
        x: Tensor,
        r: Tensor,
        r_scale: Tensor,
        sequence_lens: Tensor | None = None,
        initial_h: Tensor | None = None,
        initial_c: Tensor | None = None,
        p: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        layer = Lstm(**self.attributes)
        directions, gates = layer.directions, 4 * self.hidden_size
        if r.dtype != "i32":
            raise Invalid(f"r has element type {r.dtype}, must be i32")
        if x.dtype != "f32" or r_scale.dtype != "f32":
            raise Invalid(
                f"input and scales have element types {x.dtype}, {r_scale.dtype}, must be f32"
            )
        fault = f"input is {x}, must have 3 axes, the last one of {directions * gates}"
        if x.rank != 3:
            raise Invalid(fault)
        need_same(x.shape[2], directions * gates, fault)
        need_shape("r", r, (directions, self.hidden_size, gates))
        need_shape("r_scale", r_scale, (directions, gates))
        w = Tensor((directions, gates, directions * gates), x.dtype)
        plain = Tensor((directions, gates, self.hidden_size), x.dtype)
        return layer.infer(x, w, plain, None, sequence_lens, initial_h, initial_c, p)

    def reference(
        self,
        x: Array,
        r: Array,
        r_scale: Array,
        sequence_lens: Array | None = None,
        initial_h: Array | None = None,
        initial_c: Array | None = None,
        p: Array | None = None,
    ) -> tuple[Array, ...]:
        directions, hidden, gates = r.shape

        def own(number: int, inputs: Array) -> Array:
            return inputs[:, number * gates : (number + 1) * gates]

        def recall(number: int, hidden: Array) -> Array:
            centred, step = _rounded(hidden)
            return (centred @ r[number]).astype(np.float32) * (r_scale[number] * step)

        states, biases = [initial_h, initial_c], [0.0] * directions
        return Lstm(**self.attributes).recalling(
            own, recall, x, biases, sequence_lens, states, p, shown=hidden
        )


def _rounded(state: Array) -> tuple[Array, np.float32]:
    """Round floats to bytes; return them as i32 without their zero point, and their scale."""
    with np.errstate(invalid="ignore", over="ignore"):
        least, most = (np.float32(find(state, initial=0)) for find in (np.min, np.max))
        step = (most - least) / np.float32(BYTE) or np.float32(1)
        zero = np.rint(-least / step)
        taken = np.clip(np.rint(state / step) + zero, 0, BYTE)
        return (taken - zero).astype(np.int32), step
