"""Lay out a placed module: where every value lives, and which steps run in which order."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..dialects import tri
from ..dialects.core.attributes import order_of, tensor_of
from ..dialects.core.errors import CompileError, Diagnostic
from ..dialects.core.location import describe, value_names
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module
from ..dialects.core.op import Op, view
from ..dialects.core.tensor import Array, Tensor
from ..runtime.manifest import ARENA, DEVICE_ARENA, DEVICE_WEIGHTS, FIRST_PORT, PREPARED, WEIGHTS
from .core import DEVICE_MEMORY, HOST_MEMORY
from .load_calls import load_groups, load_intervals
from .memories import VIEWS, lies_as_operand, memory_of, read_memory
from .memory import ALIGNMENT, Interval, Plan, plan_memory

BASES = {HOST_MEMORY: (ARENA, WEIGHTS), DEVICE_MEMORY: (DEVICE_ARENA, DEVICE_WEIGHTS)}
"""The bases of what a run computes and of what it is given, in each memory."""


@dataclass(frozen=True)
class Place:
    """Say where a tensor lives: so many bytes into one of the program's bases.

    The bases are those of the manifest: the arenas and the weights of host and device, what is
    prepared, then the inputs and the outputs in order. Threads but the first have private memory so
    many bytes into what is their own.
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
    """Do what an op of the model's function says; `scratch` is memory it needs meanwhile.

    The op is a group, a launch of a kernel, or a copy.
    """

    op: Op
    operands: tuple[ir.Value, ...]
    results: tuple[ir.Value, ...]
    scratch: tuple[Scratch, ...] = ()

    @staticmethod
    def of(op: Op, scratch: Sequence[Scratch] = ()) -> "Call":
        """Return the call of an op with all its operands and results."""
        return Call(op, tuple(op.operation.operands), tuple(op.results), tuple(scratch))


@dataclass(frozen=True)
class Storage:
    """Say what one memory holds: the plan of its arena, and the weights at their offsets."""

    plan: Plan
    weights: list[tuple[int, Array]]
    weight_bytes: int


@dataclass
class Program:
    """Hold the calls of a model in order and a place for every value.

    The first `load_count` calls depend on no input: they run once, when the package is loaded, and
    all their memory is in `prepared_bytes`. Constants have a place in each memory where they are
    read.
    """

    calls: list[Call]
    load_count: int
    prepared_bytes: int
    places: dict[ir.Value, Place]
    constants: dict[tuple[ir.Value, str], Place]
    scratch: list[tuple[Place, ...]]
    storage: dict[str, Storage]
    thread_bytes: int
    inputs: list[ir.Value]
    outputs: list[ir.Value]
    names: dict[ir.Value, str] = field(default_factory=dict["ir.Value", str])

    def place(self, value: ir.Value, memory: str = HOST_MEMORY) -> Place:
        """Return where a value lies; of a constant, in a memory."""
        return self.places.get(value) or self.constants[value, memory]


def lay_out(module: Module, calls: Sequence[Call]) -> Program:
    """Plan the memory of a placed module with the given calls, in order.

    Raises CompileError for a view that does not lie in memory as its operand does.
    """
    layout = _Layout(module, list(calls))
    return layout.program()


