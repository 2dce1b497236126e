"""Assign engines to the ops of programs, and order conflicting accesses by tokens."""

from collections.abc import Sequence

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from ....dialects.core.location import describe
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.dla import Program
from ....dialects.dla.buffers import BufferOp
from ....dialects.dla.schedule import Conflicts, Order, touches
from ....dialects.dla.types import TOKEN
from ....passes.core import Pass
from ..core.description import Description
from ..registry import VANILLA, Configuration
from .allocate_buffers import AllocateBuffers
from .liveness import programs


class InsertTokens(Pass):
    """Run each op on the engine of its packet, with as few waits as possible.

    An op waits for the ops on other engines that accessed the same bytes before, if one of the two
    writes, unless the order follows from other waits.

    dla.load %x, %a                    %0 = dla.load %x, %a {engine = "load"}
    dla.copy_tile %a, %b   =>          %1 = dla.copy_tile %0, %a, %b {engine = "vec"}
    dla.store %b, %y                   %2 = dla.store %1, %b, %y {engine = "store"}
    """

    requires = (AllocateBuffers,)

    target: Configuration = VANILLA

    def run(self, module: Module) -> None:
        description = self.target.description
        for program in programs(module, self.target.name):
            ops = program.ops
            engines = [_engine(op, description) for op in ops]
            _schedule(ops, engines, fewest_waits(program, ops, engines))


def fewest_waits(
    program: Program, ops: Sequence[BufferOp], engines: Sequence[str]
) -> list[list[int]]:
    """Return for each op the numbers of the ops that it must wait for, in ascending order.

    Raises CompileError for a buffer without an address.
    """
    try:
        order, conflicts = Order(engines), Conflicts(touches(ops, program.addresses))
    except Invalid as error:
        message = f"program '{program.sym_name}': {error}, --allocate-buffers gives it one"
        raise CompileError([Diagnostic(describe(program.location), message)]) from None
    waits: list[list[int]] = []
    for number in range(len(ops)):
        order.add(number)
        chosen: list[int] = []
        missed = conflicts.of(number)
        while (missed := missed[~order.before(missed, number)]).size:
            # The latest op first: waiting for it may imply waits for earlier ops.
            chosen.append(int(missed[-1]))
            order.wait(number, chosen[-1])
        waits.append(sorted(chosen))
    return waits


def _engine(op: BufferOp, description: Description) -> str:
    packet = description.packets.get(op.packet)
    if packet is None:
        message = f"'{op.op_name}' op is packet '{op.packet}', which {description.name} has not"
        raise CompileError([Diagnostic(describe(op.location), message)])
    return packet.engine


def _schedule(
    ops: Sequence[BufferOp], engines: Sequence[str], waits: Sequence[Sequence[int]]
) -> None:
    """Replace ops by ops with engines and tokens; earlier tokens are dropped."""
    token = ir.Type.parse(TOKEN)
    done: list[ir.Value] = []
    for op, engine, others in zip(ops, engines, waits, strict=True):
        with ir.InsertionPoint(op.operation):
            made = type(op).create(
                [[done[other] for other in others], *op.buffers.values()],
                [token],
                op.attributes | {"engine": engine},
                loc=op.location,
            )
        done.append(made.results[0])
    for op in reversed(ops):
        op.operation.erase()
