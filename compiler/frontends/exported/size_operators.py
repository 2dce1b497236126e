"""Operators of a program that compute with sizes, not with tensors. No MLIR."""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ....dialects.core.errors import Unsupported
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.dim import highest, lowest


@dataclass(frozen=True)
class SizeComparison:
    """A comparison of sizes that vary, which a run decides; `relation` is like `gt`."""

    relation: str
    left: Size
    right: Size


def _compared(relation: str) -> Callable[[Any, Any], bool | SizeComparison]:
    """Return a comparison of sizes: a bool where both are known."""

    def compare(a: Any, b: Any) -> bool | SizeComparison:
        known = not is_symbolic(a) and not is_symbolic(b)
        return bool(getattr(operator, relation)(a, b)) if known else SizeComparison(relation, a, b)

    return compare


def _divided(a: Any, b: Any) -> float:
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a / b
    raise Unsupported(f"divides {a} by {b}, must be numbers: bind the symbols")


def _axis(shape: Any, dim: int) -> Any:
    return shape[dim]


def _same(size: Any) -> Any:
    return size


_ARITHMETIC = ("add", "sub", "mul", "neg", "pow", "floordiv", "mod")
_COMPARISONS = ("eq", "ne", "ge", "gt", "le", "lt")

SIZE_OPERATORS: dict[str, Callable[..., Any]] = {
    "aten::sym_size.int": _axis,
    "aten::sym_numel": math.prod,
    **{f"_operator.{name}": getattr(operator, name) for name in _ARITHMETIC},
    **{f"_operator.{name}": _compared(name) for name in _COMPARISONS},
    "_operator.truediv": _divided,
    "torch.sym_max": highest,
    "torch.sym_min": lowest,
    "torch.sym_int": int,
    "torch.sym_float": _same,
    "math.ceil": math.ceil,
    "math.floor": math.floor,
    "math.trunc": math.trunc,
}


def computed(name: str, arguments: Sequence[Any]) -> Any:
    """Compute a size of sizes; the shape of a tensor stands for it."""
    return SIZE_OPERATORS[name](*arguments)
