"""Find faults of a command stream without running it.

Packets are known by their extents alone. Happens-before follows from waits: an engine runs its
packets in order, and a wait orders a packet behind all predecessors of the awaited one.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .extent import Extent, extent_fault, share_bytes, view
from .packet import InstructionSet, Placed, addresses_fault
from .simulator import packet_fault, queues, stream_fault
from .simulator_state import SimulatorState

KINDS = (
    "end",
    "deadlock",
    "alignment",
    "out of range",
    "over capacity",
    "packet",
    "missing dependency",
    "use before load",
    "live overlap",
)


@dataclass(frozen=True)
class Finding:
    """A fault: its kind, its packet, and a message."""

    kind: str
    packet: int
    message: str

    def __str__(self) -> str:
        return f"packet {self.packet}: {self.kind}: {self.message}"


@dataclass(frozen=True)
class BufferRange:
    """The bytes that an allocator gave to a value, from its first packet to its last one."""

    name: str
    space: str
    start: int
    bytes: int
    first: int
    last: int

    @property
    def extent(self) -> Extent:
        """Return the buffer's bytes."""
        return Extent(self.space, self.start, self.bytes)


def lint(
    instructions: InstructionSet,
    code: bytes,
    regions: Mapping[str, int],
    buffers: Sequence[BufferRange] = (),
    filled: Sequence[str] = ("constants", "inputs"),
) -> list[Finding]:
    """Return the faults of a stream; `filled` regions are written before it starts.

    Raises CompileError if the code is no stream of packets.
    """
    placed = instructions.decode_stream(code)
    linter = _Linter(instructions, placed, SimulatorState(instructions.description, regions))
    return linter.findings(buffers, filled)


