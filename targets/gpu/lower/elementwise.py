"""Lowerings of the choice between elements and of casts."""

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ...elementwise import SHARED
from ..kernels.conversion import cast, reinterpret
from ..kernels.value import Value
from ..registry import elementwise


@elementwise(tri.Cast)
def lower_cast(op: tri.Cast, x: Value) -> Value:
    return x if tensor_of(op.x.type).dtype == op.to else cast(x, op.to)


@elementwise(tri.BitCast)
def lower_bit_cast(op: tri.BitCast, x: Value) -> Value:
    return reinterpret(x, tensor_of(op.x.type).dtype, op.to)


for _op, _function in SHARED.items():
    elementwise(_op)(_function)
