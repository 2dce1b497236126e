"""What ops on images of bytes mean, in loops over Python's integers and fractions."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from trivium.dialects.core.tensor import Array

Attributes = dict[str, Any]


def rounded(value: Fraction, rounding: str) -> int:
    if rounding == "half_even":
        return round(value)
    if rounding == "half_up" or value > 0:
        return math.floor(value + Fraction(1, 2))
    return math.ceil(value - Fraction(1, 2))


def finished(value: Fraction, attributes: Attributes, rounding: str | None = None) -> int:
    """Round, add the zero point and clamp."""
    whole = rounded(value, rounding or attributes["rounding"]) + attributes["destination_zero"]
    return max(attributes["low"], min(attributes["high"], whole))


def taps(
    row: int, column: int, kernel: tuple[int, int], attributes: Attributes
) -> Iterator[tuple[int, int, int, int]]:
    """Yield each tap of a kernel with the row and column that it meets, which may be outside."""
    (by_rows, by_columns), (far_rows, far_columns) = attributes["strides"], attributes["dilations"]
    top, left, *_ = attributes["pads"]
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            yield (
                i,
                j,
                row * by_rows - top + i * far_rows,
                column * by_columns - left + j * far_columns,
            )


def inside(x: Array, row: int, column: int) -> bool:
    return 0 <= row < x.shape[1] and 0 <= column < x.shape[2]


def counts(x: Array, kernel: tuple[int, int], attributes: Attributes) -> tuple[int, int]:
    """Count by sliding the kernel until it is over the edge."""
    found: list[int] = []
    for axis in (0, 1):
        pads, reach = attributes["pads"], (kernel[axis] - 1) * attributes["dilations"][axis] + 1
        end = x.shape[1 + axis] + pads[axis + 2]
        starts = range(-pads[axis], end - reach + 1, attributes["strides"][axis])
        found.append(len(starts))
    return found[0], found[1]


def conv(x: Array, w: Array, bias: Array, attributes: Attributes) -> Array:
    kernel, zero = (w.shape[0], w.shape[1]), attributes["source_zero"]
    dense = attributes["mode"] == "dense"
    out = counts(x, kernel, attributes)
    y = np.zeros((x.shape[0], *out, w.shape[-1]), np.int8)
    for n, row, column, filter_ in np.ndindex(*y.shape):
        total = int(bias[filter_])
        for i, j, at_row, at_column in taps(row, column, kernel, attributes):
            if not inside(x, at_row, at_column):
                continue
            for channel in range(x.shape[3]) if dense else [filter_]:
                weight = w[i, j, channel, filter_] if dense else w[i, j, channel]
                total += (int(x[n, at_row, at_column, channel]) - zero) * int(weight)
        place = filter_ if len(attributes["shift"]) > 1 else 0
        factor = Fraction(attributes["multiplier"][place], 1 << attributes["shift"][place])
        y[n, row, column, filter_] = finished(total * factor, attributes)
    return y


def pool(x: Array, attributes: Attributes) -> Array:
    kernel, zero = attributes["kernel"], attributes["source_zero"]
    out = counts(x, kernel, attributes)
    y = np.zeros((x.shape[0], *out, x.shape[3]), np.int8)
    factor = Fraction(attributes["multiplier"], 1 << attributes["shift"])
    for n, row, column, channel in np.ndindex(*y.shape):
        met = [
            int(x[n, at_row, at_column, channel]) - zero
            for _, _, at_row, at_column in taps(row, column, kernel, attributes)
            if inside(x, at_row, at_column)
        ]
        if attributes["mode"] == "max":
            value = finished(max(met) * factor, attributes)
        elif attributes["divisor"] == "none":
            value = finished(sum(met) * factor, attributes)
        else:
            value = finished(sum(met) * factor / len(met), attributes, "half_away")
        y[n, row, column, channel] = value
    return y


def eltwise(x: Array, other: Array, attributes: Attributes) -> Array:
    y = np.zeros(x.shape, np.int8)
    for place in np.ndindex(*x.shape):
        there = tuple(min(i, size - 1) for i, size in zip(place, other.shape, strict=True))
        p = (int(x[place]) - attributes["source_zero"]) * attributes["multiplier"]
        q = int(other[there]) - attributes["other_zero"]
        scaled = q * attributes["other_multiplier"]
        results = {"add": p + scaled, "mul": p * q, "max": max(p, scaled), "min": min(p, scaled)}
        value = Fraction(results[attributes["operator"]], 1 << attributes["shift"])
        y[place] = finished(value, attributes)
    return y


def lookup(x: Array, table: Array, attributes: Attributes) -> Array:
    entry = dict(zip(range(-128, 128), table.tolist(), strict=True))
    return np.array([entry[value] for value in x.reshape(-1).tolist()], np.int8).reshape(x.shape)


def resize(x: Array, attributes: Attributes) -> Array:
    y = np.zeros((x.shape[0], *attributes["out"], x.shape[3]), np.int8)
    for n, row, column in np.ndindex(*y.shape[:3]):
        places: list[int] = []
        for axis, index in ((0, row), (1, column)):
            position = attributes["start"][axis] + attributes["step"][axis] * index
            place = math.floor(Fraction(position, 65536))
            places.append(max(0, min(x.shape[1 + axis] - 1, place)))
        y[n, row, column] = x[n, places[0], places[1]]
    return y


def copy(x: Array, attributes: Attributes) -> Array:
    factor = Fraction(attributes["multiplier"], 1 << attributes["shift"])
    y = np.zeros(x.shape, np.int8)
    for place in np.ndindex(*x.shape):
        value = (int(x[place]) - attributes["source_zero"]) * factor
        y[place] = finished(value, attributes)
    return y


def window(x: Array, attributes: Attributes) -> Array:
    """Copy a window of an image element by element."""
    (rows, columns, channels), sizes = attributes["start"], attributes["sizes"]
    y = np.empty((len(x), *sizes), np.int8)
    for image, row, column, channel in np.ndindex(y.shape):
        y[image, row, column, channel] = x[image, rows + row, columns + column, channels + channel]
    return y


def concat(xs: list[Array], attributes: Attributes) -> Array:
    axis = attributes["axis"] % 4
    planes = [np.moveaxis(x, axis, 0) for x in xs]
    return np.moveaxis(np.array([plane for x in planes for plane in x]), 0, axis)
