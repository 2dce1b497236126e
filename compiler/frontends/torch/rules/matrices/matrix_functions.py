"""Rules for functions of square matrices: the exponential."""

import math

import numpy as np

from ......dialects import tri
from ......dialects.core.attributes import type_of
from ......dialects.core.mlir import ir
from ......dialects.core.tensor import Tensor, numpy_dtype
from ......dialects.tri.control_flow import UNKNOWN
from ....core.bodies import Bodies
from ....core.main_function import MainFunction
from ....core.values import cast, constant, tensor
from ...expressions import apply
from ...registry import Value, torch_op
from .factorizations import identity

DEGREE = 16
"""That of the series, in blocks of four powers."""


@torch_op("torch.matrix_exp", "torch.linalg.matrix_exp")
def matrix_exp(self: Value, main: MainFunction) -> Value:
    """Compute exponentials of square matrices by scaling and squaring.

    Each matrix is divided by a power of 2, so that a series converges fast, and its exponential is
    squared as often. Source: Moler and Van Loan, Nineteen Dubious Ways, method 3.
    """
    given = tensor(self).dtype
    x = self if given == "f64" else cast(self, "f32")
    type_ = tensor(x)
    if type_.size == 0:
        return self
    columns = tri.ReduceL1.build(x, axes=(type_.rank - 2,), keepdims=True).y
    norm = tri.ReduceMax.build(columns, axes=(type_.rank - 1,), keepdims=True).y
    zero = np.zeros((), numpy_dtype(type_.dtype))
    precision = np.finfo(zero.dtype)
    most = float(precision.maxexp - 1)
    # The remainder of the series is below the precision of the type up to this norm.
    greatest = (precision.eps / 2 * math.factorial(DEGREE + 1)) ** (1 / (DEGREE + 1))
    text = f"minimum({most},ceil(mul(log(mul(@0,{1 / greatest})),{1 / math.log(2)})))"
    is_large = tri.Greater.build(norm, constant(np.array(greatest, zero.dtype))).y
    squarings = tri.Where.build(is_large, apply(text, norm), constant(zero)).y
    scaled = apply("div(@0,pow(2.0,@1))", x, squarings)
    return cast(_squared(_series(scaled), cast(squarings, "i64"), main), given)


def _series(x: Value) -> Value:
    """Add up powers of matrices by their factorials. Source: Paterson and Stockmeyer."""
    size = tensor(x).shape[-1]
    powers = [identity(size, size, tensor(x).dtype), x]
    for _ in range(3):
        powers.append(tri.MatMul.build(powers[-1], x).y)
    *low, fourth = powers
    total = apply("mul(@0,@1)", low[0], 1 / math.factorial(DEGREE))
    for block in reversed(range(DEGREE // 4)):
        factors = (1 / math.factorial(4 * block + i) for i in range(4))
        text = "add(add(mul(@0,@4),mul(@1,@5)),add(mul(@2,@6),mul(@3,@7)))"
        terms = apply(text, *low, *factors)
        total = tri.Add.build(terms, tri.MatMul.build(total, fourth).y).y
    return total


def _squared(x: Value, times: Value, main: MainFunction) -> Value:
    """Square each matrix as often as `times` has, in a loop up to the greatest of these."""
    trips = tri.ReduceMax.build(times, axes=tuple(range(tensor(times).rank)), keepdims=False).y
    bodies = Bodies(main, tri.Loop.op_name, 1)
    types: list[ir.Type] = [type_of(each) for each in (Tensor((), "i64"), tensor(x))]
    with bodies.body(types) as block:
        step, now = block.arguments
        is_left = tri.Greater.build(times, step).y
        tri.Yield.build([tri.Where.build(is_left, tri.MatMul.build(now, now).y, now).y])
    captured = bodies.close()
    loop = tri.Loop.create(
        [trips, None, [x], [], captured],
        types[1:],
        {"iterations": UNKNOWN, "carried_sizes": (), "joined": 0, "result_sizes": ()},
    )
    bodies.move_to(loop)
    return loop.results[0]
