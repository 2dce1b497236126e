"""Plan the memory of a placed module: a place for each value, in the order of its calls."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from ...dialects import tri
from ...dialects.core.attributes import order_of, tensor_of
from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.location import describe, value_names
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import Op, view
from ...dialects.core.sizes.atoms import Size, is_symbolic
from ...dialects.core.sizes.dim import ceildiv, highest
from ...dialects.core.tensor import Array, dtype_of, is_string
from ...dialects.tri.control_flow import yielded
from ...runtime.contents import ARENA, FIRST_PORT, PREPARED, PROCESS, WEIGHTS
from ...runtime.strings import handles_of
from ..memory.arena import ALIGNMENT, Interval, Plan, plan_arena
from ..memory.regions import count_regions, plan_sizes
from ..memory.shelves import plan_shelves
from ..memory.values import VIEWS, is_stored_as_operand, memory_of, read_memory, space_named
from ..memory.weight_pool import WeightPool, WeightPools
from .bodies import Numbering, Scope, all_calls, argument_roots, result_roots
from .calls import Call, NumberedCall, Scratch
from .carried_arenas import carried_arenas
from .found_arenas import FoundStages, plan_found, stage_of
from .in_place import updated_states
from .load_calls import load_groups, load_intervals

BODIES = "bodies"
"""The key of what all bodies of a call need: one of them runs at a time."""


@dataclass(frozen=True)
class Place:
    """Hold the place of a tensor: a base of the manifest, and an offset into it in bytes.

    `own` is the offset of private memory in that of each thread but the first. Offsets may depend
    on symbols, and on where regions lie.
    """

    base: int
    offset: Size
    own: Size | None = None


@dataclass
class Program:
    """Hold the calls of a model in order and a place for every value.

    The first `load_count` calls depend on no input: they run once, when the package is loaded, and
    all their memory is in `prepared_bytes`. Constants have a place in each memory where they are
    read. `bodies` are the calls of branches and loops, which have numbers after the others. Values
    whose sizes are found while the program runs are in arenas of their own, for each call that
    finds some: `found` has the number of that call for each symbol, counted from 1, and
    `found_plans` the plans of these arenas. The first of these are those of what loops carry with
    sizes that change: `carried_stages` has their stages. `plans` are those of the arenas of memory
    spaces. `updated` are the inputs in whose places their new values are stored.
    """

    calls: list[Call]
    load_count: int
    prepared_bytes: int
    places: dict[ir.Value, Place]
    constants: dict[tuple[ir.Value, str], Place]
    scratch: list[tuple[Place, ...]]
    plans: dict[str, Plan]  # that of the process is the first
    thread_bytes: Size
    inputs: list[ir.Value]
    outputs: list[ir.Value]
    names: dict[ir.Value, str] = field(default_factory=dict["ir.Value", str])
    bodies: dict[ir.Block, tuple[NumberedCall, ...]] = field(
        default_factory=dict["ir.Block", "tuple[NumberedCall, ...]"]
    )
    found: dict[str, int] = field(default_factory=dict[str, int])
    found_plans: tuple[Plan, ...] = ()
    carried_stages: tuple[int, ...] = ()
    updated: frozenset[ir.Value] = frozenset()

    def place(self, value: ir.Value, memory: str = PROCESS) -> Place:
        """Return the place of a value; of a constant, that in a memory."""
        return self.places.get(value) or self.constants[value, memory]


def plan_memory(module: Module, calls: Sequence[Call], pools: WeightPools) -> Program:
    """Plan the memory of a placed module with the given calls, in order.

    Its constants get places in `pools`. Raises CompileError for a view that is not stored in memory
    as its operand is.
    """
    layout = _Layout(module, list(calls), pools)
    return layout.program()


class _Layout:
    def __init__(self, module: Module, calls: list[Call], pools: WeightPools) -> None:
        self.module = module
        self.pools = pools
        block = module.main_block
        self.inputs: list[ir.Value] = list(block.arguments)
        self.roots: dict[ir.Value, ir.Value] = {}
        self.constants: list[Op] = []
        self.names: dict[ir.Value, str] = {}
        self.outputs: list[ir.Value] = []
        self.ends: list[ir.Value] = []
        self.loaded = load_groups(module)
        for operation in block.operations:
            self._visit(operation.operation)
        load = [call for call in all_calls(calls) if call.op in self.loaded]
        run = [call for call in calls if call.op not in self.loaded]
        self.load_calls, self.count = load, len(load) + len(run)
        self.numbering = Numbering(load, run, self.loaded)
        self.calls = self.numbering.calls
        self.run_calls = self.calls[len(load) :]
        self.stages = FoundStages.of(run)
        self.found = self.stages.numbers
        self.found_intervals = dict[tuple[int, str], list[Interval]]()
        self.body_plans: dict[tuple[ir.Block, str], Plan] = {}

    def _visit(self, operation: ir.Operation) -> None:
        op = view(operation)
        if isinstance(op, tri.ControlOp):
            self._enter(op)
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

    def _enter(self, op: tri.ControlOp) -> None:
        for block in op.bodies:
            found = (argument_roots(op, block), result_roots(op, block, self.loaded, VIEWS))
            self.roots |= {value: self.root(other) for value, other in chain(*found)}
            self.ends += yielded(block)
            for operation in block.operations:
                self._visit(operation.operation)

    def root(self, value: ir.Value) -> ir.Value:
        """Return the value whose memory a value is a view of."""
        return self.roots.get(value, value)

    def program(self) -> Program:
        places = {v: Place(FIRST_PORT + i, 0) for i, v in enumerate(self.inputs)}
        read = self._read()
        bases = self._bases(read)
        stages = sorted({*self.found.values()})
        self.found_intervals.update(((stage, m), []) for stage in stages for m in bases)
        first_carried = FIRST_PORT + len(self.inputs) + len(self.outputs) + 2 * (len(bases) - 1)
        updated = updated_states(self.module, self.run_calls)
        places |= {result: places[argument] for result, argument in updated.items()}
        carried = carried_arenas(self.numbering, self.root, self.found, updated)
        for base, arena in enumerate(carried, first_carried):
            places |= dict.fromkeys(arena.values, Place(base, 0))
        constants: dict[tuple[ir.Value, str], Place] = {}
        for memory, (_, base) in bases.items():
            self._place_weights(memory, base, read, constants)
        self._place_outputs(places)
        ends = (*self.outputs, *self.ends)
        kept = load_intervals(self.load_calls, self.run_calls, ends, self.root)
        prepared = plan_arena(kept)
        _add_places(places, prepared, PREPARED)
        main = self.numbering.main
        plans: dict[str, Plan] = {}
        for memory in bases:
            plans[memory] = self._plan(main, memory, places, count_regions(plans.values()))
        carried_plans = [arena.plan() for arena in carried]
        first_region = count_regions((*plans.values(), *carried_plans))
        found = plan_found(self.found_intervals, first_region)
        scratch = dict[Hashable, Place]()
        for memory, plan in plans.items():
            self._add_plan(plan, memory, Place(bases[memory][0], 0), places, scratch)
        for base, (memory, plan) in enumerate(found, first_carried + len(carried)):
            self._add_plan(plan, memory, Place(base, 0), places, scratch)
        scratch |= {key: Place(PREPARED, at) for key, at in prepared.offsets.items()}
        for value, root in self.roots.items():
            if root in places:
                places[value] = places[root]
            for memory in bases:
                if (root, memory) in constants:
                    constants[value, memory] = constants[root, memory]
        return Program(
            self.calls[: self.count],
            len(self.load_calls),
            prepared.size_bytes,
            places,
            constants,
            [self._scratch(number, scratch) for number in range(len(self.calls))],
            plans,
            self._thread_bytes(),
            self.inputs,
            self.outputs,
            self.names,
            {block: scope.calls for block, scope in self.numbering.scopes.items()},
            self.found,
            (*carried_plans, *(plan for _, plan in found)),
            tuple(arena.stage for arena in carried),
            frozenset(updated.values()),
        )

    def _read(self) -> set[tuple[ir.Value, str]]:
        """List which values are read, and in which memory."""
        read = {(self.root(v), read_memory(c.op)) for c in self.calls for v in c.operands}
        return read | {(self.root(v), PROCESS) for v in (*self.outputs, *self.ends)}

    def _bases(self, read: set[tuple[ir.Value, str]]) -> dict[str, tuple[int, int]]:
        """Return the bases of arena and weights in each memory that the program uses."""
        written = {memory_of(value) for call in self.calls for value in call.results}
        used = {memory for memory in written if memory} | {memory for _, memory in read}
        first = FIRST_PORT + len(self.inputs) + len(self.outputs)
        others = sorted(used - {PROCESS})
        bases = {memory: (first + 2 * i, first + 2 * i + 1) for i, memory in enumerate(others)}
        return {PROCESS: (ARENA, WEIGHTS), **bases}

    def _plan(
        self, scope: Scope, memory: str, places: dict[ir.Value, Place], first: int = 0
    ) -> Plan:
        """Plan a memory of a scope, with regions from number `first` on."""
        every = self._known_outside(scope, memory, self._intervals(scope, memory, places))
        alignment = space_named(memory).alignment
        if scope is self.numbering.main:
            return plan_sizes(every, alignment, first)
        symbolic = any(is_symbolic(each.size_bytes) for each in every)
        return plan_shelves(every, alignment) if symbolic else plan_arena(every, alignment)

    def _known_outside(
        self, scope: Scope, memory: str, intervals: Sequence[Interval]
    ) -> list[Interval]:
        """Return the intervals whose sizes are known before a scope begins; note all others.

        Those are in the arenas of the stages of the scope.
        """
        kept: list[Interval] = []
        here = self.stages.blocks[scope.block] - {0}
        for each in intervals:
            stage = stage_of(each.size_bytes, self.found)
            (self.found_intervals[stage, memory] if stage in here else kept).append(each)
        return kept

    def _add_plan(
        self,
        plan: Plan,
        memory: str,
        start: Place,
        places: dict[ir.Value, Place],
        scratch: dict[Hashable, Place],
    ) -> None:
        """Place what a plan has, from a place on: values, scratch memory, and bodies."""
        found = {key: Place(start.base, start.offset + at) for key, at in plan.offsets.items()}
        places |= {key: place for key, place in found.items() if isinstance(key, ir.Value)}
        scratch |= found
        for number, call in enumerate(self.calls):
            if call.bodies and (first := found.get((number, BODIES))) is not None:
                for body in call.bodies:
                    inner = self.body_plans[body.block, memory]
                    self._add_plan(inner, memory, first, places, scratch)

    def _thread_bytes(self) -> Size:
        needed = (own_bytes(call) for call in self.calls)
        return highest(0, *(size for size in needed if not stage_of(size, self.found)))

    def _scratch(self, number: int, known: Mapping[Hashable, Place]) -> tuple[Place, ...]:
        scratch = self.calls[number].scratch
        return tuple(
            replace(known[number, index], own=own if each.private else None)
            for index, (each, own) in enumerate(zip(scratch, _own_offsets(scratch), strict=False))
        )

    def _place_weights(
        self,
        memory: str,
        base: int,
        read: set[tuple[ir.Value, str]],
        places: dict[tuple[ir.Value, str], Place],
    ) -> None:
        """Give each constant that is read in a memory an offset there."""
        pool = self.pools.setdefault(memory, WeightPool())
        alone: dict[str, int] = {}
        for op in self.constants:
            value = op.results[0]
            if (value, memory) in read:
                places[value, memory] = Place(base, self._offset(op, pool, alone))

    def _offset(self, op: Op, pool: WeightPool, alone: dict[str, int]) -> int:
        """Return where a constant is; `alone` are those of weights that get other values later."""
        if not isinstance(op, tri.Weight) or op.name not in self.module.refit:
            return pool.place(self._data(op))
        if op.name not in alone:
            alone[op.name] = pool.place_alone(self._data(op))
        return alone[op.name]

    def _data(self, op: Op) -> Array:
        """Return a constant in the order of its axes in memory."""
        assert isinstance(op, (tri.Constant, tri.Weight))
        array = self.module.weights[op.name] if isinstance(op, tri.Weight) else op.value
        if is_string(dtype_of(array.dtype)):
            array = handles_of(array)
        return array.transpose(order_of(op.y.type))

    def _place_outputs(self, places: dict[ir.Value, Place]) -> None:
        """Write values that are outputs to the arrays of the caller.

        A view of later sizes is copied there: its array is made when they are found.
        """
        constants = {op.results[0] for op in self.constants}
        constants.update(v for call in self.load_calls for v in call.results)
        for index, value in enumerate(self.outputs):
            root = self.root(value)
            if root not in places and root not in constants and self._is_known_with(value, root):
                places[root] = Place(FIRST_PORT + len(self.inputs) + index, 0)

    def _is_known_with(self, view: ir.Value, root: ir.Value) -> bool:
        """Return whether the sizes of a view are known when its memory is written."""
        stages = [stage_of(tensor_of(v.type).size_bytes, self.found) for v in (view, root)]
        return stages[0] <= stages[1]

    def _intervals(
        self, scope: Scope, memory: str, places: dict[ir.Value, Place]
    ) -> list[Interval]:
        first: dict[ir.Value, int] = {}
        last: dict[ir.Value, int] = {}
        intervals: list[Interval] = []
        times = scope.times
        for step, call in scope.calls:
            time = times[step]
            for value in call.results:
                first[value] = last[value] = time
            for value in call.operands:
                last[self.root(value)] = time
            size = self._body_bytes(call, memory, places)
            if size != 0:
                intervals.append(Interval((step, BODIES), size, time, time))
            if memory != PROCESS:
                continue
            for index, scratch in enumerate(call.scratch):
                intervals.append(Interval((step, index), scratch.tensor.size_bytes, time, time))
        numbers = [step for step, _ in scope.calls]
        end = max(numbers, default=0)
        first |= dict.fromkeys(scope.lasting, min(numbers, default=0))
        last |= dict.fromkeys((*scope.lasting, *map(self.root, scope.ends)), end)
        for value, step in first.items():
            if value not in places and value not in self.roots and memory_of(value) == memory:
                size = tensor_of(value.type).size_bytes
                intervals.append(Interval(value, size, step, last[value]))
        return intervals

    def _body_bytes(self, call: Call, memory: str, places: dict[ir.Value, Place]) -> Size:
        """Plan the bodies of a call in a memory; return how much the largest one needs."""
        for body in call.bodies:
            scope = self.numbering.scopes[body.block]
            self.body_plans[body.block, memory] = self._plan(scope, memory, places)
        return highest(0, *(self.body_plans[b.block, memory].size_bytes for b in call.bodies))


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


def own_bytes(call: Call) -> Size:
    """Return what a call needs of the memory of a thread."""
    return _own_offsets(call.scratch)[-1]


def _own_offsets(scratch: Sequence[Scratch]) -> list[Size]:
    """Return where private memory of a call begins in that of a thread, and where all of it ends.

    Calls use it one after another.
    """
    ends: list[Size] = [0]
    for each in scratch:
        size = each.tensor.size_bytes if each.private else 0
        ends.append(ends[-1] + ceildiv(size, ALIGNMENT) * ALIGNMENT)
    return ends
