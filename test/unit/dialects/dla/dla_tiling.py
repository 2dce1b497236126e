"""Networks cut into tiles at random: each op tile by tile, its parts loaded and stored."""

import itertools
import random
from collections.abc import Iterator
from typing import Any

import dla_numbers
import numpy as np
from dla_programs import Plan
from trivium.dialects import dla
from trivium.dialects.core.numerics.fixed_point import ROUNDINGS
from trivium.dialects.core.tensor import Array
from trivium.dialects.dla.types import BufferType

Pair = tuple[int, int]


class Tiler:
    """Grow a program op by op, and know what its last value is by loops over integers."""

    def __init__(self, seed: int, atom: int = 4) -> None:
        self.random = random.Random(seed)
        self.values = np.random.default_rng(seed)
        self.plan = Plan(atom)
        self.inputs: list[Array] = []
        self.value = self.bytes(1, *(self.between(1, 6) for _ in range(2)), self.between(1, 9))
        self.at = self.loaded(self.value)

    def between(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def bytes(self, *shape: int) -> Array:
        return self.values.integers(-128, 128, shape).astype(np.int8)

    def cuts(self, size: int, step: int = 1) -> list[Pair]:
        """Cut a range into parts at multiples of a step."""
        places = [p for p in range(step, size, step) if self.random.random() < 0.4]
        return list(itertools.pairwise([0, *places, size]))

    def tiles(self, rows: int, columns: int) -> Iterator[tuple[Pair, Pair]]:
        found = list(itertools.product(self.cuts(rows), self.cuts(columns)))
        self.random.shuffle(found)
        yield from found

    def loaded(self, value: Array) -> str:
        """Load an image part by part."""
        outside = self.plan.image("dram.inputs", *value.shape)
        channels = self.plan.type(outside).shape[3]
        self.inputs.append(np.pad(value, [(0, 0)] * 3 + [(0, channels - value.shape[3])]))
        inner = self.plan.image("sram", *value.shape)
        for (top, bottom), (left, right) in self.tiles(*value.shape[1:3]):
            at = (0, top, left, 0)
            sizes = {"rows": bottom - top, "columns": right - left, "channels": channels}
            self.plan.step(dla.Load, outside, inner, source_at=at, destination_at=at, **sizes)
        return inner

    def stored(self) -> None:
        """Store the last value part by part."""
        outside = self.plan.image("dram.outputs", *self.value.shape)
        channels = self.plan.type(outside).shape[3]
        for (top, bottom), (left, right) in self.tiles(*self.value.shape[1:3]):
            at = (0, top, left, 0)
            sizes = {"rows": bottom - top, "columns": right - left, "channels": channels}
            self.plan.step(dla.Store, self.at, outside, source_at=at, destination_at=at, **sizes)

    def constants(self, values: Array) -> str:
        """Load bytes into the memory of weights."""
        outside = self.plan.add(BufferType((values.size,), "i8", "dram.constants"))
        self.inputs.append(values)
        inner = self.plan.add(BufferType((values.size,), "i8", "weights"))
        for first, end in self.cuts(values.size, 100):
            at = {"source_at": first, "destination_at": first, "length": end - first}
            self.plan.step(dla.LoadWeights, outside, inner, **at)
        return inner

    def scaling(self) -> dict[str, Any]:
        low, high = sorted((self.between(-128, 127), self.between(-128, 127)))
        return {
            "source_zero": self.between(-128, 127),
            "multiplier": self.between(0, 1 << 20),
            "shift": self.between(0, 24),
            "rounding": self.random.choice(ROUNDINGS),
            "destination_zero": self.between(-128, 127),
            **self.random.choice([{"low": -128, "high": 127}, {"low": low, "high": high}]),
        }

    def moves(self) -> dict[str, Any]:
        """Draw how a kernel moves over the last value; it meets something everywhere."""
        kernel, pads = [0, 0], [0, 0, 0, 0]
        dilations = [1, 1]
        for axis, size in enumerate(self.value.shape[1:3]):
            kernel[axis] = self.between(1, min(3, size))
            dilations[axis] = self.between(1, 2) if 2 * kernel[axis] - 1 <= size else 1
            pads[axis], pads[axis + 2] = (self.between(0, kernel[axis] - 1) for _ in range(2))
        strides = (self.between(1, 2), self.between(1, 2))
        moves = {"strides": strides, "dilations": tuple(dilations), "pads": tuple(pads)}
        return {"kernel": tuple(kernel), **moves}

    def window(self, moves: dict[str, Any], tile: tuple[Pair, Pair]) -> dict[str, Any]:
        """Return what a tile needs of the last value, and how the kernel moves over that."""
        found: dict[str, Any] = {}
        start: list[int] = []
        for axis, (name, side) in enumerate((("rows", "top"), ("columns", "left"))):
            (first, end), size = tile[axis], self.value.shape[1 + axis]
            stride, dilation = moves["strides"][axis], moves["dilations"][axis]
            reach = (moves["kernel"][axis] - 1) * dilation + 1
            low = first * stride - moves["pads"][axis]
            high = (end - 1) * stride - moves["pads"][axis] + reach
            start.append(max(low, 0))
            found[name] = min(high, size) - start[axis]
            found |= {f"pad_{side}": max(-low, 0), f"out_{name}": end - first}
            found |= {f"kernel_{name}": moves["kernel"][axis]}
            found |= {f"stride_{name}": stride, f"dilation_{name}": dilation}
        return {**found, "source_at": (0, *start, 0), "destination_at": at(tile)}

    # -- ops ----------------------------------------------------------------------------------

    def copy(self) -> None:
        scaling = self.scaling()
        self.by_tile(dla.CopyTile, [], scaling, in_place=self.random.random() < 0.3)
        self.value = dla_numbers.copy(self.value, scaling)

    def lookup(self) -> None:
        table = self.bytes(256)
        self.by_tile(dla.LookupTile, [self.constants(table)], {})
        self.value = dla_numbers.lookup(self.value, table, {})

    def eltwise(self) -> None:
        shape = self.value.shape
        sizes = [size if self.random.random() < 0.6 else 1 for size in shape[1:3]]
        other = self.bytes(1, *sizes, shape[3])
        more = {
            "operator": self.random.choice(["add", "mul", "max", "min"]),
            "other_zero": self.between(-128, 127),
            "other_multiplier": self.between(0, 1 << 20),
        }
        attributes = {**self.scaling(), **more}
        self.by_tile(dla.EltwiseTile, [self.loaded(other)], attributes, other=sizes)
        self.value = dla_numbers.eltwise(self.value, other, attributes)

    def resize(self) -> None:
        start, step, out = (
            tuple(self.between(*limits) for _ in range(2))
            for limits in ((-90000, 90000), (0, 90000), (1, 5))
        )
        target = self.plan.image("sram", 1, *out, self.value.shape[3])
        _, rows, columns, channels = self.value.shape
        for tile in self.tiles(*out):
            found: dict[str, Any] = {"rows": rows, "columns": columns, "channels": channels}
            for axis, name in enumerate(("rows", "columns")):
                found[f"start_{name}"] = start[axis] + step[axis] * tile[axis][0]
                found[f"step_{name}"] = step[axis]
                found[f"out_{name}"] = tile[axis][1] - tile[axis][0]
            self.plan.step(dla.ResizeTile, self.at, target, destination_at=at(tile), **found)
        self.at = target
        attributes = {"out": out, "start": start, "step": step}
        self.value = dla_numbers.resize(self.value, attributes)

    def by_tile(
        self,
        op: type[dla.BufferOp],
        more: list[str],
        attributes: dict[str, Any],
        in_place: bool = False,
        other: list[int] | None = None,
    ) -> None:
        """Add tiles of an op that works value by value."""
        target = self.at if in_place else self.plan.image("sram", *self.value.shape)
        channels = self.value.shape[3]
        for (top, bottom), (left, right) in self.tiles(*self.value.shape[1:3]):
            start = (0, top, left, 0)
            sizes = {"rows": bottom - top, "columns": right - left, "channels": channels}
            given: dict[str, Any] = {**attributes, **sizes}
            if other is not None:
                first = (top if other[0] > 1 else 0, left if other[1] > 1 else 0)
                given["other_at"] = (0, *first, 0)
            where = {"source_at": start, "destination_at": start}
            self.plan.step(op, self.at, target, *more, **given, **where)
        self.at = target

    def pool(self) -> None:
        moves, scaling = self.moves(), self.scaling()
        kind = {
            "mode": self.random.choice(["max", "average"]),
            "divisor": self.random.choice(["none", "inside"]),
        }
        out = dla_numbers.counts(self.value, moves["kernel"], moves)
        target = self.plan.image("sram", 1, *out, self.value.shape[3])
        for tile in self.tiles(*out):
            given = {**self.window(moves, tile), **kind, **scaling}
            channels = self.value.shape[3]
            self.plan.step(dla.PoolTile, self.at, target, channels=channels, **given)
        self.at = target
        self.value = dla_numbers.pool(self.value, {**moves, **kind, **scaling})

    def conv(self) -> None:
        """Split a conv over rows, columns, filters and channels."""
        moves, scaling, depthwise = self.moves(), self.scaling(), self.random.random() < 0.3
        channels = self.value.shape[3]
        filters = channels if depthwise else self.between(1, 9)
        shape = (*moves["kernel"], channels) + (() if depthwise else (filters,))
        w, bias = self.bytes(*shape), self.values.integers(-9999, 9999, filters).astype(np.int32)
        multiplier = tuple(self.between(0, (1 << 31) - 1) for _ in range(filters))
        shift = tuple(self.between(30, 45) for _ in range(filters))
        mode = "depthwise" if depthwise else "dense"
        scaling |= {"multiplier": multiplier, "shift": shift}
        out = dla_numbers.counts(self.value, moves["kernel"], moves)
        target = self.plan.image("sram", 1, *out, filters)
        zero = scaling.pop("source_zero")
        rest = {k: v for k, v in scaling.items() if k not in ("multiplier", "shift")}
        rest |= {"mode": mode, "source_zero": zero}
        for first, end in self.cuts(filters, self.plan.atom):
            parts = [(first, end)] if depthwise else self.cuts(channels)
            own = w[..., first:end]
            depth = (0, 1) if depthwise else (0, 1, 2)
            folded = bias[first:end] - zero * own.astype(np.int64).sum(axis=depth)
            table = self.constants(self.table(folded, multiplier[first:end], shift[first:end]))
            weights = [
                self.constants(self.packed(own if depthwise else own[:, :, low:high]))
                for low, high in parts
            ]
            for tile in self.tiles(*out):
                given = {**self.window(moves, tile), **rest, "filters": end - first}
                sizes = (given["out_rows"], given["out_columns"], self.plan.padded(end - first))
                sums = self.plan.add(BufferType((1, *sizes), "i32", "accumulator"))
                given["destination_at"] = (*given["destination_at"][:3], first)
                for number, (low, high) in enumerate(parts):
                    given["source_at"] = (*given["source_at"][:3], low)
                    given |= {"channels": high - low, "begin": int(number == 0)}
                    given["finish"] = int(number == len(parts) - 1)
                    operands = (self.at, target, weights[number], table, sums)
                    self.plan.step(dla.ConvTile, *operands, **given)
        self.at = target
        whole = {**moves, **scaling, "mode": mode, "source_zero": zero}
        self.value = dla_numbers.conv(self.value, w, bias, whole)

    def packed(self, w: Array) -> Array:
        """Return weights with filters that pad an atom."""
        extra = self.plan.padded(w.shape[-1]) - w.shape[-1]
        return np.pad(w, [(0, 0)] * (w.ndim - 1) + [(0, extra)]).reshape(-1)

    def table(self, bias: Array, multiplier: tuple[int, ...], shift: tuple[int, ...]) -> Array:
        """Return biases, multipliers and shifts as bytes."""
        extra = self.plan.padded(len(shift)) - len(shift)
        words = [np.pad(np.array(part), (0, extra)).astype("<i4") for part in (bias, multiplier)]
        shifts = np.pad(np.array(shift), (0, extra)).astype(np.int8)
        found = b"".join([*(part.tobytes() for part in words), shifts.tobytes()])
        return np.frombuffer(found, np.int8)


OPS = ("copy", "lookup", "eltwise", "resize", "pool", "conv")


def at(tile: tuple[Pair, Pair]) -> tuple[int, int, int, int]:
    """Return where a tile starts."""
    return 0, tile[0][0], tile[1][0], 0


def network(seed: int, *names: str) -> Tiler:
    """Cut a network into tiles, of random ops unless some are named."""
    tiler = Tiler(seed)
    for name in names or tiler.random.choices(OPS, k=tiler.between(1, 4)):
        getattr(tiler, name)()
    tiler.stored()
    return tiler
