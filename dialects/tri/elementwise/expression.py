"""A whole expression of elementwise functions as one op, as PNNX keeps it."""

from collections.abc import Sequence

from ...core.fields import Operand, Result
from ...core.tensor import Array, Tensor
from ...expression import array_of, parse, tensor_of
from ..dialect import TriOp


class Expression(TriOp):
    """Compute an expression of the operands, such as `add(mul(@0,2),@1)`: `@1` is the second.

    Element types and shapes follow torch: operands broadcast, and have the type that they are
    promoted to; a result of numbers alone is a tensor of no axes, a list is one of one
    axis. `dialects/expression/functions.py` has the functions. Complex numbers are refused.
    """

    xs: Sequence[Operand]
    expr: str
    y: Result

    def infer(self, xs: Sequence[Tensor]) -> Tensor:
        return tensor_of(parse(self.expr), xs)

    def reference(self, xs: Sequence[Array]) -> Array:
        return array_of(parse(self.expr), xs)
