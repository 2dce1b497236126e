"""Tables from keys to values."""

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.tensor import Array, Tensor, is_float, same_dtype
from ..dialect import TriOp


class Lookup(TriOp):
    """Replace each element, a key, by its value; by the default where it is none of the keys.

    `keys` and `values` are [entries], the default is a scalar. Keys and values are of any type,
    strings included. The first of equal keys counts, and NaN is a key as others are. Source:
    ONNX-ML `LabelEncoder`.
    """

    x: Operand
    keys: Operand
    values: Operand
    default: Operand
    y: Result

    def infer(self, x: Tensor, keys: Tensor, values: Tensor, default: Tensor) -> Tensor:
        same_dtype(x, keys)
        if keys.rank != 1 or keys.shape != values.shape:
            raise Invalid(f"has keys {keys} and values {values}, must be two lists of one length")
        if default.rank != 0:
            raise Invalid(f"has default {default}, must be a scalar")
        return Tensor(x.shape, same_dtype(values, default))

    def reference(self, x: Array, keys: Array, values: Array, default: Array) -> Array:
        if not keys.size:
            return np.full(x.shape, default, values.dtype)
        order = np.argsort(keys, kind="stable")
        places = np.minimum(np.searchsorted(keys[order], x), len(keys) - 1)
        entries = order[places]
        same = keys[entries] == x
        if is_float(Tensor.of(x).dtype):
            same |= np.isnan(keys[entries]) & np.isnan(x)
        return np.where(same, values[entries], default)
