"""Einsum, in terms of MatMul, ReduceSum, Transpose and Reshape."""

import math
from collections.abc import Sequence

from ...dialects import tri
from ...dialects.core.mlir import ir
from ...dialects.tri.linear_algebra.equation import Equation
from ..building import mat_mul, reshape, shape_of, transpose
from ..rewriting import NoMatch
from .registry import decomposes


@decomposes(tri.Einsum)
def einsum(op: tri.Einsum) -> ir.Value:
    """Multiply from left to right; each step keeps the indices that are still asked for.

    Sort the axes of two operands into batch, own and shared ones: then it is a matrix product.
    """
    equation = Equation.parse(op.equation)
    sizes = _sizes(equation, op.xs)
    terms = list(equation.inputs)
    if len(terms) == 1:
        value = _reduced(op.xs[0], terms[0], equation.output)
        kept = [i for i in terms[0] if i in equation.output]
        return _arranged(value, kept, equation.output)
    value, term = op.xs[0], terms[0]
    for position in range(1, len(terms)):
        asked = equation.output + "".join(terms[position + 1 :])
        made = "".join(i for i in dict.fromkeys(term + terms[position]) if i in asked)
        made = equation.output if position == len(terms) - 1 else made
        value = _product([value, op.xs[position]], [term, terms[position]], made, sizes)
        term = made
    return value


def _sizes(equation: Equation, xs: Sequence[ir.Value]) -> dict[str, int]:
    """Return the size of each index; NoMatch for what is more than a matrix product."""
    sizes: dict[str, int] = {}
    for term, x in zip(equation.inputs, xs, strict=True):
        if "." in term or len(set(term)) != len(term):
            raise NoMatch(f"term '{term}' has an ellipsis or an index twice")
        for index, size in zip(term, shape_of(x), strict=True):
            if sizes.setdefault(index, size) != size:
                raise NoMatch(f"index '{index}' broadcasts")
    return sizes


def _product(
    xs: Sequence[ir.Value], terms: Sequence[str], output: str, sizes: dict[str, int]
) -> ir.Value:
    values = [
        _reduced(x, term, output + other)
        for x, term, other in zip(xs, terms, reversed(terms), strict=True)
    ]
    left, right = (
        [i for i in term if i in output + other]
        for term, other in zip(terms, reversed(terms), strict=True)
    )
    batch = [i for i in left if i in right and i in output]
    shared = [i for i in left if i in right and i not in output]
    rows, columns = ([i for i in own if i not in batch + shared] for own in (left, right))

    def matrix(value: ir.Value, have: list[str], *groups: list[str]) -> ir.Value:
        flat = [math.prod(sizes[i] for i in group) for group in groups]
        arranged = _arranged(value, have, [*batch, *(i for g in groups for i in g)])
        return reshape(arranged, *(sizes[i] for i in batch), *flat)

    y = mat_mul(matrix(values[0], left, rows, shared), matrix(values[1], right, shared, columns))
    made = [*batch, *rows, *columns]
    return _arranged(reshape(y, *(sizes[i] for i in made)), made, output)


def _reduced(x: ir.Value, term: str, wanted: str) -> ir.Value:
    """Sum over the axes that nobody else asks for."""
    axes = tuple(axis for axis, index in enumerate(term) if index not in wanted)
    return tri.ReduceSum.build(x, axes=axes, keepdims=False).y if axes else x


def _arranged(value: ir.Value, have: Sequence[str], want: Sequence[str]) -> ir.Value:
    """Bring axes into another order."""
    order = [list(have).index(index) for index in want]
    return value if order == sorted(order) else transpose(value, *order)
