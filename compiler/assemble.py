"""Put a package together: the program as a manifest, weights, code, and the IR."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import groupby

from ..dialects import tri
from ..dialects.core.attributes import tensor_of
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, declared, ops
from ..dialects.core.op import Op
from ..dialects.core.sizes.atoms import is_symbolic
from ..dialects.core.sizes.dim import symbol
from ..dialects.core.symbol_table import checks_of, symbols_of_function
from ..dialects.core.tensor import DTYPES, bytes_of
from ..runtime import contents as m
from ..runtime.manifest import Manifest, version_of
from ..runtime.memory import allocate
from ..runtime.package import Package
from ..runtime.step import Step
from ..targets.calls import NumberedCall
from ..targets.compiled import CompiledPart
from ..targets.core import Target
from ..targets.options import CompileOptions
from ..targets.place import explained_refusal
from ..targets.program import Program, Storage
from ..targets.regions import RegionPlan
from ..targets.written import written
from ..version import __version__

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
) -> Package:
    """Make the package of a laid-out program.

    `owners` are the codes that make its calls, by their ops; `codes` those of all targets. `placed`
    is the IR that the code was made of, `entries` is what else is in the package. The weights of
    the module and of the program are used up: there is no room for two copies of large ones.
    """
    assembly = _Assembly(module, program, targets, codes)
    return assembly.package(owners, placed, source, options, entries)


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

    def package(
        self,
        owners: Mapping[Op, CompiledPart],
        placed: ir.Operation,
        source: str,
        options: CompileOptions,
        others: Mapping[str, bytes],
    ) -> Package:
        self.owners = owners
        inputs = self._ports("inputs", self.program.inputs)
        outputs = self._ports("outputs", self.program.outputs)
        numbered = list(enumerate(self.program.calls))
        load_steps = self._steps(numbered[: self.program.load_count])
        steps = self._steps(numbered[self.program.load_count :])
        parts = (code.part(self.program) for code in self.codes)
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
        )
        entries: dict[str, bytes | bytearray | memoryview] = {BYTECODE: self._bytecode(placed)}
        entries |= others
        for code in self.codes:
            entries |= code.entries()
        self.module.weights.clear()
        named = {space.name: space.weights_entry for space in manifest.spaces}
        for memory, storage in self.program.storage.items():
            if storage.weight_bytes:
                entries[named.get(memory, m.WEIGHTS_ENTRY)] = _weights(storage)
        return Package.create(manifest, entries)

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
        storage = self.program.storage[m.PROCESS]
        return m.Memory(
            arena_bytes=storage.plan.size_bytes,
            arena_lower_bound=storage.plan.lower_bound,
            weight_bytes=storage.weight_bytes,
            thread_bytes=written(self.program.thread_bytes),
            prepared_bytes=self.program.prepared_bytes,
        )

    def _spaces(self) -> tuple[m.MemorySpace, ...]:
        return tuple(
            m.MemorySpace(
                name, storage.plan.size_bytes, storage.plan.lower_bound, storage.weight_bytes
            )
            for name, storage in self.program.storage.items()
            if name != m.PROCESS
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
        arena, *devices = (storage.plan for storage in self.program.storage.values())
        first = m.FIRST_PORT + len(self.program.inputs) + len(self.program.outputs)
        plans = {m.ARENA: arena} | {first + 2 * i: plan for i, plan in enumerate(devices)}
        plans |= dict(enumerate(self.program.found_plans, first + 2 * len(devices)))
        return tuple(
            m.Region(base, written(region.size_bytes), region.above)
            for base, plan in plans.items()
            if isinstance(plan, RegionPlan)
            for region in plan.regions
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
        offsets = {memory: self._offsets(memory) for memory in self.program.storage}
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


def _weights(storage: Storage) -> memoryview:
    """Copy weights to where a session reads them; each is freed as soon as it is copied."""
    blob = allocate(storage.weight_bytes)
    while storage.weights:
        offset, array = storage.weights.pop()
        flat = bytes_of(array)
        blob[offset : offset + flat.size] = flat
    return blob.data
