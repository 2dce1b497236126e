"""Lowering of padding: boxes of the result that are views of the input, or constant."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.dim import highest, lowest
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.tensor import Shape
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..registry import accepts, template

MOST_BOXES = 1024
"""The most boxes of one result: each becomes a loop nest of its own."""


@dataclass(frozen=True)
class Run:
    """Describe a run of an axis of the result: its start, its size, and its source.

    The run is every `step`-th element of the input from `source` on; constant if that is None.
    """

    start: Size
    size: Size
    source: Size | None
    step: int = 1


@accepts(tri.Pad)
def has_few_boxes(op: tri.Pad) -> bool:
    """Repeats the input at most 1024 times in modes 'reflect' and 'wrap'."""
    shape = tensor_of(op.x.type).shape
    sides = zip(shape, op.pads[: len(shape)], op.pads[len(shape) :], strict=True)
    return math.prod(most_runs(*side, op.mode) for side in sides) <= MOST_BOXES


def most_runs(size: Size, before: Size, after: Size, mode: str) -> Size:
    """Return a bound on the number of runs of one axis, without listing them."""
    if framed(size, before, after, mode) is not None:
        return 1 + sum(not at_least(0, pad) for pad in (before, after))
    kept = size + min(before, 0) + min(after, 0)
    added = max(before, 0), max(after, 0)
    if kept == 1:
        return 1 + sum(size > 0 for size in added)
    period = max(kept if mode == "wrap" else kept - 1, 1)
    return 1 + sum(-(-size // period) + 1 for size in added if size)


@template(tri.Pad)
def lower_pad(op: tri.Pad, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue) -> None:
    fill_border(op, x.shape, epilogue)
    for box in _boxes_of(op, x.shape):
        if all(run.source is not None for run in box):
            part = _window(epilogue, box)
            sources = [0 if run.source is None else run.source for run in box]
            part.emit_copy(x.slice(sources, part.shape, [run.step for run in box]))


def fill_border(op: tri.Pad, shape: Shape, epilogue: Epilogue) -> None:
    """Fill the constant elements that a pad adds to a tensor of a shape."""
    for box in _boxes_of(op, shape):
        if any(run.source is None for run in box):
            _window(epilogue, box).emit_constant(op.value)


def _window(epilogue: Epilogue, box: Sequence[Run]) -> Epilogue:
    return epilogue.window([run.start for run in box], tuple(run.size for run in box))


def _boxes_of(op: tri.Pad, shape: Shape) -> Iterator[tuple[Run, ...]]:
    rank = len(shape)
    return _boxes(
        [
            list(runs(size, op.pads[axis], op.pads[rank + axis], op.mode))
            for axis, size in enumerate(shape)
        ]
    )


def runs(size: Size, before: Size, after: Size, mode: str) -> Iterator[Run]:
    """Cut one axis of the result into runs, in order; negative pads cut elements off first."""
    if (found := framed(size, before, after, mode)) is not None:
        yield from (run for run in found if run.size != 0)
        return
    cut = max(-before, 0)
    kept = size + min(before, 0) + min(after, 0)
    start, stop = -max(before, 0), kept + max(after, 0)
    while not at_least(start, stop):
        run = _run(start, kept, mode, start < 0)
        count = min(run.size, stop - start)
        source = None if run.source is None else run.source + cut
        yield Run(start + max(before, 0), count, source, run.step)
        start += count


def framed(size: Size, before: Size, after: Size, mode: str) -> tuple[Run, Run, Run] | None:
    """Return what is before the kept elements of an axis, these, and what is behind them.

    None where that may be more than one run on a side.
    """
    cut, front, back = highest(-before, 0), highest(before, 0), highest(after, 0)
    kept = size + lowest(before, 0) + lowest(after, 0)
    middle, end = Run(front, kept, cut), front + kept
    if mode == "constant" or front == back == 0:
        return Run(0, front, None), middle, Run(end, back, None)
    if mode == "edge":
        return Run(0, front, cut, 0), middle, Run(end, back, cut + kept - 1, 0)
    if mode == "reflect" and at_least(kept - 1, highest(front, back)):
        return Run(0, front, cut + front, -1), middle, Run(end, back, cut + kept - 2, -1)
    return None


def _run(place: Size, kept: Size, mode: str, before: bool) -> Run:
    """Return the longest run from a place on; place 0 is the first element that is kept."""
    if place >= 0 and not at_least(place, kept):
        return Run(place, kept - place, place)
    beyond = -place if before else 2**63
    if kept == 1:
        return Run(place, beyond, 0 if before else kept - 1, 0)
    if mode == "wrap":
        return Run(place, kept - place % kept, place % kept)
    phase = place % (2 * kept - 2)
    if phase < kept - 1:
        return Run(place, kept - 1 - phase, phase)
    return Run(place, 2 * kept - 2 - phase, 2 * kept - 2 - phase, -1)


def _boxes(axes: list[list[Run]]) -> Iterator[tuple[Run, ...]]:
    """Yield boxes of the result that cover it once; constant ones are as large as can be."""
    for number, runs_of_axis in enumerate(axes):
        for run in runs_of_axis:
            if run.source is None:
                inner = [[r for r in axis if r.source is not None] for axis in axes[:number]]
                outer = [[_whole(axis)] for axis in axes[number + 1 :]]
                yield from product(*inner, [run], *outer)
    yield from product(*[[r for r in axis if r.source is not None] for axis in axes])


def _whole(axis: list[Run]) -> Run:
    return Run(0, sum(run.size for run in axis), 0)
