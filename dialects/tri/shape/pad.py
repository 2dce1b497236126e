"""Padding: the op that adds a border, or cuts one off."""

from typing import Any

import numpy as np

from ...core.errors import Invalid, need_one_of
from ...core.fields import Operand, Result
from ...core.quantized import QuantizedType, is_quantized
from ...core.sizes.atoms import Size
from ...core.sizes.checks import need, need_if_any
from ...core.sizes.dim import highest, lowest
from ...core.sizes.limits import at_least
from ...core.tensor import DTYPES, Array, Tensor, is_float, numpy_dtype
from ..dialect import TriOp
from ..numeric import need_wide
from .reshape import need_length

MODES = ("constant", "reflect", "edge", "wrap")


class Pad(TriOp):
    """Add `pads[d]` elements before and `pads[rank + d]` after each axis d; negative ones cut off.

    What is added: `value`; or the elements mirrored at the border ("reflect"), the border itself
    ("edge"), or the other side ("wrap"), of what the cuts leave over. Of quantised numbers,
    `value` is the integer that represents zero.
    """

    x: Operand
    pads: tuple[int, ...]
    mode: str = "constant"
    value: float = 0.0
    y: Result

    @property
    def is_border(self) -> bool:
        """Report whether the op only adds one number around `x`."""
        return self.mode == "constant" and all(at_least(pad, 0) for pad in self.pads)

    quantized = "one scale"

    def infer(self, x: Tensor) -> Tensor:
        need_one_of("mode", self.mode, MODES)
        need_length("pads", self.pads, 2 * x.rank)
        _need_value(self.value, need_wide(x).dtype, self.mode)
        shape: list[Size] = []
        for axis, dim in enumerate(x.shape):
            before, after = self.pads[axis], self.pads[x.rank + axis]
            left = dim + lowest(before, 0) + lowest(after, 0)
            need(left, 0, f"cuts {dim - left} elements off axis {axis}, which has {dim}")
            if self.mode != "constant":
                fault = f"pads axis {axis} by mode '{self.mode}' from 0 elements"
                need_if_any(highest(before, after, 0), left, 1, fault)
            shape.append(dim + before + after)
        return Tensor(tuple(shape), x.dtype)

    def reference(self, x: Array) -> Array:
        sides = list(zip(self.pads[: x.ndim], self.pads[x.ndim :], strict=True))
        cuts = zip(sides, x.shape, strict=True)
        x = x[tuple(slice(max(-b, 0), dim + min(a, 0)) for (b, a), dim in cuts)]
        widths = [(max(b, 0), max(a, 0)) for b, a in sides]
        if not widths:
            return x
        if self.mode == "constant":
            return np.pad(x, widths, constant_values=_converted(self.value, x.dtype))
        pad: Any = np.pad  # numpy's types list the modes, and a str is none of them
        return pad(x, widths, self.mode)


def _need_value(value: float, dtype: str, mode: str) -> None:
    if is_float(dtype):
        return
    if is_quantized(dtype):
        zero = QuantizedType.parse(dtype).zero_points[0]
        if mode == "constant" and value != zero:
            raise Invalid(f"pads quantised numbers with {value}, must be their zero point {zero}")
        return
    info = np.iinfo(numpy_dtype(dtype)) if DTYPES[dtype].kind != "bool" else None
    low, high = (info.min, info.max) if info else (0, 1)
    if not (float(value).is_integer() and low <= value <= high):
        raise Invalid(f"pads with {value}, which is no {dtype}")


def _converted(value: float, dtype: "np.dtype[Any]") -> Any:
    integral = dtype.kind in "iu"
    return np.array(int(value) if integral else value).astype(dtype)
