"""Verify scheduled programs: addresses, and an order of all conflicting accesses.

An op comes after the previous one on its engine, after ops that it waits for, and after all
predecessors of these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.errors import Invalid
from ..core.mlir import ir
from .access import Access
from .buffers import BufferOp, Touched, made_of, touched
from .types import BufferType

Clocks = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Touch:
    """The bytes of a space that an op accesses, from the first one to behind the last one."""

    op: int
    space: str
    first: int
    end: int
    writes: bool


def touches(ops: Sequence[BufferOp], addresses: Mapping[ir.Value, int]) -> list[Touch]:
    """List the accesses of each op.

    Raises Invalid for a buffer without an address, and for a result that overwrites its operand.
    """
    found: list[Touch] = []
    for number, op in enumerate(ops):
        here = touched(op)
        for value, buffer, access in here:
            if value not in addresses:
                raise Invalid(f"'{op.op_name}' uses a buffer in {buffer.space} without an address")
            first, end = _span(buffer, access, addresses[value])
            found.append(Touch(number, buffer.space, first, end, access.writes))
        _check_place(op, here, addresses)
    return found


def _span(buffer: BufferType, access: Access, address: int) -> tuple[int, int]:
    first, end = access.reach(buffer)
    return address + first, address + end


def _check_place(op: BufferOp, here: Sequence[Touched], addresses: Mapping[ir.Value, int]) -> None:
    """Raise Invalid if addresses make the result of an op overlap an operand in another buffer."""
    for (source, a, read), (target, b, write) in made_of(here):
        if source == target or a.space != b.space:
            continue
        first, end = _span(a, read, addresses[source])
        start, last = _span(b, write, addresses[target])
        alike = first == start and read.strides(a) == write.strides(b)
        if first < last and start < end and not (op.in_place and alike):
            where = f"'{write.operand}' at bytes of '{read.operand}'"
            raise Invalid(f"'{op.op_name}' has {where}, of which it is made")


class Order:
    """The happens-before relation of ops, as vector clocks; ops are added in program order."""

    def __init__(self, engines: Sequence[str]) -> None:
        names = list(dict.fromkeys(engines))
        self.engine = np.array([names.index(engine) for engine in engines], np.int64)
        self.index = np.zeros(len(engines), np.int64)
        self.clocks: Clocks = np.zeros((len(engines), len(names)), np.int64)
        self._last: dict[int, int] = {}

    def add(self, number: int, waits: Sequence[int] = ()) -> None:
        """Add an op, which waits for others and for the previous one on its engine."""
        engine = int(self.engine[number])
        last = self._last.get(engine)
        self.index[number] = 0 if last is None else self.index[last] + 1
        self._last[engine] = number
        for other in waits if last is None else [*waits, last]:
            self.wait(number, other)

    def wait(self, number: int, other: int) -> None:
        """Let an op that was added wait for another one."""
        clock, place = self.clocks[number], self.engine[other]
        np.maximum(clock, self.clocks[other], out=clock)
        clock[place] = max(clock[place], self.index[other] + 1)

    def before(self, others: Clocks, number: int) -> Flags:
        """Report for each of other ops whether it is complete before an op starts."""
        return self.clocks[number, self.engine[others]] > self.index[others]


class Conflicts:
    """Find for each op the earlier ones that access the same bytes, one of the two writing."""

    def __init__(self, found: Sequence[Touch]) -> None:
        self._of: dict[int, list[tuple[Touch, int]]] = {}
        self._spaces: dict[str, tuple[Clocks, Clocks, Clocks, Flags]] = {}
        by_space: dict[str, list[Touch]] = {}
        for touch in found:
            place = by_space.setdefault(touch.space, [])
            self._of.setdefault(touch.op, []).append((touch, len(place)))
            place.append(touch)
        for space, listed in by_space.items():
            self._spaces[space] = (
                np.array([t.op for t in listed]),
                np.array([t.first for t in listed]),
                np.array([t.end for t in listed]),
                np.array([t.writes for t in listed]),
            )

    def of(self, number: int) -> Clocks:
        """Return the earlier ops that conflict with an op, in ascending order."""
        met = np.zeros(number, np.bool_)
        for touch, place in self._of.get(number, []):
            ops, first, end, writes = self._spaces[touch.space]
            earlier = ops[:place]
            meets = (first[:place] < touch.end) & (end[:place] > touch.first)
            met[earlier[meets & (earlier != number) & (writes[:place] | touch.writes)]] = True
        return np.flatnonzero(met)


def check_schedule(ops: Sequence[BufferOp], addresses: Mapping[ir.Value, int]) -> None:
    """Raise Invalid unless all ops have engines, and all conflicting ones are ordered."""
    for op in ops:
        if not op.scheduled:
            raise Invalid(f"'{op.op_name}' has no engine, others have")
    numbers: dict[ir.Value, int] = {op.done[0]: number for number, op in enumerate(ops)}
    order, conflicts = Order([op.engine for op in ops]), Conflicts(touches(ops, addresses))
    for number, op in enumerate(ops):
        order.add(number, [numbers[token] for token in op.waits])
        others = conflicts.of(number)
        missed = others[~order.before(others, number)]
        if missed.size:
            other = int(missed[0])
            raise Invalid(
                f"op {number}, '{op.op_name}', touches bytes that op {other}, "
                f"'{ops[other].op_name}', touches, in no order: it must wait for it"
            )
