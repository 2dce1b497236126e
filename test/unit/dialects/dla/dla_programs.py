"""Programs of an accelerator as plain data, and the same as IR: in buffer or in scheduled form."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from trivium.dialects import dla
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Array, Tensor
from trivium.dialects.dla.types import TOKEN, BufferType, memref_of

ENGINES = {dla.Load: "load", dla.LoadWeights: "load", dla.Store: "store", dla.ConvTile: "mac"}


@dataclass(frozen=True)
class Step:
    """An op on buffers, by the names of the buffers, in the order of its operands."""

    op: type[dla.BufferOp]
    buffers: tuple[str, ...]
    attributes: Mapping[str, Any]

    @property
    def operands(self) -> dict[str, str]:
        names = [group.name for group in self.op.fields.operands[1:]]
        return dict(zip(names, self.buffers, strict=True))

    @property
    def engine(self) -> str:
        return ENGINES.get(self.op, "vec")


@dataclass
class Plan:
    """A program: arguments and buffers by their names, and steps."""

    atom: int
    arguments: dict[str, BufferType] = field(default_factory=dict[str, BufferType])
    buffers: dict[str, BufferType] = field(default_factory=dict[str, BufferType])
    steps: list[Step] = field(default_factory=list[Step])

    def padded(self, channels: int) -> int:
        return -(-channels // self.atom) * self.atom

    def image(self, space: str, *shape: int) -> str:
        """Make a buffer of images, with whole atoms of channels."""
        buffer = BufferType((*shape[:-1], self.padded(shape[-1])), "i8", space)
        return self.add(buffer)

    def add(self, buffer: BufferType) -> str:
        """Make a buffer, or an argument where those come from outside."""
        inner = buffer.space in ("sram", "weights", "accumulator", "dram.activations")
        table = self.buffers if inner else self.arguments
        name = f"{'b' if inner else 'a'}{len(table)}"
        table[name] = buffer
        return name

    def step(self, op: type[dla.BufferOp], *buffers: str, **attributes: Any) -> None:
        self.steps.append(Step(op, buffers, attributes))

    def type(self, name: str) -> BufferType:
        return (self.arguments | self.buffers)[name]


@dataclass(frozen=True)
class Schedule:
    """Say where buffers are, and for each step which steps it waits for."""

    addresses: Mapping[str, int]
    waits: Sequence[Sequence[int]]


def built(plan: Plan, schedule: Schedule | None = None) -> Module:
    """Build a module with the program, not verified."""
    module = Module(ir.Module.create())
    addresses = schedule.addresses if schedule else {}
    attributes = {
        "sym_name": "main",
        "target": "vanilla",
        "atom": plan.atom,
        "argument_addresses": tuple(addresses[a] for a in plan.arguments if a in addresses),
    }
    with ir.InsertionPoint(module.ir.body):
        program = dla.Program.create([], [], attributes)
    types = [memref_of(buffer) for buffer in plan.arguments.values()]
    unknown = [ir.Location.unknown()] * len(types)
    block = ir.Block.create_at_start(program.operation.regions[0], types, unknown)
    values = dict(zip(plan.arguments, block.arguments, strict=True))
    with ir.InsertionPoint(block):
        for name, buffer in plan.buffers.items():
            at = {"address": addresses.get(name, -1)}
            values[name] = dla.Alloc.create([], [memref_of(buffer)], at).buffer
        tokens: list[ir.Value] = []
        for number, step in enumerate(plan.steps):
            operands = [values[name] for name in step.buffers]
            if schedule is None:
                step.op.put(*operands, **step.attributes)
                continue
            waits = [tokens[other] for other in schedule.waits[number]]
            given = {**step.attributes, "engine": step.engine}
            token = ir.Type.parse(TOKEN)
            tokens.append(step.op.create([waits, *operands], [token], given).done[0])
        dla.End.build()
    return module


def program_of(module: Module) -> dla.Program:
    return next(op for op in ops(module.operation) if isinstance(op, dla.Program))


def outputs(module: Module, inputs: Sequence[Array], seed: int | None = None) -> tuple[Array, ...]:
    """Run the program on whole buffers, and return all of its outputs, padding included."""
    program = program_of(module)
    results = [
        Tensor(buffer.shape, "i8")
        for _, buffer in program.arguments
        if buffer.space == "dram.outputs"
    ]
    return dla.evaluate_program(program, inputs, results, seed)


@dataclass(frozen=True)
class Window:
    """What a step touches, said again: a start and sizes for each dimension of a buffer."""

    buffer: str
    start: tuple[int, ...]
    sizes: tuple[int, ...]
    writes: bool

    def places(self, shape: Sequence[int]) -> Array:
        """List the bytes of the window in its buffer; a size of one may be that of all."""
        axes = [
            np.arange(first, first + size)
            for first, size in zip(self.start, self.sizes, strict=True)
        ]
        return np.ravel_multi_index(np.ix_(*axes), tuple(shape)).reshape(-1)


def windows(plan: Plan, step: Step) -> Iterator[Window]:
    """Yield what a step touches."""
    a = {f.name: f.default for f in step.op.fields.attributes if not f.required} | dict(
        step.attributes
    )
    for name, buffer in step.operands.items():
        shape = plan.type(buffer).shape
        if name in ("weights", "table") or step.op is dla.LoadWeights:
            padded = plan.padded(a["filters"]) if step.op is dla.ConvTile else 0
            taps = a["kernel_rows"] * a["kernel_columns"] if padded else 0
            depth = a["channels"] if a.get("mode") == "dense" else 1
            sizes = {"weights": taps * depth * padded, "table": 9 * padded or 256}
            length = a.get("length") or sizes[name]
            writes = name == "destination"
            unused = name == "table" and padded and not (a["begin"] or a["finish"])
            if not unused:
                yield Window(buffer, (a[f"{name}_at"],), (length,), writes)
            continue
        rows, columns, channels = a["rows"], a["columns"], a["channels"]
        start = a.get(f"{name}_at", (0, 0, 0, 0))
        if name in ("destination", "sums"):
            rows, columns = a.get("out_rows", rows), a.get("out_columns", columns)
            rows += a.get("top", 0) + a.get("bottom", 0)
            columns += a.get("left", 0) + a.get("right", 0)
            whole = step.op in (dla.Load, dla.Store)
            channels = channels if whole else plan.padded(a.get("filters", channels))
            if name == "destination" and not a.get("finish", 1):
                continue
            yield Window(buffer, start, (1, rows, columns, channels), True)
            if name == "sums" and not a["begin"]:
                yield Window(buffer, start, (1, rows, columns, channels), False)
            continue
        if name == "other":
            rows, columns = min(rows, shape[1]), min(columns, shape[2])
        yield Window(buffer, start, (1, rows, columns, channels), False)
