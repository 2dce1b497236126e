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
    """Return matrix @ values; columns and rows that differ in signs alone share their sums."""
    matrix, values = _share_columns(matrix, values)
    made: list[Value] = []
    while len(made) < len(matrix):
        row, *rest = matrix[len(made) :]
        if rest and _differ_in_signs(row, rest[0]):
            made += _mirrored(row, rest[0], values)
        else:
            made.append(_sum_of(row, values))
    return made


def _differ_in_signs(one: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether some numbers are equal, some are negated, and all are one or the other."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a or b]
    return {a == b for a, b in pairs} == {True, False} and all(abs(a) == abs(b) for a, b in pairs)


def _share_columns(matrix: Matrix, values: Sequence[Value]) -> tuple[Matrix, list[Value]]:
    """Replace neighbours whose columns differ in signs by their sum and their difference."""
    columns, given = list(zip(*matrix, strict=True)), list(values)
    for j in range(len(columns) - 1):
        if _differ_in_signs(columns[j], columns[j + 1]):
            pairs = list(zip(columns[j], columns[j + 1], strict=True))
            columns[j] = tuple(a if a == b else 0.0 for a, b in pairs)
            columns[j + 1] = tuple(0.0 if a == b else a for a, b in pairs)
            given[j : j + 2] = [given[j] + given[j + 1], given[j] - given[j + 1]]
    return tuple(zip(*columns, strict=True)), given


def _mirrored(row: Sequence[float], other: Sequence[float], values: Sequence[Value]) -> list[Value]:
    """Return the sums of two rows that differ in signs, from their equal and negated terms."""
    pairs = list(zip(row, other, strict=True))
    equal = _sum_of([a if a == b else 0.0 for a, b in pairs], values)
    factor = next(a for a, b in reversed(pairs) if a != b)
    negated = _sum_of([0.0 if a == b else a / factor for a, b in pairs], values)
    if abs(factor) == 1:
        sums = [equal + negated, equal - negated]
        return sums if factor == 1 else sums[::-1]
    return [negated.fma(sign * factor, equal) for sign in (1, -1)]


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
