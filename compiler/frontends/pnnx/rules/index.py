"""The rule for indices that PNNX writes as text, or as operands."""

import ast
from typing import Any, cast

from .....dialects.core.errors import Invalid
from .....dialects.core.tensor import Array
from ...core.main_function import MainFunction
from ...torch.registry import Complex, Value, torch_op
from ...torch.rules.indexing.advanced_index import index_by, numbers_of
from ...torch.views import shape_of
from ..cut_indices import completed
from ..format.operator import Operator


@torch_op("Tensor.index")
def index(
    input: Value | Complex, expr: Any, *, operator: Operator, main: MainFunction
) -> Value | Complex:
    """Take elements by indices: a list with numbers, or a tensor, or None, for each axis."""
    if "expr" in operator.parameters:
        expr = _parsed(operator.parameters["expr"].text)
        expr = completed(expr, shape_of(input), operator)
    return index_by(input, cast("list[Any]", expr) if isinstance(expr, list) else [expr], main)


def _parsed(text: str) -> list[Array | None]:
    """Read `[None,[1,0]]`; True and False in a list keep an index or leave it out."""
    try:
        read = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise Invalid(f"has expr '{text}', must be a list of indices") from None
    if not isinstance(read, list):
        raise Invalid(f"has expr '{text}', must be a list of indices")
    return [None if each is None else numbers_of(each) for each in cast("list[Any]", read)]
