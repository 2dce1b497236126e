"""Prefetch operands and delay stores, so that engines run in parallel."""

from collections.abc import Sequence

from ....dialects import dla
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, ops
from ....dialects.dla.buffers import BufferOp, touched
from ....dialects.dla.types import REGIONS, WEIGHTS, buffer_of
from ....passes.core import Pass
from ..layout.memory_layout import MemoryLayout
from ..registry import VANILLA, Configuration

FILLED = {WEIGHTS: 90}
"""Percent of a memory that loads may fill: chunks of different sizes fragment it."""


class Prefetch(Pass):
    """Move loads above the computations before them, and stores below the next one.

    A load moves up past `depth` computations at most, as long as no dependence forbids it and live
    buffers use at most `room` percent of a memory: so a tile is loaded into a second buffer while
    the one before it is computed. A tenth of the memory of weights remains free. A store moves down
    past one computation.

        dla.conv_tile %a; dla.load %b; dla.conv_tile %b
            =>   dla.load %b; dla.conv_tile %a; dla.conv_tile %b
    """

    target: Configuration = VANILLA
    room: int = 100
    depth: int = 2

    def run(self, module: Module) -> None:
        layout = MemoryLayout(self.target.description)
        if not self.room:
            return
        with module.operation.context:
            for op in ops(module.operation):
                if isinstance(op, dla.Program) and op.target == self.target.name:
                    _reorder(op, _Order(op, layout, self.depth, self.room).order())


def _reorder(program: dla.Program, order: Sequence[BufferOp]) -> None:
    """Put ops in an order, and each allocation in front of its first use."""
    end = list(program.block.operations)[-1].operation
    moved: set[ir.Value] = set()
    for op in order:
        for value in op.buffers.values():
            if value not in moved and isinstance(value, ir.OpResult):
                value.owner.operation.move_before(end)
                moved.add(value)
        op.operation.move_before(end)


class _Order:
    """Build an order op by op; `usage` is the live bytes of each memory while an op runs."""

    def __init__(self, program: dla.Program, layout: MemoryLayout, depth: int, room: int) -> None:
        self.ops = program.ops
        self.layout = layout
        self.depth = depth
        self.room = room
        self.uses: dict[ir.Value, int] = {}
        self.sizes: dict[ir.Value, tuple[str, int]] = {}
        self.touches = {id(op): touched(op) for op in self.ops}
        for op in self.ops:
            for value in _on_chip(op):
                buffer = buffer_of(value.type)
                self.uses[value] = self.uses.get(value, 0) + 1
                self.sizes[value] = (buffer.space, buffer.size_bytes)
        self.made: list[BufferOp] = []
        self.usage: list[dict[str, int]] = []
        self.live: dict[str, int] = {}
        self.alive: set[ir.Value] = set()
        self.waiting: list[dla.Store] = []

    def order(self) -> list[BufferOp]:
        """Return the ops in their new order."""
        for op in self.ops:
            if isinstance(op, dla.Store):
                self.waiting.append(op)
                continue
            if not self._room(op) or any(self._conflict(op, store) for store in self.waiting):
                self._flush()
            if isinstance(op, (dla.Load, dla.LoadWeights)):
                self._insert(op, self._place(op))
                continue
            waiting, self.waiting = self.waiting, []
            self._insert(op, len(self.made))
            for store in waiting:
                self._insert(store, len(self.made))
        self._flush()
        return self.made

    def _flush(self) -> None:
        for store in self.waiting:
            self._insert(store, len(self.made))
        self.waiting = []

    def _room(self, op: BufferOp) -> bool:
        """Report whether the buffers of an op fit beside those that are live."""
        more = self._more(op)
        return all(self._fits(space, self.live.get(space, 0) + n) for space, n in more.items())

    def _more(self, op: BufferOp) -> dict[str, int]:
        more: dict[str, int] = {}
        for value in _on_chip(op):
            if value not in self.alive:
                space, size = self.sizes[value]
                more[space] = more.get(space, 0) + size
        return more

    def _fits(self, space: str, size: int) -> bool:
        most = self.layout.capacity(space) * FILLED.get(space, 100) // 100
        return size <= most * self.room // 100

    def _place(self, load: BufferOp) -> int:
        """Return the position for a load: above computations that it does not depend on."""
        more = self._more(load)
        place, passed = len(self.made), 0
        best = place
        while place and passed < self.depth:
            op = self.made[place - 1]
            used = self.usage[place - 1]
            room = all(self._fits(space, used.get(space, 0) + n) for space, n in more.items())
            if self._conflict(load, op) or not room:
                break
            place -= 1
            if not isinstance(op, (dla.Load, dla.LoadWeights, dla.Store)):
                passed += 1
                best = place
        return best

    def _insert(self, op: BufferOp, place: int) -> None:
        """Insert an op, and count the buffers that it makes live from there on."""
        more = self._more(op)
        before = self.usage[place] if place < len(self.usage) else self.live
        self.made.insert(place, op)
        self.usage.insert(place, dict(before))
        for space, size in more.items():
            self.live[space] = self.live.get(space, 0) + size
            for used in self.usage[place:]:
                used[space] = used.get(space, 0) + size
        for value in _on_chip(op):
            self.alive.add(value)
            self.uses[value] -= 1
            if not self.uses[value]:
                space, size = self.sizes[value]
                self.live[space] -= size

    def _conflict(self, first: BufferOp, second: BufferOp) -> bool:
        """Report whether two ops access the same buffer, and one of them writes it."""
        for value, _, access in self.touches[id(first)]:
            for other, _, second_access in self.touches[id(second)]:
                if value == other and (access.writes or second_access.writes):
                    return True
        return False


def _on_chip(op: BufferOp) -> list[ir.Value]:
    """List the on-chip buffers that are live while an op runs.

    A buffer counts even if the op does not access it: a convolution without `finish` writes no
    result.
    """
    values = dict.fromkeys(op.buffers.values())
    return [value for value in values if buffer_of(value.type).space not in REGIONS]
