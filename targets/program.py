"""Lay out a placed module: where every value lives, and which steps run in which order."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..dialects import tri
from ..dialects.core.attributes import tensor_of
from ..dialects.core.location import value_names
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module
from ..dialects.core.op import Op, view
from ..dialects.core.tensor import Array, Tensor
from ..runtime.manifest import ARENA, FIRST_PORT, WEIGHTS
from .memory import ALIGNMENT, Interval, Plan, plan_memory


@dataclass(frozen=True)
class Place:
    """Say where a tensor lives: so many bytes into one of the program's bases.

    The bases are those of the manifest: the arenas and the weights of host and device, then the
    inputs and the outputs in order. Threads but the first have private memory so many bytes into
    what is their own.
    """

    base: int
    offset: int
    own: int | None = None


@dataclass(frozen=True)
class Scratch:
    """Ask for memory that a call needs while it runs; private memory for each of its threads."""

    tensor: Tensor
    private: bool = False


@dataclass(frozen=True)
class Call:
    """Run one group on its target; `scratch` is memory it needs meanwhile."""

    group: tri.Group
    operands: tuple[ir.Value, ...]
    results: tuple[ir.Value, ...]
    scratch: tuple[Scratch, ...] = ()


@dataclass
class Program:
    """Hold the calls of a model in order and a place for every value."""

    calls: list[Call]
    places: dict[ir.Value, Place]
    scratch: list[tuple[Place, ...]]
    weights: list[tuple[int, Array]]
    weight_bytes: int
    thread_bytes: int
    memory: Plan
    inputs: list[ir.Value]
    outputs: list[ir.Value]
    names: dict[ir.Value, str] = field(default_factory=dict["ir.Value", str])


def lay_out(module: Module, calls: Sequence[Call]) -> Program:
    """Plan the memory of a placed module whose groups are the given calls, in order."""
    layout = _Layout(module, list(calls))
    return layout.program()


class _Layout:
    def __init__(self, module: Module, calls: list[Call]) -> None:
        self.module = module
        self.calls = calls
        block = module.main.regions[0].blocks[0]
        self.inputs: list[ir.Value] = list(block.arguments)
        self.roots: dict[ir.Value, ir.Value] = {}
        self.constants: list[Op] = []
        self.names: dict[ir.Value, str] = {}
        self.outputs: list[ir.Value] = []
        for operation in block.operations:
            self._visit(operation.operation)

    def _visit(self, operation: ir.Operation) -> None:
        op = view(operation)
        if operation.name == "func.return":
            self.outputs = list(operation.operands)
        elif isinstance(op, tri.Reshape):
            self.roots[op.y] = self.root(op.x)
        elif isinstance(op, (tri.Constant, tri.Weight)):
            self.constants.append(op)
        if op is not None:
            names = value_names(op.location)
            self.names |= dict(zip(op.results, names, strict=False))

    def root(self, value: ir.Value) -> ir.Value:
        """Return the value whose memory a value is a view of."""
        return self.roots.get(value, value)

    def program(self) -> Program:
        places = {v: Place(FIRST_PORT + i, 0) for i, v in enumerate(self.inputs)}
        weights, weight_bytes = self._weights(places)
        self._place_outputs(places)
        intervals = self._intervals(places)
        memory = plan_memory(intervals)
        for interval in intervals:
            if isinstance(interval.key, ir.Value):
                places[interval.key] = Place(ARENA, memory.offsets[interval.key])
        scratch = [self._scratch(step, memory) for step in range(len(self.calls))]
        for value, root in self.roots.items():
            places[value] = places[root]
        return Program(
            self.calls,
            places,
            scratch,
            weights,
            weight_bytes,
            max((_own_offsets(call.scratch)[-1] for call in self.calls), default=0),
            memory,
            self.inputs,
            self.outputs,
            self.names,
        )

    def _scratch(self, step: int, memory: Plan) -> tuple[Place, ...]:
        scratch = self.calls[step].scratch
        return tuple(
            Place(ARENA, memory.offsets[step, index], own if each.private else None)
            for index, (each, own) in enumerate(zip(scratch, _own_offsets(scratch), strict=False))
        )

    def _weights(self, places: dict[ir.Value, Place]) -> tuple[list[tuple[int, Array]], int]:
        """Give each distinct constant an offset in the weights; equal bytes are stored once."""
        used = {self.root(v) for call in self.calls for v in call.operands}
        used |= {self.root(v) for v in self.outputs}
        stored: list[tuple[int, Array]] = []
        known: dict[tuple[int, bytes], int] = {}
        end = 0
        for op in self.constants:
            value = op.results[0]
            if value not in used:
                continue
            array = self._data(op)
            key = (array.nbytes, _digest(array))
            if key not in known:
                known[key] = end
                stored.append((end, array))
                end += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
            places[value] = Place(WEIGHTS, known[key])
        return stored, end

    def _data(self, op: Op) -> Array:
        if isinstance(op, tri.Weight):
            return self.module.weights[op.name]
        assert isinstance(op, tri.Constant)
        return op.value

    def _place_outputs(self, places: dict[ir.Value, Place]) -> None:
        """Let values that leave the model be written where the caller wants them."""
        for index, value in enumerate(self.outputs):
            root = self.root(value)
            if root not in places:
                places[root] = Place(FIRST_PORT + len(self.inputs) + index, 0)

    def _intervals(self, places: dict[ir.Value, Place]) -> list[Interval]:
        first: dict[ir.Value, int] = {}
        last: dict[ir.Value, int] = {}
        intervals: list[Interval] = []
        for step, call in enumerate(self.calls):
            for value in call.results:
                first[value] = last[value] = step
            for value in call.operands:
                last[self.root(value)] = step
            for index, scratch in enumerate(call.scratch):
                intervals.append(Interval((step, index), scratch.tensor.size_bytes, step, step))
        for value, step in first.items():
            if value not in places:
                size = tensor_of(value.type).size_bytes
                intervals.append(Interval(value, size, step, last[value]))
        return intervals


def _own_offsets(scratch: Sequence[Scratch]) -> list[int]:
    """Return where private memory of a call begins in that of a thread, and where all of it ends.

    Calls use it one after another.
    """
    ends = [0]
    for each in scratch:
        size = each.tensor.size_bytes if each.private else 0
        ends.append(ends[-1] + -(-size // ALIGNMENT) * ALIGNMENT)
    return ends


def _digest(array: Array) -> bytes:
    import hashlib

    contiguous = np.ascontiguousarray(array)
    return hashlib.blake2b(contiguous.view(np.uint8).reshape(-1).data, digest_size=16).digest()
