"""Element types of results, as torch promotes those of operands."""

from ....dialects import tri
from ....dialects.core.tensor import DTYPES, is_float
from ..core.values import cast, tensor
from .known import as_array
from .rules import Value

Operand = Value | bool | int | float
"""What takes part in arithmetic: a tensor, or a number, which has no size and little to say."""

_RANKS = {"bool": 0, "int": 1, "uint": 1, "float": 2}


def promoted_type(*operands: Operand) -> str:
    """Return the element type that operands are computed in.

    Tensors with axes decide, then scalar tensors, then numbers: those after only when they are of
    a higher kind: bool, integer, float. Source: torch.result_type.
    """
    tensors = [tensor(x) for x in operands if isinstance(x, Value)]
    groups = (
        [t.dtype for t in tensors if t.rank],
        [t.dtype for t in tensors if not t.rank],
        [_of_number(x) for x in operands if not isinstance(x, Value)],
    )
    chosen = ""
    for group in groups:
        joined = _joined(group)
        if joined and (not chosen or _kind(joined) > _kind(chosen)):
            chosen = joined
    return chosen


def promote(*operands: Operand, dtype: str = "") -> tuple[Value, ...]:
    """Return operands as tensors of one element type, theirs together if none is given."""
    to = dtype or promoted_type(*operands)
    return tuple(as_type(x, to) for x in operands)


def as_type(x: Operand, dtype: str) -> Value:
    """Return a tensor or a number as a tensor of an element type."""
    if isinstance(x, Value):
        return cast(x, dtype)
    from ....dialects.core.tensor import numpy_dtype

    return tri.Constant.build(value=as_array(x).astype(numpy_dtype(dtype))).y


def as_float(x: Value) -> Value:
    """Return a tensor as floats: others become f32, as in torch's functions of real numbers."""
    return x if is_float(tensor(x).dtype) else cast(x, "f32")


def _of_number(x: object) -> str:
    return "i1" if isinstance(x, bool) else "i64" if isinstance(x, int) else "f32"


def _kind(dtype: str) -> int:
    return _RANKS[DTYPES[dtype].kind]


def _joined(dtypes: list[str]) -> str:
    """Promote types of one group with one another."""
    joined = ""
    for dtype in dtypes:
        joined = _pair(joined, dtype) if joined else dtype
    return joined


def _pair(a: str, b: str) -> str:
    if a == b:
        return a
    if _kind(a) != _kind(b):
        return max(a, b, key=_kind)
    if {a, b} == {"f16", "bf16"}:
        return "f32"
    if "ui8" in (a, b):  # the one unsigned type that torch computes with
        other = b if a == "ui8" else a
        return "i16" if other == "i8" else other
    return max(a, b, key=lambda d: DTYPES[d].bits)
