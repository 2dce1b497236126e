"""Scans: loops over the elements of tensors along an axis of each."""

from collections.abc import Sequence
from dataclasses import dataclass

import onnx

from .....dialects import tri
from .....dialects.core.errors import Invalid, Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.sizes.checks import need_same
from .....dialects.core.tensor import normalize_axis
from ...core.values import tensor
from ..registry import Node
from .loops import scan_op
from .unrolling import Body


@dataclass(frozen=True)
class Scan:
    """Hold a `Scan`; axes are 0, and directions forward, where none are given."""

    node: Node
    graph: onnx.GraphProto
    count: int
    input_axes: tuple[int, ...] = ()
    input_directions: tuple[int, ...] = ()
    output_axes: tuple[int, ...] = ()
    output_directions: tuple[int, ...] = ()

    def run(self, given: Sequence[ir.Value], label: str = "") -> tuple[ir.Value, ...]:
        """Import all iterations; return the last states, and the outputs of all iterations."""
        states, scanned = self._divided(given)
        axes = _axes(self.input_axes, scanned)
        length = self._length(scanned, axes)
        body = Body(self.node, self.graph, len(states))
        backward = self._directions(self.input_directions, len(scanned), "inputs")
        if not body.fits(length):
            first = [_first(*each) for each in zip(scanned, axes, backward, strict=True)]
            made = scan_op(body, length, states, first)
            return *made[: len(states)], *self._moved(made[len(states) :])
        elements = [
            _elements(x, axis, back) for x, axis, back in zip(scanned, axes, backward, strict=True)
        ]
        outputs: list[list[ir.Value]] = [[] for _ in self.graph.output[len(states) :]]
        for number in range(length):
            made = body.run(number, (*states, *(each[number] for each in elements)), label)
            tensors = [_tensor(item) for item in made]
            states = tensors[: len(states)]
            for listed, value in zip(outputs, tensors[len(states) :], strict=True):
                listed.append(value)
        return *states, *self._stacked(outputs)

    def _divided(self, given: Sequence[ir.Value]) -> tuple[list[ir.Value], list[ir.Value]]:
        """Return the states and what is scanned."""
        if not 0 < self.count <= len(given):
            raise Invalid(f"scans {self.count} of {len(given)} inputs, must scan 1 to all of them")
        states = len(given) - self.count
        if len(self.graph.output) < states:
            raise Invalid(f"has a body of {len(self.graph.output)} outputs, and {states} states")
        return list(given[:states]), list(given[states:])

    def _length(self, scanned: Sequence[ir.Value], axes: Sequence[int]) -> Size:
        first, *others = (tensor(x).shape[axis] for x, axis in zip(scanned, axes, strict=True))
        for size in others:
            fault = f"scans along axes of sizes {first}, {size}, must be of one size"
            need_same(first, size, fault)
        return first

    def _stacked(self, outputs: Sequence[list[ir.Value]]) -> list[ir.Value]:
        if outputs and not outputs[0]:
            raise Unsupported("scans along an axis of size 0, must have an element")
        return [
            tri.Stack.build(values[::-1] if back else values, axis=axis).y
            for values, (axis, back) in zip(outputs, self._ways(len(outputs)), strict=True)
        ]

    def _moved(self, outputs: Sequence[ir.Value]) -> list[ir.Value]:
        """Bring outputs whose first axis is that of iterations into their order."""
        return [
            _from_first(value, normalize_axis(axis, tensor(value).rank), back)
            for value, (axis, back) in zip(outputs, self._ways(len(outputs)), strict=True)
        ]

    def _ways(self, count: int) -> list[tuple[int, bool]]:
        """Return the axis and the direction of each output."""
        axes = self.output_axes or (0,) * count
        if len(axes) != count:
            raise Invalid(f"has {len(axes)} axes of {count} outputs, must have as many")
        return list(
            zip(axes, self._directions(self.output_directions, count, "outputs"), strict=True)
        )

    def _directions(self, given: Sequence[int], count: int, what: str) -> list[bool]:
        """Return which inputs or outputs are in reverse order."""
        directions = given or (0,) * count
        if len(directions) != count or not {*directions} <= {0, 1}:
            raise Invalid(
                f"has directions {list(given)} of {count} {what}, must be 0 or 1 for each"
            )
        return [direction == 1 for direction in directions]


def scan_batches(scan: Scan, given: Sequence[ir.Value]) -> tuple[ir.Value, ...]:
    """Scan the samples of all inputs, which are along their first axes; join the results."""
    samples = [_elements(x, 0, False) for x in given]
    counts = {len(each) for each in samples}
    if len(counts) > 1:
        raise Invalid(f"has samples of {', '.join(map(str, sorted(counts)))}, must be of one size")
    made = [scan.run(sample, f"[{n}]") for n, sample in enumerate(zip(*samples, strict=True))]
    return tuple(tri.Stack.build(each, axis=0).y for each in zip(*made, strict=True))


def _axes(given: Sequence[int], scanned: Sequence[ir.Value]) -> list[int]:
    axes = given or (0,) * len(scanned)
    if len(axes) != len(scanned):
        raise Invalid(f"has {len(axes)} axes of {len(scanned)} scanned inputs, must have as many")
    return [normalize_axis(axis, tensor(x).rank) for axis, x in zip(axes, scanned, strict=True)]


def _elements(x: ir.Value, axis: int, backward: bool) -> list[ir.Value]:
    elements: list[ir.Value] = list(tri.Unbind.build(x, axis=axis).ys)
    return elements[::-1] if backward else elements


def _first(x: ir.Value, axis: int, backward: bool) -> ir.Value:
    """Bring an axis to the front, and its elements into the order in which they are scanned."""
    if axis:
        others = [each for each in range(tensor(x).rank) if each != axis]
        x = tri.Transpose.build(x, permutation=(axis, *others)).y
    return _reversed(x) if backward else x


def _from_first(x: ir.Value, axis: int, backward: bool) -> ir.Value:
    x = _reversed(x) if backward else x
    if not axis:
        return x
    order = list(range(1, tensor(x).rank))
    order.insert(axis, 0)
    return tri.Transpose.build(x, permutation=tuple(order)).y


def _reversed(x: ir.Value) -> ir.Value:
    """Reverse the order along the first axis."""
    dims = tensor(x).shape
    starts = (dims[0] - 1, *(0 for _ in dims[1:]))
    steps = (-1, *(1 for _ in dims[1:]))
    return tri.Slice.build(x, starts=starts, sizes=dims, steps=steps).y


def _tensor(item: object) -> ir.Value:
    if not isinstance(item, ir.Value):
        raise Invalid("has a body that returns a sequence or an optional, must return tensors")
    return item
