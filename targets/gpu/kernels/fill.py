"""Fill results whose elements are each read from somewhere."""

import math
from collections.abc import Callable, Sequence

from .buffer import Buffer
from .builder import KernelBuilder
from .coordinates import Axis, Coordinates
from .epilogue import Sink
from .spread import in_a_row
from .value import Number

Reader = Buffer | Callable[[list[Number]], Number]
"""Where the elements of a result are: seen in its shape, or by the index along each dimension."""


def fill(kernel: KernelBuilder, sinks: Sequence[Sink], readers: Sequence[Reader]) -> None:
    """Fill one sink by each reader; a program takes a part of each result."""
    used = [(s, r) for s, r in zip(sinks, readers, strict=True) if s.outputs and 0 not in s.shape]
    if len(used) == 1:
        sink, reader = used[0]
        sources = [reader] if isinstance(reader, Buffer) else []
        sink.fill(lambda at: _read(reader, at), sources)
        return
    largest = max((math.prod(sink.shape) for sink, _ in used), default=1)
    index = in_a_row(kernel, largest)
    for sink, reader in used:
        at = Coordinates(sink.shape, (Axis(sink.order, index),))
        sink.store(_read(reader, at), at)


def _read(reader: Reader, at: Coordinates) -> Number:
    return reader.load(at) if isinstance(reader, Buffer) else reader(at.indices())
