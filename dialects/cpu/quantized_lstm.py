"""Long short-term memory whose state is multiplied by bytes that were packed as VNNI words."""

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.sizes.checks import need, need_same_shape
from ..core.tensor import Array, Tensor
from ..tri.recurrent.quantized_lstm import QuantizedLstm
from .dialect import CpuOp
from .dot import pack_vnni_columns
from .packing import unpack_columns
from .vnni import BYTES, VNNI, unpack_vnni, vnni_count


class DotLstm(CpuOp):
    """Walk a sequence as `tri.quantized_lstm` does.

    `r` is [directions, panels, words, columns of a panel]: bytes packed as VNNI words; `r_sums`,
    [directions, 4 * hidden], has the sum of each column.
    """

    x: Operand
    r: Operand
    r_scale: Operand
    r_sums: Operand
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
        r_sums: Tensor,
        sequence_lens: Tensor | None = None,
        initial_h: Tensor | None = None,
        initial_c: Tensor | None = None,
        p: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        layer = QuantizedLstm(**self.attributes)
        gates, words = 4 * self.hidden_size, vnni_count(self.hidden_size, BYTES)
        directions = 2 if self.direction == "bidirectional" else 1
        columns = r.shape[-1] if r.rank == 4 else 0
        fault = f"weight {r} does not hold {self.hidden_size}x{gates} bytes in panels of VNNI words"
        need(columns, 1, fault)
        need_same_shape(r.shape[:3], (directions, -(-gates // columns), words), fault)
        if r.dtype != VNNI or r_sums.dtype != VNNI:
            raise Invalid(
                f"weight and sums have element types {r.dtype}, {r_sums.dtype}, must be {VNNI}"
            )
        fault = f"sums are {r_sums}, must have the shape of the scales, {r_scale}"
        need_same_shape(r_sums.shape, r_scale.shape, fault)
        plain = Tensor((directions, self.hidden_size, gates), VNNI)
        return layer.infer(x, plain, r_scale, sequence_lens, initial_h, initial_c, p)

    def reference(
        self,
        x: Array,
        r: Array,
        r_scale: Array,
        r_sums: Array,
        sequence_lens: Array | None = None,
        initial_h: Array | None = None,
        initial_c: Array | None = None,
        p: Array | None = None,
    ) -> tuple[Array, ...]:
        gates, hidden = 4 * self.hidden_size, self.hidden_size
        plain = [unpack_vnni(unpack_columns(each, gates), 0, "i8", hidden) for each in r]
        weights = np.stack(plain).astype(np.int32)
        layer = QuantizedLstm(**self.attributes)
        return layer.reference(x, weights, r_scale, sequence_lens, initial_h, initial_c, p)


def pack_vnni_recurrent(r: Array, columns: int) -> Array:
    """Pack bytes [directions, hidden, gates * hidden] as VNNI words, in panels of columns."""
    return np.stack([pack_vnni_columns(each, columns) for each in r])
