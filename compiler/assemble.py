"""Put a package together: the program as a manifest, weights, code, and the IR."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import groupby
from typing import TypeAlias

from ..dialects import tri
from ..dialects.core.attributes import tensor_of
from ..dialects.core.interface import returned
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, declared, ops
from ..dialects.core.op import Op
from ..dialects.core.sizes.atoms import is_symbolic
from ..dialects.core.sizes.dim import symbol
from ..dialects.core.states.carried import initial_of, state_of, updates_of
from ..dialects.core.states.declared import states_of
from ..dialects.core.states.generation import generation_of
from ..dialects.core.states.kept import kept_of
from ..dialects.core.symbol_table import checks_of, symbols_of_function
from ..dialects.core.tensor import DTYPES
from ..runtime import contents as m
from ..runtime.generation.part import CachePort, GenerationPart
from ..runtime.manifest import Manifest, version_of
from ..runtime.package import Package
from ..runtime.step import Step
from ..targets.compiled import CompiledPart
from ..targets.core import Target
from ..targets.memory.arena import plan_arena
from ..targets.memory.regions import RegionPlan
from ..targets.memory.weight_pool import WeightPools
from ..targets.options import CompileOptions
from ..targets.placement.place import explained_refusal
from ..targets.program.calls import NumberedCall
from ..targets.program.program import Place, Program
from ..targets.written import written
from ..version import __version__
from .refit.hold_weights import refit_part
from .sizes.named import name_sizes

Data: TypeAlias = bytes | bytearray | memoryview
"""The bytes of an entry."""

BYTECODE = "module.mlirbc"
"""The entry of a package that holds its placed IR."""


def offset_attribute(memory: str) -> str:
    """Return the attribute of a weight in packaged IR that has its offset in a memory space."""
    return "trivium.offset" if memory == m.PROCESS else f"trivium.offset.{memory}"


def assemble(
    module: Module,
    program: Program,
    owners: Mapping[Op, CompiledPart],
    codes: Sequence[CompiledPart],
    *,
    placed: ir.Operation,
    targets: Sequence[Target],
    source: str,
    options: CompileOptions,
    entries: Mapping[str, bytes],
) -> "Assembled":
    """Describe a laid-out program, and gather what its package holds but for the weights.

    `owners` are the codes that make its calls, by their ops; `codes` those of all targets. `placed`
    is the IR that the code was made of, `entries` is what else is in the package. The weights of
    the module are used up: those that are needed are in the pools of the program.
    """
    assembly = _Assembly(module, program, targets, codes)
    return assembly.assembled(owners, placed, source, options, entries)


@dataclass(frozen=True)
class Assembled:
    """Hold the manifest of a program, without the bytes of its weights, and its other entries."""

    manifest: Manifest
    entries: Mapping[str, Data]


def outline(
    module: Module, targets: Sequence[Target], source: str, options: CompileOptions
) -> Assembled:
    """Describe the inputs and the outputs of a module whose sizes have no program."""
    inputs: list[ir.Value] = list(module.main_block.arguments)
    outputs = returned(module.main)
    places = {value: Place(m.FIRST_PORT + i, 0) for i, value in enumerate((*inputs, *outputs))}
    places |= {value: Place(m.FIRST_PORT + i, 0) for i, value in enumerate(inputs)}
    program = Program([], 0, 0, places, {}, [], {m.PROCESS: plan_arena([])}, 0, inputs, outputs)
    assembly = _Assembly(module, program, targets, ())
    manifest = replace(assembly.manifest({}, source, options), only_exact=True)
    return Assembled(manifest, state_entries(module))


def state_entries(module: Module) -> dict[str, bytes]:
    """Return the entry of a package that has what the state of a session begins with, if any."""
    data = b"".join(array.tobytes() for array in initial_of(module.main).values())
    return {m.STATE_ENTRY: data} if data else {}


def package_of(assembled: Assembled, pools: WeightPools) -> Package:
    """Make the package of one program; `pools` have its weights, and are used up."""
    described = with_weights(assembled, weights_in(pools))
    return Package.create(described.manifest, described.entries)


def weights_in(pools: WeightPools) -> dict[str, memoryview]:
    """Return the weights in each memory space; the pools are used up."""
    return {name: pool.take() for name, pool in pools.items()}


def with_weights(assembled: Assembled, weights: Mapping[str, memoryview]) -> Assembled:
    """Add the weights in each memory space to a program."""
    manifest, nothing = assembled.manifest, memoryview(b"")
    stored = {m.WEIGHTS_ENTRY: weights.get(m.PROCESS, nothing)}
    stored |= {each.weights_entry: weights[each.name] for each in manifest.spaces}
    memory = replace(manifest.memory, weight_bytes=len(stored[m.WEIGHTS_ENTRY]))
    spaces = (replace(s, weight_bytes=len(weights[s.name])) for s in manifest.spaces)
    entries = {name: data for name, data in stored.items() if data}
    described = replace(manifest, memory=memory, spaces=tuple(spaces))
    return Assembled(described, {**assembled.entries, **entries})


class _Assembly:
    def __init__(
        self,
        module: Module,
        program: Program,
        targets: Sequence[Target],
        codes: Sequence[CompiledPart],
    ) -> None:
        self.module = module
        self.program = program
        self.targets = targets
        self.codes = codes
        self.described = {v: text for code in codes for v, text in code.layouts().items()}
        self.buffers: list[m.Buffer] = []
        self.index: dict[tuple[ir.Value, int], int] = {}
        self.owners: Mapping[Op, CompiledPart] = {}

    def assembled(
        self,
        owners: Mapping[Op, CompiledPart],
        placed: ir.Operation,
        source: str,
        options: CompileOptions,
        others: Mapping[str, bytes],
    ) -> Assembled:
        manifest = self.manifest(owners, source, options)
        entries: dict[str, Data] = {BYTECODE: self._bytecode(placed), **others}
        entries |= state_entries(self.module)
        for code in self.codes:
            entries |= code.entries()
        self.module.weights.clear()
        return Assembled(manifest, entries)

    def manifest(
        self, owners: Mapping[Op, CompiledPart], source: str, options: CompileOptions
    ) -> Manifest:
        """Describe the program, without the bytes of its weights."""
        self.owners = owners
        inputs = self._ports("inputs", self.program.inputs)
        outputs = self._ports("outputs", self.program.outputs)
        numbered = list(enumerate(self.program.calls))
        load_steps = self._steps(numbered[: self.program.load_count])
        steps = self._steps(numbered[self.program.load_count :])
        parts = (*(code.part(self.program) for code in self.codes), self._generation())
        parts = (*parts, refit_part(self.module, self.program))
        symbols = self._symbols()
        manifest = Manifest(
            version=version_of(symbols),
            producer=f"trivium {__version__}",
            source=source,
            target=self.targets[0].name,
            targets=tuple(target.name for target in self.targets),
            math=m.Math(options.math, options.layer_error, options.precision),
            inputs=inputs,
            outputs=outputs,
            buffers=tuple(self.buffers),
            steps=steps,
            load_steps=load_steps,
            memory=self._memory(),
            spaces=self._spaces(),
            parts=tuple(part for part in parts if part is not None),
            symbols=symbols,
            checks=self._checks(),
            regions=self._regions(),
            carried=tuple(self._carried()),
            carried_arenas=self.program.carried_stages,
            kept=kept_of(self.module.main),
            strings=self._strings(),
            settings=options.settings,
        )
        return name_sizes(manifest) if symbols else manifest

    # -- values -------------------------------------------------------------------------------

    def _ports(self, which: str, values: Sequence[ir.Value]) -> tuple[m.Port, ...]:
        names = declared(self.module.main, which, len(values))
        complex_ports = declared(self.module.main, "complex", 0)
        ports: list[m.Port] = []
        for name, value in zip(names, values, strict=True):
            self.program.names.setdefault(value, name)
            number = self.number(value)
            shape, dtype = self.buffers[number].shape, self.buffers[number].dtype
            if name in complex_ports and dtype in m.COMPLEX:
                shape, dtype = shape[:-1], m.COMPLEX[dtype]
            ports.append(m.Port(name, shape, dtype, number))
        return tuple(ports)

    def number(self, value: ir.Value, memory: str = m.PROCESS) -> int:
        """Return the number of a value's buffer; describes it when it is new."""
        place = self.program.place(value, memory)
        if (value, place.base) not in self.index:
            tensor = tensor_of(value.type)
            name = self.program.names.get(value, "")
            dtype = DTYPES[tensor.dtype].numpy
            self.index[value, place.base] = len(self.buffers)
            layout = self.described.get(value, "")
            offset, shape = written(place.offset), written(tensor.shape)
            self.buffers.append(m.Buffer(name, place.base, offset, shape, dtype, layout=layout))
        return self.index[value, place.base]

    def _memory(self) -> m.Memory:
        plan = self.program.plans[m.PROCESS]
        return m.Memory(
            arena_bytes=plan.size_bytes,
            arena_lower_bound=plan.lower_bound,
            weight_bytes=0,
            thread_bytes=written(self.program.thread_bytes),
            prepared_bytes=self.program.prepared_bytes,
        )

    def _spaces(self) -> tuple[m.MemorySpace, ...]:
        return tuple(
            m.MemorySpace(name, plan.size_bytes, plan.lower_bound, 0)
            for name, plan in self.program.plans.items()
            if name != m.PROCESS
        )

    def _carried(self) -> Iterator[m.CarriedPort]:
        """Describe which outputs become inputs; initial values follow one another in an entry."""
        places: dict[str, int] = {}
        end = 0
        for name, array in initial_of(self.module.main).items():
            places[name] = end
            end += array.nbytes
        in_place = {s.input for s in states_of(self.module) if s.argument in self.program.updated}
        for output, name in state_of(self.module.main).items():
            yield m.CarriedPort(output, name, places.get(name), in_place=name in in_place)
        for output, name in updates_of(self.module.main).items():
            yield m.CarriedPort(output, name, is_bound=False, in_place=name in in_place)

    def _generation(self) -> GenerationPart | None:
        """Return what is what in a decoder."""
        found = generation_of(self.module.main)
        if found is None:
            return None
        caches = (CachePort(c.output, c.input, c.batch_axis, c.rows_axis) for c in found.caches)
        return GenerationPart(
            ids=found.ids,
            logits=found.logits,
            mask=found.mask,
            positions=found.positions,
            rows=found.rows,
            caches=tuple(caches),
            starts=found.starts,
            totals=found.totals,
            ends=found.ends,
            sampling=found.sampling,
        )

    # -- symbols ------------------------------------------------------------------------------

    def _symbols(self) -> tuple[m.Symbol, ...]:
        """Describe the symbols that the model depends on; a range of one size is that size."""
        ranges = symbols_of_function(self.module.main)
        return tuple(
            m.Symbol(
                name,
                range.low,
                range.high,
                range.hint,
                range.step,
                self.program.found.get(name, 0),
            )
            for name, range in ranges.items()
            if is_symbolic(symbol(name, range))
        )

    def _checks(self) -> tuple[m.SizeCheck, ...]:
        return tuple(
            m.SizeCheck(written(check.expression), check.relation, check.node, check.message)
            for check in checks_of(self.module.main)
        )

    def _regions(self) -> tuple[m.Region, ...]:
        arena, *devices = self.program.plans.values()
        first = m.FIRST_PORT + len(self.program.inputs) + len(self.program.outputs)
        plans = {m.ARENA: arena} | {first + 2 * i: plan for i, plan in enumerate(devices)}
        plans |= dict(enumerate(self.program.found_plans, first + 2 * len(devices)))
        return tuple(
            m.Region(base, written(region.size_bytes), region.above)
            for base, plan in plans.items()
            if isinstance(plan, RegionPlan)
            for region in plan.regions
        )

    def _strings(self) -> tuple[str, ...]:
        """List the text of all constants, each string once."""
        constants = (op.value for op in ops(self.module.main) if isinstance(op, tri.Constant))
        return tuple(
            dict.fromkeys(
                text for array in constants if array.dtype == object for text in array.reshape(-1)
            )
        )

    def refusal(self, op: Op) -> str:
        """Return why an op does not run on the first target of the package; empty if it does."""
        return explained_refusal(op, self.targets[0], self.module) or ""

    # -- steps --------------------------------------------------------------------------------

    def body(self, block: ir.Block) -> tuple[Step, ...]:
        """Return the steps of a body of a branch or a loop."""
        return self._steps(self.program.bodies[block])

    def _steps(self, numbered: Sequence[NumberedCall]) -> tuple[Step, ...]:
        """Let each code make its calls, as many at once as follow one another."""
        steps: list[Step] = []
        for _, run in groupby(numbered, lambda call: id(self.owners[call[1].op])):
            calls = list(run)
            steps += self.owners[calls[0][1].op].steps(calls, self)
        return tuple(steps)

    # -- IR -----------------------------------------------------------------------------------

    def _bytecode(self, placed: ir.Operation) -> bytes:
        """Return the placed IR, with each weight's offsets, from which code can be made again."""
        i64 = ir.IntegerType.get_signless(64, self.module.ir.context)
        offsets = {memory: self._offsets(memory) for memory in self.program.plans}
        for op in ops(placed):
            for memory, known in offsets.items():
                if isinstance(op, tri.Weight) and op.name in known:
                    number = ir.IntegerAttr.get(i64, known[op.name])
                    op.operation.attributes[offset_attribute(memory)] = number
        file = BytesIO()
        placed.write_bytecode(file)
        return file.getvalue()

    def _offsets(self, memory: str) -> dict[str, int]:
        """Return the offsets of the weights that a memory stores."""
        constants = self.program.constants
        weights = [op for op in ops(self.module.main) if isinstance(op, tri.Weight)]
        return {
            op.name: constants[op.y, memory].offset for op in weights if (op.y, memory) in constants
        }
