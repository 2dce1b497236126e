"""Let loads run ahead and stores lag behind, so that all engines are busy at once."""

from collections.abc import Sequence

from ....dialects import dla
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, ops
from ....dialects.dla.buffers import BufferOp, touched
from ....dialects.dla.types import REGIONS, WEIGHTS, buffer_of
from ....passes.core import Pass
from ..layout.memory_layout import MemoryLayout, layout_of

FILLED = {WEIGHTS: 90}
"""How many percent of a memory loads may fill at most: chunks of many sizes leave holes in it."""


class Prefetch(Pass):
    """Move loads above the computations before them, and stores below the next one.

    A load goes up past `depth` computations, as far as what it loads is there already, and what is
    then there at once takes at most `room` percent of a memory: so a tile is loaded while the one
    before it is computed, into another buffer. Weights leave a tenth of theirs free. A store goes
    down past one. No room, no change.

        dla.conv_tile %a; dla.load %b; dla.conv_tile %b
            =>   dla.load %b; dla.conv_tile %a; dla.conv_tile %b
    """

    target: str = "vanilla"
    description: str = ""
    room: int = 100
    depth: int = 2

    def run(self, module: Module) -> None:
        layout = layout_of(self.target, self.description)
        if not self.room:
            return
        with module.operation.context:
            for op in ops(module.operation):
                if isinstance(op, dla.Program) and op.target == self.target:
                    _reorder(op, _Order(op, layout, self.depth, self.room).order())


def _reorder(program: dla.Program, order: Sequence[BufferOp]) -> None:
    """Put ops in an order, each buffer in front of the first one that touches it."""
    end = list(program.block.operations)[-1].operation
    moved: set[ir.Value] = set()
    for op in order:
        for value in op.buffers.values():
            if value not in moved and isinstance(value, ir.OpResult):
                value.owner.operation.move_before(end)
                moved.add(value)
        op.operation.move_before(end)


class _Order:
    """Build an order op by op; `usage` is what each memory holds while an op of it runs."""

    def __init__(self, program: dla.Program, layout: MemoryLayout, depth: int, room: int) -> None:
        self.ops = program.ops
        self.layout = layout
        self.depth = depth
        self.room = room
        self.uses: dict[ir.Value, int] = {}
        self.sizes: dict[ir.Value, tuple[str, int]] = {}
        self.touches = {id(op): touched(op) for op in self.ops}
        for op in self.ops:
            for value in _held(op):
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
        """Say whether memories have room for what an op needs beside all that is there."""
        more = self._more(op)
        return all(self._fits(space, self.live.get(space, 0) + n) for space, n in more.items())

    def _more(self, op: BufferOp) -> dict[str, int]:
        more: dict[str, int] = {}
        for value in _held(op):
            if value not in self.alive:
                space, size = self.sizes[value]
                more[space] = more.get(space, 0) + size
        return more

    def _fits(self, space: str, size: int) -> bool:
        most = self.layout.capacity(space) * FILLED.get(space, 100) // 100
        return size <= most * self.room // 100

    def _place(self, load: BufferOp) -> int:
        """Return where a load may go: past computations, but not past what it depends on."""
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
        """Put an op into the order; what it brings is there from then on."""
        more = self._more(op)
        before = self.usage[place] if place < len(self.usage) else self.live
        self.made.insert(place, op)
        self.usage.insert(place, dict(before))
        for space, size in more.items():
            self.live[space] = self.live.get(space, 0) + size
            for used in self.usage[place:]:
                used[space] = used.get(space, 0) + size
        for value in _held(op):
            self.alive.add(value)
            self.uses[value] -= 1
            if not self.uses[value]:
                space, size = self.sizes[value]
                self.live[space] -= size

    def _conflict(self, first: BufferOp, second: BufferOp) -> bool:
        """Say whether two ops touch a buffer that one of them writes."""
        for value, _, access in self.touches[id(first)]:
            for other, _, second_access in self.touches[id(second)]:
                if value == other and (access.writes or second_access.writes):
                    return True
        return False


def _held(op: BufferOp) -> list[ir.Value]:
    """List the buffers in the memories inside that must be there while an op runs.

    One that it names counts even if it touches nothing of it, as sums that are not finished do not
    touch the result.
    """
    values = dict.fromkeys(op.buffers.values())
    return [value for value in values if buffer_of(value.type).space not in REGIONS]
