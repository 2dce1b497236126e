"""A `Squeeze` without axes, where a run decides which sizes are 1: a branch for each rank."""

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

from .....dialects.core.errors import Undecided
from ..graph import Named

AXES_ARE_AN_INPUT = 13
"""The version of the operator from which on its axes are an input."""

MOST_UNKNOWN = 4
"""Of more sizes than these, there are too many branches."""


class RankUndecided(Undecided):
    """A `Squeeze` drops the axes `ones` and each of `unknown` whose size is 1 in a run."""

    def __init__(self, message: str, ones: Sequence[int], unknown: Sequence[int]) -> None:
        super().__init__(message)
        self.ones = tuple(ones)
        self.unknown = tuple(unknown)


def squeezed_in_branches(named: Named, undecided: RankUndecided, opset: int) -> list[Named]:
    """Return nodes that do what a `Squeeze` does, by an `If` for each unknown size.

    The last of them has the name of the `Squeeze`.
    """
    x, (y,) = named.proto.input[0], named.proto.output
    shape = f"{named.name}/shape"
    before = [helper.make_node("Shape", [x], [shape], shape)]
    conditions: list[str] = []
    for axis in undecided.unknown:
        size, at, one = (f"{named.name}/{what}{axis}" for what in ("size", "axis", "one"))
        before += [
            _numbers(at, axis),
            _numbers(one, 1),
            helper.make_node("Gather", [shape, at], [size], size),
            helper.make_node("Equal", [size, one], [f"{size}_is_1"], f"{size}_is_1"),
        ]
        conditions.append(f"{size}_is_1")
    tests = list(zip(undecided.unknown, conditions, strict=True))
    *others, last = _branches(named.name, x, y, undecided.ones, tests, opset)
    return [Named(each.name, each) for each in (*before, *others)] + [Named(named.name, last)]


def _branches(
    name: str, x: str, y: str, dropped: Sequence[int], tests: Sequence[tuple[int, str]], opset: int
) -> list[onnx.NodeProto]:
    """Return nodes that drop axes, and those of the axes in tests whose condition is true."""
    if not tests:
        return _squeeze(name, x, y, sorted(dropped), opset)
    (axis, condition), *rest = tests
    graphs: dict[str, onnx.GraphProto] = {}
    for branch, axes in (("then_branch", [*dropped, axis]), ("else_branch", [*dropped])):
        inner = f"{y}/{branch}"
        nodes = _branches(f"{name}/{branch}", x, inner, axes, rest, opset)
        graphs[branch] = helper.make_graph(nodes, branch, [], [onnx.ValueInfoProto(name=inner)])
    chosen = helper.make_node("If", [condition], [y], name)
    chosen.attribute.extend(helper.make_attribute(*each) for each in graphs.items())
    return [chosen]


def _squeeze(name: str, x: str, y: str, axes: list[int], opset: int) -> list[onnx.NodeProto]:
    if not axes:
        return [helper.make_node("Identity", [x], [y], name)]
    if opset < AXES_ARE_AN_INPUT:
        return [helper.make_node("Squeeze", [x], [y], name, axes=axes)]
    return [
        _numbers(f"{name}/axes", axes),
        helper.make_node("Squeeze", [x, f"{name}/axes"], [y], name),
    ]


def _numbers(name: str, numbers: int | list[int]) -> onnx.NodeProto:
    value = numpy_helper.from_array(np.array(numbers, np.int64))
    return helper.make_node("Constant", [], [name], name, value=value)