class _Linter:
    def __init__(
        self, instructions: InstructionSet, placed: Sequence[Placed], state: SimulatorState
    ) -> None:
        self.instructions = instructions
        self.placed = placed
        self.state = state
        self.queues = queues(instructions, placed)
        self.engine = np.zeros(len(placed), np.int64)
        self.index = np.zeros(len(placed), np.int64)
        for number, queue in enumerate(self.queues.values()):
            self.engine[queue] = number
            self.index[queue] = np.arange(len(queue))
        self.clocks = np.zeros((len(placed), len(self.queues)), np.int64)
        self.found: list[Finding] = []

    def findings(self, buffers: Sequence[BufferRange], filled: Sequence[str]) -> list[Finding]:
        fault = stream_fault(self.placed)
        if fault is not None:
            self.add("end", len(self.placed) - 1, fault)
        legal = [self.in_range(number) for number in range(len(self.placed))]
        order = self.order()
        if all(legal) and len(order) == len(self.placed):
            self.dependencies()
            self.uses(order, filled)
        if len(order) == len(self.placed):
            self.liveness(buffers)
        return sorted(self.found, key=lambda finding: (finding.packet, finding.kind))

    def add(self, kind: str, packet: int, message: str) -> None:
        self.found.append(Finding(kind, packet, message))

    def in_range(self, number: int) -> bool:
        """Check the addresses of a packet; return whether further checks can use it."""
        packet, description = self.placed[number].packet, self.state.description
        misaligned = addresses_fault(packet, description)
        if misaligned is not None:
            self.add("alignment", number, misaligned)
        legal = True
        for extent in (*packet.reads(description), *packet.writes(description)):
            fault = extent_fault(extent, self.state.size(extent.space))
            if fault is not None:
                kind = "over capacity" if extent.space == "accumulator" else "out of range"
                self.add(kind, number, fault)
                legal = False
        if not legal or misaligned is not None:
            return legal
        fault = packet_fault(packet, self.state)
        if fault is not None:
            self.add("packet", number, fault)
        return fault is None

    def order(self) -> list[int]:
        """Return packets in an order that waits allow, and record the vector clock of each."""
        done = dict.fromkeys(self.queues, 0)
        order: list[int] = []
        while True:
            heads = {e: queue[done[e]] for e, queue in self.queues.items() if done[e] < len(queue)}
            ready = [engine for engine, head in heads.items() if self._met(head, done)]
            if not ready:
                break
            engine = min(ready, key=heads.__getitem__)
            self._note(heads[engine])
            order.append(heads[engine])
            done[engine] += 1
        for engine, queue in self.queues.items():
            if done[engine] < len(queue):
                number = queue[done[engine]]
                waits = dict(self.placed[number].packet.waits)
                self.add("deadlock", number, f"head of {engine} waits for {waits}, done {done}")
        return order

    def _met(self, number: int, done: Mapping[str, int]) -> bool:
        return all(done[e] >= count for e, count in self.placed[number].packet.waits.items())

    def _note(self, number: int) -> None:
        clock = self.clocks[number]
        engine, index = int(self.engine[number]), int(self.index[number])
        names = list(self.queues)
        befores: dict[str, int] = {names[engine]: index} if index else {}
        for name, count in self.placed[number].packet.waits.items():
            befores[name] = max(befores.get(name, 0), count)
        for name, count in befores.items():
            last = self.queues[name][count - 1]
            np.maximum(clock, self.clocks[last], out=clock)
            clock[names.index(name)] = max(clock[names.index(name)], count)

    def before(self, first: int | npt.NDArray[np.int64], second: int) -> npt.NDArray[np.bool_]:
        """Report which packets are complete before another starts."""
        return self.clocks[second, self.engine[first]] > self.index[first]

    def dependencies(self) -> None:
        """Find unordered pairs of packets that access the same bytes, one writing."""
        description = self.state.description
        touched: dict[str, list[tuple[int, bool, Extent]]] = {}
        for number, placed in enumerate(self.placed):
            for extent in placed.packet.reads(description):
                touched.setdefault(extent.space, []).append((number, False, extent))
            for extent in placed.packet.writes(description):
                touched.setdefault(extent.space, []).append((number, True, extent))
        for touches in touched.values():
            self._unordered(touches)

    def _unordered(self, touches: Sequence[tuple[int, bool, Extent]]) -> None:
        numbers = np.array([number for number, _, _ in touches])
        writes = np.array([writes for _, writes, _ in touches])
        starts = np.array([extent.start for _, _, extent in touches])
        ends = np.array([extent.end for _, _, extent in touches])
        for place, earlier in self._unsettled(numbers):
            number, is_write, extent = touches[place]
            meets = (starts[earlier] < extent.end) & (ends[earlier] > extent.start)
            meets &= (writes[earlier] | is_write) & (numbers[earlier] != number)
            meets &= self.clocks[numbers[earlier], self.engine[number]] <= self.index[number]
            for other in map(int, earlier[meets]):
                if share_bytes(touches[other][2], extent):
                    way = "writes" if is_write else "reads"
                    message = f"{way} bytes of {extent.space} that packet {numbers[other]} "
                    message += f"{'writes' if writes[other] else 'reads'}, in no order"
                    self.add("missing dependency", number, message)

    def _unsettled(
        self, numbers: npt.NDArray[np.int64]
    ) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
        """Yield each position in a list of packets with earlier positions, by engine.

        Packets that are surely complete before are omitted. Those of an engine are in order, so
        that only the last ones remain: not all pairs are compared.
        """
        placed = [np.flatnonzero(self.engine[numbers] == e) for e in range(len(self.queues))]
        indices = [self.index[numbers[places]].tolist() for places in placed]
        counts = [0] * len(placed)
        for place, number in enumerate(map(int, numbers)):
            for engine, (places, known) in enumerate(zip(placed, indices, strict=True)):
                first = bisect_left(known, int(self.clocks[number, engine]))
                if first < counts[engine]:
                    yield place, places[first : counts[engine]]
            counts[self.engine[number]] += 1

    def uses(self, order: Sequence[int], filled: Sequence[str]) -> None:
        """Find reads of bytes that were never written."""
        description, written = self.state.description, self.state.written
        for region in filled:
            if f"dram.{region}" in written:
                written[f"dram.{region}"][:] = True
        for number in order:
            packet = self.placed[number].packet
            for extent in packet.reads(description):
                if not view(written[extent.space], extent).all():
                    message = f"reads bytes of {extent.space} that nothing wrote before"
                    self.add("use before load", number, message)
            for extent in packet.writes(description):
                view(written[extent.space], extent)[...] = True

    def liveness(self, buffers: Sequence[BufferRange]) -> None:
        """Find buffers that share bytes in overlapping live ranges, or exceed their memory."""
        for number, buffer in enumerate(buffers):
            fault = extent_fault(buffer.extent, self.state.size(buffer.space))
            if fault is not None:
                self.add("over capacity", buffer.first, f"buffer {buffer.name} {fault}")
            for other in buffers[:number]:
                if self._apart(buffer, other) or self._apart(other, buffer):
                    continue
                if share_bytes(buffer.extent, other.extent):
                    message = f"buffers {other.name} and {buffer.name} share bytes of "
                    self.add("live overlap", buffer.first, f"{message}{buffer.space}")

    def _apart(self, first: BufferRange, second: BufferRange) -> bool:
        return bool(self.before(first.last, second.first))
