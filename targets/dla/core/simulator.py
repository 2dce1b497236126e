"""Simulate a stream of packets: bit for bit, with every access checked.

Each engine runs its packets in order; a packet starts when its waits are met. Any order that the
waits allow must give the same result: a seed draws one at random, so that a missing wait shows.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from .extent import Extent, extent_fault, repeats, share_bytes
from .packet import InstructionSet, Packet, Placed, addresses_fault
from .simulator_state import SimulatorState
from .timeline import LEGEND, shade

CONSTANTS = "dram.constants"
"""The space that is filled once, for all runs."""


@dataclass(frozen=True)
class PacketRun:
    """The run of a packet: its number in the stream, its engine and its cycles."""

    number: int
    engine: str
    start: int
    end: int
    name: str


@dataclass(frozen=True)
class Report:
    """The costs of a simulation: the runs of all packets by their start, and bytes moved."""

    runs: tuple[PacketRun, ...]
    bytes_moved: Mapping[str, int]

    @property
    def cycles(self) -> int:
        """Return when the last packet ends."""
        return max((run.end for run in self.runs), default=0)

    def busy(self, engine: str) -> int:
        """Return the cycles that an engine is busy."""
        return sum(run.end - run.start for run in self.runs if run.engine == engine)

    @property
    def engines(self) -> list[str]:
        """Return the engines that ran any packet, by name."""
        return sorted({run.engine for run in self.runs})

    def numbers(self) -> dict[str, Any]:
        """Return all but the timeline, as JSON values."""
        busy = {engine: self.busy(engine) for engine in self.engines}
        return {
            "packets": len(self.runs),
            "cycles": self.cycles,
            "busy_cycles": busy,
            "utilisation": {name: count / max(self.cycles, 1) for name, count in busy.items()},
            "bytes_moved": dict(sorted(self.bytes_moved.items())),
        }

    def text(self, width: int = 64) -> str:
        """Draw the timeline: one line per engine, darker where it is busier."""
        lines = [f"{self.cycles} cycles"]
        lines += [f"{name}: {count} bytes" for name, count in sorted(self.bytes_moved.items())]
        longest = max(map(len, self.engines), default=0)
        for engine in self.engines:
            spans = [(run.start, run.end) for run in self.runs if run.engine == engine]
            marks = shade(spans, max(self.cycles, 1), width)
            percent = 100 * self.busy(engine) / max(self.cycles, 1)
            lines.append(f"{engine:{longest}} |{marks}| {percent:5.1f} %")
        return "\n".join([*lines, LEGEND] if self.engines else lines)


def queues(instructions: InstructionSet, placed: Sequence[Placed]) -> dict[str, list[int]]:
    """Return the numbers of each engine's packets, in order."""
    made: dict[str, list[int]] = {engine: [] for engine in instructions.engines}
    for number, each in enumerate(placed):
        made[instructions.form(each.packet).engine].append(number)
    return made


def stream_fault(placed: Sequence[Placed]) -> str | None:
    """Return why packets do not end exactly once, with the last one, or None."""
    ends = [number for number, each in enumerate(placed) if each.packet.ends]
    if not ends:
        return "the stream has no end"
    if ends[0] != len(placed) - 1:
        return f"packet {ends[0]} ends the stream, {len(placed) - 1 - ends[0]} more follow"
    return None


def simulate(
    instructions: InstructionSet, code: bytes, state: SimulatorState, seed: int | None = None
) -> Report:
    """Run a stream to its end and return its costs; results are in the state.

    Without a seed packets run in the stream's order as far as waits allow. Raises CompileError with
    the packet for an illegal operation, and with the heads of all queues for a deadlock.
    """
    return simulate_packets(instructions, instructions.decode_stream(code), state, seed)


def simulate_packets(
    instructions: InstructionSet,
    placed: Sequence[Placed],
    state: SimulatorState,
    seed: int | None = None,
) -> Report:
    """Run a decoded stream, as `simulate` does."""
    fault = stream_fault(placed)
    if fault is not None:
        raise CompileError(fault)
    return _Simulation(instructions, placed, state, seed).run()


