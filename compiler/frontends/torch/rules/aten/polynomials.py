"""Rules for orthogonal polynomials: by their recurrences, up to a degree that is known."""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Unsupported
from ......dialects.core.tensor import Array
from ....core.values import constant, tensor
from ...expressions import apply
from ...promotion import Operand, as_float, as_type
from ...registry import Value, torch_op
from ...views import expand

HIGHEST = 64
"""Polynomials of a higher degree than this are taken for a mistake."""

SHIFTED = "sub(mul(2,@0),1)"


def _register(name: str, first: str, step: str, argument: str = "@0") -> None:
    """Register polynomials by the one of degree 1 in `x`, and by the step to the next one.

    In a step, `@1` and `@2` are the last two polynomials, `{k}` is the degree of the last one.
    """

    @torch_op(f"aten::special_{name}")
    def evaluated(x: Operand, n: Array) -> Value:
        degrees = np.trunc(n.astype(np.float64))
        highest = int(degrees.max(initial=0))
        if highest > HIGHEST:
            raise Unsupported(f"has degree {highest}, must be at most {HIGHEST}")
        at = as_float(x) if isinstance(x, Value) else as_type(x, "f32")
        dtype = tensor(at).dtype
        shape = np.broadcast_shapes(tensor(at).shape, degrees.shape)
        at = apply(argument, expand(at, shape))
        last, before = apply(first, at), as_type(1, dtype)
        made = expand(tri.Where.build(constant(degrees < 0), as_type(0, dtype), before).y, shape)
        for degree in range(1, highest + 1):
            made = tri.Where.build(constant(degrees == degree), last, made).y
            last, before = apply(step.format(k=degree), at, last, before), last
        return made


_CHEBYSHEV = "sub(mul(mul(2,@0),@1),@2)"
for _kind, _first in {
    "t": "@0",
    "u": "mul(2,@0)",
    "v": "sub(mul(2,@0),1)",
    "w": "add(mul(2,@0),1)",
}.items():
    _register(f"chebyshev_polynomial_{_kind}", f"mul(1,{_first})", _CHEBYSHEV)
    _register(
        f"shifted_chebyshev_polynomial_{_kind}", f"mul(1,{_first})", _CHEBYSHEV, argument=SHIFTED
    )
_register("hermite_polynomial_h", "mul(2,@0)", "sub(mul(mul(2,@0),@1),mul(mul(2,{k}),@2))")
_register("hermite_polynomial_he", "mul(1,@0)", "sub(mul(@0,@1),mul({k},@2))")
_register(
    "laguerre_polynomial_l",
    "sub(1,@0)",
    "div(sub(mul(sub(add(mul(2,{k}),1),@0),@1),mul({k},@2)),add({k},1))",
)
_register(
    "legendre_polynomial_p",
    "mul(1,@0)",
    "div(sub(mul(mul(add(mul(2,{k}),1),@0),@1),mul({k},@2)),add({k},1))",
)