class _Layout:
    def __init__(self, module: Module, calls: list[Call]) -> None:
        self.module = module
        block = module.main.regions[0].blocks[0]
        self.inputs: list[ir.Value] = list(block.arguments)
        self.roots: dict[ir.Value, ir.Value] = {}
        self.constants: list[Op] = []
        self.names: dict[ir.Value, str] = {}
        self.outputs: list[ir.Value] = []
        for operation in block.operations:
            self._visit(operation.operation)
        loaded = load_groups(module)
        self.load_calls = [call for call in calls if call.op in loaded]
        self.run_calls = [call for call in calls if call.op not in loaded]
        self.calls = [*self.load_calls, *self.run_calls]

    def _visit(self, operation: ir.Operation) -> None:
        op = view(operation)
        if operation.name == "func.return":
            self.outputs = list(operation.operands)
        elif isinstance(op, VIEWS):
            _check_view(op)
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
        read = self._read()
        constants: dict[tuple[ir.Value, str], Place] = {}
        weights = {memory: self._weights(memory, read, constants) for memory in BASES}
        self._place_outputs(places)
        kept = load_intervals(self.load_calls, self.run_calls, self.outputs, self.root)
        prepared = plan_memory(kept)
        _add_places(places, prepared, PREPARED)
        plans = {memory: plan_memory(self._intervals(memory, places)) for memory in BASES}
        for memory, plan in plans.items():
            _add_places(places, plan, BASES[memory][0])
        for value, root in self.roots.items():
            if root in places:
                places[value] = places[root]
            for memory in BASES:
                if (root, memory) in constants:
                    constants[value, memory] = constants[root, memory]
        return Program(
            self.calls,
            len(self.load_calls),
            prepared.size_bytes,
            places,
            constants,
            [
                self._scratch(step, PREPARED, prepared)
                if step < len(self.load_calls)
                else self._scratch(step, ARENA, plans[HOST_MEMORY])
                for step in range(len(self.calls))
            ],
            {memory: Storage(plans[memory], *weights[memory]) for memory in BASES},
            max((_own_offsets(call.scratch)[-1] for call in self.calls), default=0),
            self.inputs,
            self.outputs,
            self.names,
        )

    def _read(self) -> set[tuple[ir.Value, str]]:
        """List which values are read, and in which memory."""
        read = {(self.root(v), read_memory(c.op)) for c in self.calls for v in c.operands}
        return read | {(self.root(v), HOST_MEMORY) for v in self.outputs}

    def _scratch(self, step: int, base: int, memory: Plan) -> tuple[Place, ...]:
        scratch = self.calls[step].scratch
        return tuple(
            Place(base, memory.offsets[step, index], own if each.private else None)
            for index, (each, own) in enumerate(zip(scratch, _own_offsets(scratch), strict=False))
        )

    def _weights(
        self,
        memory: str,
        read: set[tuple[ir.Value, str]],
        places: dict[tuple[ir.Value, str], Place],
    ) -> tuple[list[tuple[int, Array]], int]:
        """Give each distinct constant an offset in a memory; equal bytes are stored once."""
        stored: list[tuple[int, Array]] = []
        known: dict[tuple[int, bytes], int] = {}
        end = 0
        for op in self.constants:
            value = op.results[0]
            if (value, memory) not in read:
                continue
            array = self._data(op)
            key = (array.nbytes, _digest(array))
            if key not in known:
                known[key] = end
                stored.append((end, array))
                end += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
            places[value, memory] = Place(BASES[memory][1], known[key])
        return stored, end

    def _data(self, op: Op) -> Array:
        """Return a constant as it lies in memory."""
        assert isinstance(op, (tri.Constant, tri.Weight))
        array = self.module.weights[op.name] if isinstance(op, tri.Weight) else op.value
        return array.transpose(order_of(op.y.type))

    def _place_outputs(self, places: dict[ir.Value, Place]) -> None:
        """Let values that leave the model be written where the caller wants them."""
        constants = {op.results[0] for op in self.constants}
        constants.update(v for call in self.load_calls for v in call.results)
        for index, value in enumerate(self.outputs):
            root = self.root(value)
            if root not in places and root not in constants:
                places[root] = Place(FIRST_PORT + len(self.inputs) + index, 0)

    def _intervals(self, memory: str, places: dict[ir.Value, Place]) -> list[Interval]:
        first: dict[ir.Value, int] = {}
        last: dict[ir.Value, int] = {}
        intervals: list[Interval] = []
        for step, call in enumerate(self.run_calls, len(self.load_calls)):
            for value in call.results:
                first[value] = last[value] = step
            for value in call.operands:
                last[self.root(value)] = step
            if memory != HOST_MEMORY:
                continue
            for index, scratch in enumerate(call.scratch):
                intervals.append(Interval((step, index), scratch.tensor.size_bytes, step, step))
        for value, step in first.items():
            if value not in places and memory_of(value) == memory:
                size = tensor_of(value.type).size_bytes
                intervals.append(Interval(value, size, step, last[value]))
        return intervals


def _add_places(places: dict[ir.Value, Place], plan: Plan, base: int) -> None:
    for key, offset in plan.offsets.items():
        if isinstance(key, ir.Value):
            places[key] = Place(base, offset)


def _check_view(op: tri.Reshape | tri.Transpose) -> None:
    if not lies_as_operand(op):
        message = (
            f"'{op.op_name}' op is between kernels, but lies in memory as its operand does not"
        )
        raise CompileError([Diagnostic(describe(op.location), message)])


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
