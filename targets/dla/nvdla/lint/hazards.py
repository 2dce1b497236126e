"""Find operations that use the same bytes of memory in no certain order.

Start and end of operations are ordered by notifications of completion, by the queue of an engine,
and by feeding: an operation that is fed on the fly starts before, and ends after, the one that
feeds it. An operation that is only programmed after another one may well run before that has ended.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..configuration import Configuration
from ..format.dla_task import DlaTask, Operation
from ..format.network import Cube, Event, Precision, Storage
from ..format.operations import (
    BdmaSurface,
    ConvOperation,
    ConvSurface,
    SdpOperation,
    Surface,
    Transfer,
)
from ..pixels import ImageLayout
from ..reference.stages import PER_ELEMENT
from ..stage_operands import elements_of_operands, operand_layout
from ..surfaces import SurfaceLayout, layout_of
from .features import features_of, images_of, precisions_of, used_cubes

Starts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Use:
    """Bytes of a memory that an operation reads or writes: pieces of `size` bytes."""

    operation: Operation
    what: str
    is_write: bool
    memory: int
    starts: Starts
    size: int

    def overlaps(self, other: "Use") -> bool:
        """Report whether a byte is used by both."""
        if self.memory != other.memory:
            return False
        after = np.searchsorted(other.starts, self.starts + self.size)
        before = np.searchsorted(other.starts, self.starts - other.size, "right")
        return bool((after > before).any())


def hazards(
    task: DlaTask, chains: Sequence[Sequence[int]], configuration: Configuration
) -> Iterator[tuple[str, str]]:
    """Yield operations and messages; all operations must run, and be in their addresses."""
    order = _Order(task, chains)
    uses = [use for operation in task.operations for use in _uses(operation, task, configuration)]
    writes = [use for use in uses if use.is_write]
    for number, write in enumerate(writes):
        for use in (*(each for each in uses if not each.is_write), *writes[number + 1 :]):
            first, second = write.operation.number, use.operation.number
            if first == second or order.is_certain(first, second) or not write.overlaps(use):
                continue
            verb = "writes" if use.is_write else "reads"
            message = f"{verb} '{use.what}', {write.operation} writes the same bytes"
            yield str(use.operation), f"{message}, and neither waits for the other"


class _Order:
    """Which of two events is certain to be first.

    Event 2 i is the start of operation i, event 2 i + 1 its end.
    """

    def __init__(self, task: DlaTask, chains: Sequence[Sequence[int]]) -> None:
        count = 2 * len(task.operations)
        self.later = np.eye(count, dtype=bool)
        edges = [(2 * i, 2 * i + 1) for i in range(len(task.operations))]
        for chain in chains:
            for parent, child in pairwise(chain):
                edges += [(2 * child, 2 * parent), (2 * parent + 1, 2 * child + 1)]
        for each in task.operations:
            for engine, consumer in enumerate(each.dependency.consumers):
                is_next = engine == each.engine or consumer.event == Event.COMPLETED
                if consumer.operation != -1 and is_next:
                    edges.append((2 * each.number + 1, 2 * consumer.operation))
        self._close(edges, chains)

    def _close(self, edges: list[tuple[int, int]], chains: Sequence[Sequence[int]]) -> None:
        """Add what follows from the edges, from the last operations that run to the first."""
        following: dict[int, list[int]] = {}
        for before, after in edges:
            following.setdefault(before, []).append(after)
        done: set[int] = set()
        stack = [2 * number for chain in chains for number in chain]
        while stack:
            event = stack[-1]
            missing = [each for each in following.get(event, []) if each not in done]
            if event in done or not missing:
                stack.pop()
                done.add(event)
                for each in following.get(event, []):
                    self.later[event] |= self.later[each]
            else:
                stack += missing

    def is_certain(self, first: int, second: int) -> bool:
        """Report whether one of two operations ends before the other starts."""
        return bool(self.later[2 * first + 1, 2 * second] or self.later[2 * second + 1, 2 * first])


def _uses(operation: Operation, task: DlaTask, configuration: Configuration) -> Iterator[Use]:
    surface = operation.surface
    if isinstance(surface, BdmaSurface):
        for transfer in surface.transfers[: surface.count]:
            yield _transfer(operation, task, transfer, "source")
            yield _transfer(operation, task, transfer, "destination")
        return
    images, apart = images_of(operation.descriptor)
    batch = np.arange(images, dtype=np.int64)[:, None] * apart
    for name, cube, layout in _cubes(operation, surface, configuration):
        if cube.storage == Storage.ON_THE_FLY:
            continue
        address = task.addresses[cube.address]
        starts, size = np.zeros(1, np.int64), cube.size
        if layout is not None:
            starts, size = rows_of(layout), layout.width * layout.atom
        elif name == "source" and isinstance(surface, ConvSurface):
            starts, size = _pixels(operation, surface)
        if name in ("source", "destination"):
            starts = np.sort(starts + batch, None)
        starts = starts + (address.offset + cube.offset)
        yield Use(operation, name, name == "destination", address.mem_id, starts, size)


def _cubes(
    operation: Operation, surface: Surface, configuration: Configuration
) -> Iterator[tuple[str, Cube, SurfaceLayout | None]]:
    """Yield the cubes that an operation uses, with the layout of those that have one."""
    descriptor = operation.descriptor
    source, destination = precisions_of(descriptor)
    features = features_of(descriptor)
    stages = {}
    if isinstance(descriptor, SdpOperation):
        stages = {"x1": descriptor.x1, "x2": descriptor.x2, "y": descriptor.y}
    for name, cube in used_cubes(descriptor, surface, configuration):
        stage = stages.get(name)
        if name in features:
            precision = Precision(destination if name == "destination" else source)
            yield name, cube, layout_of(cube, configuration, precision)
        elif stage is None:
            yield name, cube, None
        elif stage.enable and stage.kind and stage.mode:
            layout = None
            if stage.mode == PER_ELEMENT:
                assert isinstance(descriptor, SdpOperation)
                elements = elements_of_operands(descriptor, configuration)
                layout = operand_layout(cube, elements, stage)
            yield name, cube, layout


def rows_of(layout: SurfaceLayout) -> Starts:
    """Return where the rows of feature data start, in order."""
    lines = np.arange(layout.height, dtype=np.int64) * layout.line_stride
    surfaces = np.arange(layout.surfaces, dtype=np.int64)[:, None] * layout.surface_stride
    return np.sort(surfaces + lines, None)


def _pixels(operation: Operation, surface: ConvSurface) -> tuple[Starts, int]:
    """Return where rows of pixels start, and how long the longest are."""
    assert isinstance(operation.descriptor, ConvOperation)
    layout = ImageLayout.of(surface, operation.descriptor.data_format)
    starts = [start for start, _ in layout.rows()]
    return np.sort(np.array(starts, np.int64)), max(size for _, size in layout.rows())


def _transfer(operation: Operation, task: DlaTask, transfer: Transfer, end: str) -> Use:
    index: int = getattr(transfer, end)
    address = task.addresses[index]
    lines = np.arange(transfer.line_repeat, dtype=np.int64) * getattr(transfer, f"{end}_line")
    surfaces = np.arange(transfer.surface_repeat, dtype=np.int64)[:, None]
    starts = surfaces * getattr(transfer, f"{end}_surface") + lines + address.offset
    is_write = end == "destination"
    return Use(operation, end, is_write, address.mem_id, np.sort(starts, None), transfer.line_size)
