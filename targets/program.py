"""Plan the memory of a placed module: a place for each value, in the order of its calls."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..dialects import tri
from ..dialects.core.attributes import order_of, tensor_of
from ..dialects.core.errors import CompileError, Diagnostic
from ..dialects.core.location import describe, value_names
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module
from ..dialects.core.op import Op, view
from ..dialects.core.sizes.atoms import Size
from ..dialects.core.sizes.dim import ceildiv, highest, symbols_of
from ..dialects.core.symbol_scope import symbols_defined
from ..dialects.core.tensor import Array, bytes_of, same_bits
from ..runtime.contents import ARENA, FIRST_PORT, PREPARED, PROCESS, WEIGHTS
from .calls import Call, Scratch
from .load_calls import load_groups, load_intervals
from .memories import VIEWS, is_stored_as_operand, memory_of, read_memory, space_named
from .memory import ALIGNMENT, Interval, Plan, plan_arena
from .regions import RegionPlan, plan_sizes


@dataclass(frozen=True)
class Place:
    """Hold the place of a tensor: a base of the manifest, and an offset into it in bytes.

    `own` is the offset of private memory in that of each thread but the first. Offsets may depend
    on symbols, and on where regions lie.
    """

    base: int
    offset: Size
    own: Size | None = None


@dataclass(frozen=True)
class Storage:
    """Hold the plan of one memory: its arena, and the weights at their offsets."""

    plan: Plan
    weights: list[tuple[int, Array]]
    weight_bytes: int


@dataclass
class Program:
    """Hold the calls of a model in order and a place for every value.

    The first `load_count` calls depend on no input: they run once, when the package is loaded, and
    all their memory is in `prepared_bytes`. Constants have a place in each memory where they are
    read. Values whose sizes are found while the program runs are in arenas of their own, for each
    call that finds some: `found` has the number of that call for each symbol, counted from 1, and
    `found_plans` the plans of these arenas.
    """

    calls: list[Call]
    load_count: int
    prepared_bytes: int
    places: dict[ir.Value, Place]
    constants: dict[tuple[ir.Value, str], Place]
    scratch: list[tuple[Place, ...]]
    storage: dict[str, Storage]  # that of the process is the first
    thread_bytes: Size
    inputs: list[ir.Value]
    outputs: list[ir.Value]
    names: dict[ir.Value, str] = field(default_factory=dict["ir.Value", str])
    found: dict[str, int] = field(default_factory=dict[str, int])
    found_plans: tuple[Plan, ...] = ()

    def place(self, value: ir.Value, memory: str = PROCESS) -> Place:
        """Return the place of a value; of a constant, that in a memory."""
        return self.places.get(value) or self.constants[value, memory]


def plan_memory(module: Module, calls: Sequence[Call]) -> Program:
    """Plan the memory of a placed module with the given calls, in order.

    Raises CompileError for a view that is not stored in memory as its operand is.
    """
    layout = _Layout(module, list(calls))
    return layout.program()


class _Layout:
    def __init__(self, module: Module, calls: list[Call]) -> None:
        self.module = module
        block = module.main_block
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
        self.found = _found(self.run_calls)

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
        bases = self._bases(read)
        constants: dict[tuple[ir.Value, str], Place] = {}
        weights = {
            memory: self._weights(memory, base, read, constants)
            for memory, (_, base) in bases.items()
        }
        self._place_outputs(places)
        kept = load_intervals(self.load_calls, self.run_calls, self.outputs, self.root)
        prepared = plan_arena(kept)
        _add_places(places, prepared, PREPARED)
        plans = {memory: self._plan(memory, places) for memory in bases}
        found = self._found_plans(plans[PROCESS], places)
        for memory, plan in plans.items():
            _add_places(places, plan, bases[memory][0])
        first = FIRST_PORT + len(self.inputs) + len(self.outputs) + 2 * (len(bases) - 1)
        arenas = dict(enumerate(found, first))
        for base, plan in arenas.items():
            _add_places(places, plan, base)
        arenas[ARENA] = plans[PROCESS]
        for value, root in self.roots.items():
            if root in places:
                places[value] = places[root]
            for memory in bases:
                if (root, memory) in constants:
                    constants[value, memory] = constants[root, memory]
        return Program(
            self.calls,
            len(self.load_calls),
            prepared.size_bytes,
            places,
            constants,
            [
                self._scratch(step, {PREPARED: prepared})
                if step < len(self.load_calls)
                else self._scratch(step, arenas)
                for step in range(len(self.calls))
            ],
            {memory: Storage(plans[memory], *weights[memory]) for memory in bases},
            highest(0, *(_own_offsets(call.scratch)[-1] for call in self.calls)),
            self.inputs,
            self.outputs,
            self.names,
            self.found,
            found,
        )

    def _read(self) -> set[tuple[ir.Value, str]]:
        """List which values are read, and in which memory."""
        read = {(self.root(v), read_memory(c.op)) for c in self.calls for v in c.operands}
        return read | {(self.root(v), PROCESS) for v in self.outputs}

    def _bases(self, read: set[tuple[ir.Value, str]]) -> dict[str, tuple[int, int]]:
        """Return the bases of arena and weights in each memory that the program uses."""
        written = {memory_of(value) for call in self.calls for value in call.results}
        used = {memory for memory in written if memory} | {memory for _, memory in read}
        first = FIRST_PORT + len(self.inputs) + len(self.outputs)
        others = sorted(used - {PROCESS})
        bases = {memory: (first + 2 * i, first + 2 * i + 1) for i, memory in enumerate(others)}
        return {PROCESS: (ARENA, WEIGHTS), **bases}

    def _plan(self, memory: str, places: dict[ir.Value, Place]) -> Plan:
        intervals = [each for each in self._intervals(memory, places) if not self._stage(each)]
        plan = plan_sizes(intervals, space_named(memory).alignment)
        if memory != PROCESS and isinstance(plan, RegionPlan):
            raise CompileError(
                f"sizes in memory '{memory}' depend on symbols, must be numbers: bind the symbols "
                "with --shape"
            )
        return plan

    def _found_plans(self, arena: Plan, places: dict[ir.Value, Place]) -> tuple[Plan, ...]:
        """Plan the arena of what depends on sizes that each call finds: none of it lives before."""
        plans: list[Plan] = []
        first = len(arena.regions) if isinstance(arena, RegionPlan) else 0
        intervals = self._intervals(PROCESS, places) if self.found else []
        for stage in range(1, max(self.found.values(), default=0) + 1):
            here = [each for each in intervals if self._stage(each) == stage]
            plans.append(plan_sizes(here, space_named(PROCESS).alignment, first))
            first += len(here)
        return tuple(plans)

    def _stage(self, interval: Interval) -> int:
        """Return the number of the call after which a size is known; 0 for those known before."""
        symbols = symbols_of(interval.size_bytes) if self.found else ()
        return max((self.found.get(name, 0) for name in symbols), default=0)

    def _scratch(self, step: int, arenas: Mapping[int, Plan]) -> tuple[Place, ...]:
        scratch = self.calls[step].scratch
        found: list[Place] = []
        for index, (each, own) in enumerate(zip(scratch, _own_offsets(scratch), strict=False)):
            base = next(base for base, plan in arenas.items() if (step, index) in plan.offsets)
            offset = arenas[base].offsets[step, index]
            found.append(Place(base, offset, own if each.private else None))
        return tuple(found)

    def _weights(
        self,
        memory: str,
        base: int,
        read: set[tuple[ir.Value, str]],
        places: dict[tuple[ir.Value, str], Place],
    ) -> tuple[list[tuple[int, Array]], int]:
        """Give each distinct constant an offset in a memory; equal bytes are stored once."""
        stored: list[tuple[int, Array]] = []
        known: dict[tuple[int, int], list[tuple[int, Array]]] = {}
        end = 0
        for op in self.constants:
            value = op.results[0]
            if (value, memory) not in read:
                continue
            array = self._data(op)
            data = bytes_of(array)
            alike = known.setdefault((data.size, zlib.crc32(data.data)), [])
            equal = (at for at, other in alike if same_bits(other, array))
            offset = next(equal, None)
            if offset is None:
                offset = end
                alike.append((offset, array))
                stored.append((offset, array))
                end += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
            places[value, memory] = Place(base, offset)
        return stored, end

    def _data(self, op: Op) -> Array:
        """Return a constant in the order of its axes in memory."""
        assert isinstance(op, (tri.Constant, tri.Weight))
        array = self.module.weights[op.name] if isinstance(op, tri.Weight) else op.value
        return array.transpose(order_of(op.y.type))

    def _place_outputs(self, places: dict[ir.Value, Place]) -> None:
        """Write values that are outputs to the arrays of the caller."""
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
            if memory != PROCESS:
                continue
            for index, scratch in enumerate(call.scratch):
                intervals.append(Interval((step, index), scratch.tensor.size_bytes, step, step))
        for value, step in first.items():
            if value not in places and memory_of(value) == memory:
                size = tensor_of(value.type).size_bytes
                intervals.append(Interval(value, size, step, last[value]))
        return intervals


def _found(calls: Sequence[Call]) -> dict[str, int]:
    """Number the calls that find sizes, from 1; return the number for each symbol."""
    numbers: dict[str, int] = {}
    stage = 0
    for call in calls:
        symbols = symbols_defined(call.op)
        stage += bool(symbols)
        numbers |= dict.fromkeys(sorted(symbols), stage)
    return numbers


def _add_places(places: dict[ir.Value, Place], plan: Plan, base: int) -> None:
    for key, offset in plan.offsets.items():
        if isinstance(key, ir.Value):
            places[key] = Place(base, offset)


def _check_view(op: tri.Reshape | tri.Transpose) -> None:
    if not is_stored_as_operand(op):
        message = (
            f"'{op.op_name}' op is between kernels, but is not stored in memory as its operand is"
        )
        raise CompileError([Diagnostic(describe(op.location), message)])


def _own_offsets(scratch: Sequence[Scratch]) -> list[Size]:
    """Return where private memory of a call begins in that of a thread, and where all of it ends.

    Calls use it one after another.
    """
    ends: list[Size] = [0]
    for each in scratch:
        size = each.tensor.size_bytes if each.private else 0
        ends.append(ends[-1] + ceildiv(size, ALIGNMENT) * ALIGNMENT)
    return ends
