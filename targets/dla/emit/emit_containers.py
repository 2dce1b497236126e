"""Emit containers: the packets of a scheduled program, its constants, and its ports."""

from collections.abc import Sequence

import numpy as np

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.location import describe, node_names, value_names
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, ops
from ....dialects.core.op import view
from ....dialects.core.tensor import Array
from ....dialects.dla import Alloc, End, Program, Run
from ....dialects.dla.buffers import BufferOp
from ....dialects.dla.program import find_program
from ....dialects.dla.types import CONSTANTS, INPUTS, OUTPUTS, BufferType, buffer_of
from ....passes.core import Pass
from ..allocate.liveness import liveness, overlap
from ..core.container import save
from ..core.contents import Container, relocations
from ..core.linter import lint
from ..core.packet import InstructionSet, Packet
from ..core.ports import Port
from ..phases import CODE_EMIT
from ..registry import VANILLA, Configuration
from .packing import DRAM, packet_of, refusal, waits_of


class EmitContainers(Pass):
    """Emit the container of each program that runs: a file of the package, in `artifacts`.

    dla.program @vanilla_0 { … }   =>   dla.program @vanilla_0 { … } and dla/vanilla_0.tdla
    """

    target: Configuration = VANILLA

    def run(self, module: Module) -> None:
        instructions = self.target.instructions
        for run in runs_of(module, self.target.name):
            made = emit(module, run, instructions)
            module.artifacts[entry_of(run.program)] = save(instructions.description, made)


def runs_of(module: Module, target: str) -> list[Run]:
    """List the calls of programs of an accelerator, in order."""
    found = [op for op in ops(module.main) if isinstance(op, Run)]
    return [run for run in found if find_program(run.operation, run.program).target == target]


def entry_of(program: str) -> str:
    """Return the name of the package entry with the container of a program."""
    return f"dla/{program}.tdla"


def is_container(entry: str, target: str) -> bool:
    """Report whether an entry of a package is a container for an accelerator."""
    return entry.startswith(f"dla/{target}_") and entry.endswith(".tdla")


def emit(module: Module, run: Run, instructions: InstructionSet) -> Container:
    """Return the container of the program that an op runs.

    Raises CompileError for an op without a packet, an op without an engine, and a constant of
    unknown value. Raises RuntimeError, as for any bug, if the linter finds a fault in the stream.
    """
    program = find_program(run.operation, run.program)
    packets, nodes = _packets(program, instructions)
    code = instructions.encode_stream(packets)
    regions = _regions(program, instructions)
    _require_clean(program, instructions, code, regions)
    return Container(
        regions,
        _constants(module, run, program),
        code,
        relocations(instructions, code),
        tuple(nodes),
        _ports(run, program, INPUTS),
        _ports(run, program, OUTPUTS),
        _starts(run, program),
        module.sizes,
    )


def _packets(program: Program, instructions: InstructionSet) -> tuple[list[Packet], list[str]]:
    """Return the packets of a program, and the nodes of each."""
    ops = _scheduled(program)
    waits, counts = waits_of(ops)
    addresses = program.addresses
    packets = [
        packet_of(instructions, op, addresses, each) for op, each in zip(ops, waits, strict=True)
    ]
    nodes = [", ".join(node_names(op.location)) for op in ops]
    end = next(cls for cls in instructions.classes.values() if cls.ends)
    engine = instructions.description.packets[end.name].engine
    last = {name: count for name, count in counts.items() if name != engine}
    return [*packets, end(waits=last)], [*nodes, ""]


def _scheduled(program: Program) -> list[BufferOp]:
    """Return the ops of a program; raise CompileError for one that cannot be emitted."""
    ops: list[BufferOp] = []
    for operation in program.block.operations:
        op = view(operation)
        if isinstance(op, BufferOp):
            if not op.scheduled:
                raise refusal(op, "has no engine, --insert-tokens gives it one")
            ops.append(op)
        elif not isinstance(op, (Alloc, End)):
            message = f"'{operation.operation.name}' op has no packet"
            where = describe(operation.operation.location)
            raise CompileError([Diagnostic(where, message, (f"in phase {CODE_EMIT}",))])
    return ops


def _regions(program: Program, instructions: InstructionSet) -> dict[str, int]:
    """Return the bytes of each region of DRAM that is used."""
    alignment = instructions.description.memories["dram"].alignment
    ends: dict[str, int] = {}
    for value, address in program.addresses.items():
        buffer = buffer_of(value.type)
        if buffer.space.startswith(DRAM):
            name = buffer.space.removeprefix(DRAM)
            end = address + -(-buffer.size_bytes // alignment) * alignment
            ends[name] = max(ends.get(name, 0), end)
    return {name: ends[name] for name in instructions.description.regions if name in ends}


def _require_clean(
    program: Program, instructions: InstructionSet, code: bytes, regions: dict[str, int]
) -> None:
    faults = [str(finding) for finding in lint(instructions, code, regions)]
    shared = overlap(liveness(program, program.ops))
    if shared is not None:
        faults.append(shared)
    if faults:
        listed = "\n  ".join(faults)
        raise RuntimeError(f"the stream of program '{program.sym_name}' has faults:\n  {listed}")


def _constants(module: Module, run: Run, program: Program) -> bytes:
    """Return the contents of the region of constants."""
    data = bytearray()
    for value, buffer, address in _arguments(run, program, CONSTANTS):
        array = _constant(module, run, value)
        data += bytes(address + buffer.size_bytes - len(data))
        data[address : address + buffer.size_bytes] = array.astype(np.int8).tobytes()
    return bytes(data)


def _starts(run: Run, program: Program) -> tuple[int, ...]:
    """Return where constants begin in their region, in ascending order."""
    return tuple(sorted(address for _, _, address in _arguments(run, program, CONSTANTS)))


def _constant(module: Module, run: Run, value: ir.Value) -> Array:
    op = None if isinstance(value, ir.BlockArgument) else view(value.owner)
    if isinstance(op, tri.Weight):
        return module.weights[op.name]
    if isinstance(op, tri.Constant):
        return op.value
    place = list(run.operation.operands).index(value)
    raise refusal(run, f"has operand {place}, a constant of the program, which is not known")


def _arguments(run: Run, program: Program, space: str) -> list[tuple[ir.Value, BufferType, int]]:
    """List the operands or results of a call in a region, with their buffers and addresses."""
    given = iter(run.outputs if space == OUTPUTS else run.inputs)
    found: list[tuple[ir.Value, BufferType, int]] = []
    for (_, buffer), address in zip(program.arguments, program.argument_addresses, strict=True):
        if (buffer.space == OUTPUTS) == (space == OUTPUTS):
            value = next(given)
            if buffer.space == space:
                found.append((value, buffer, address))
    return found


def _ports(run: Run, program: Program, space: str) -> tuple[Port, ...]:
    names = value_names(run.location) if space == OUTPUTS else ()
    ports: list[Port] = []
    for number, (value, buffer, address) in enumerate(_arguments(run, program, space)):
        region = space.removeprefix(DRAM)
        known = names[number : number + 1] if space == OUTPUTS else _names(value)
        name = known[0] if known else f"{region}.{number}"
        shape = tensor_of(value.type).shape
        ports.append(Port(name, region, address, shape, buffer.shape[-1]))
    return tuple(ports)


def _names(value: ir.Value) -> Sequence[str]:
    """Return the name of a value, if any."""
    if isinstance(value, ir.BlockArgument):
        return ()
    names = value_names(value.owner.location)
    place = list(value.owner.results).index(value)
    return names[place : place + 1]