class _Simulation:
    def __init__(
        self,
        instructions: InstructionSet,
        placed: Sequence[Placed],
        state: SimulatorState,
        seed: int | None,
    ) -> None:
        self.instructions = instructions
        self.placed = placed
        self.state = state
        self.random = None if seed is None else random.Random(seed)
        self.queues = queues(instructions, placed)
        self.ends: dict[str, list[int]] = {engine: [] for engine in self.queues}
        self.runs: list[PacketRun] = []
        self.moved: dict[str, int] = {}

    def run(self) -> Report:
        while any(len(self.ends[engine]) < len(queue) for engine, queue in self.queues.items()):
            ready = [engine for engine in self.queues if self._ready(engine)]
            if not ready:
                raise CompileError(self._deadlock())
            self._step(self.random.choice(ready) if self.random else min(ready, key=self._head))
        runs = sorted(self.runs, key=lambda run: (run.start, run.number))
        return Report(tuple(runs), self.moved)

    def _head(self, engine: str) -> int:
        return self.queues[engine][len(self.ends[engine])]

    def _ready(self, engine: str) -> bool:
        if len(self.ends[engine]) == len(self.queues[engine]):
            return False
        waits = self.placed[self._head(engine)].packet.waits
        return all(len(self.ends[other]) >= count for other, count in waits.items())

    def _step(self, engine: str) -> None:
        number = self._head(engine)
        packet = self.placed[number].packet
        try:
            require_legal(packet, self.state)
            packet.execute(self.state)
        except Invalid as error:
            where = f"packet {number} ({packet.name}) at offset {self.placed[number].offset:#x}"
            raise CompileError([Diagnostic(where, str(error))]) from None
        waits = [self.ends[other][count - 1] for other, count in packet.waits.items()]
        start = max([*waits, *self.ends[engine][-1:]], default=0)
        end = start + packet.cycles(self.state.description)
        self.ends[engine].append(end)
        self.runs.append(PacketRun(number, engine, start, end, packet.name))
        self._count(packet)

    def _count(self, packet: Packet) -> None:
        description = self.state.description
        for way, extents in (
            ("read", packet.reads(description)),
            ("written", packet.writes(description)),
        ):
            for extent in extents:
                key = f"{extent.space} {way}"
                self.moved[key] = self.moved.get(key, 0) + extent.bytes

    def _deadlock(self) -> str:
        heads: list[str] = []
        for engine, queue in self.queues.items():
            if len(self.ends[engine]) == len(queue):
                heads.append(f"{engine} is at its end")
                continue
            number = self._head(engine)
            packet = self.placed[number].packet
            waits = ", ".join(
                f"{other} {len(self.ends[other])}/{n}" for other, n in packet.waits.items()
            )
            heads.append(f"{engine} has packet {number} ({packet.name}), which waits for {waits}")
        return f"deadlock: {'; '.join(heads)}"


def require_legal(packet: Packet, state: SimulatorState) -> None:
    """Raise Invalid for an illegal packet, before it changes the state."""
    fault = packet_fault(packet, state)
    if fault is not None:
        raise Invalid(fault)


def packet_fault(packet: Packet, state: SimulatorState) -> str | None:
    """Return which address or extent of a packet is illegal, or None."""
    fault = addresses_fault(packet, state.description)
    if fault is not None:
        return fault
    reads, writes = packet.reads(state.description), packet.writes(state.description)
    for extent in (*reads, *writes):
        fault = extent_fault(extent, state.size(extent.space))
        if fault is not None:
            return fault
        if not extent.bytes:
            return f"touches nothing of {extent.space}, sizes must be at least 1"
    for extent in writes:
        if extent.space == CONSTANTS:
            return f"writes bytes of {extent.space}, which every run reads"
        if repeats(extent):
            return f"writes bytes of {extent.space} more than once"
    return _in_place_fault(packet, reads, writes)


def _in_place_fault(
    packet: Packet, reads: Sequence[Extent], writes: Sequence[Extent]
) -> str | None:
    for read in reads:
        for write in writes:
            if read.space != write.space or read.space == "accumulator":
                continue
            apart = read.end <= write.start or write.end <= read.start
            same = read.start == write.start and read.steps == write.steps
            if not apart and not (packet.in_place and same) and share_bytes(read, write):
                return f"writes over what it reads of {read.space}"
    return None
