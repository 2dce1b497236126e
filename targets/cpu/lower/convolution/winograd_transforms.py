"""The transforms of Winograd's method, as sums and differences of numbers or of vectors."""

from collections.abc import Sequence

from ...kernels.value import Value

Matrix = tuple[tuple[float, ...], ...]


def both_sides(matrix: Matrix, values: Sequence[Sequence[Value]]) -> list[Value]:
    """Return matrix @ values @ matrixᵀ, row by row, as sums that skip zeros."""
    half = [_combine(matrix, [row[j] for row in values]) for j in range(len(values[0]))]
    whole = [_combine(matrix, [column[i] for column in half]) for i in range(len(matrix))]
    return [value for row in whole for value in row]


def _combine(matrix: Matrix, values: Sequence[Value]) -> list[Value]:
    return [_sum_of(row, values) for row in matrix]


def _sum_of(factors: Sequence[float], values: Sequence[Value]) -> Value:
    """Add up multiples of values."""
    # Terms without a multiplication first: each of the others is then one fused instruction.
    terms = sorted(
        ((f, v) for f, v in zip(factors, values, strict=True) if f), key=lambda t: abs(t[0]) != 1
    )
    (factor, total), *rest = terms
    if factor != 1:
        total = -total if factor == -1 else total * factor
    for factor, value in rest:
        if abs(factor) == 1:
            total = total + value if factor == 1 else total - value
        else:
            total = value.fma(factor, total)
    return total
