"""Regions of ops: kernels, which a target compiles as one, and the parts of a model by target."""

from collections.abc import Sequence

from ..core.body import check_body
from ..core.errors import Invalid
from ..core.fields import Operand, Region, Result
from ..core.mlir import ir
from ..core.module import ops
from ..core.op import Op
from .dialect import TriOp


class RegionOp(TriOp, abstract=True):
    """Base of ops that run a body of ops, which has its inputs as block arguments.

    The body ends in `tri.yield`. The meaning of the op is that of its body, executed in order.
    """

    inputs: Sequence[Operand]
    target: str = ""
    outputs: Sequence[Result]
    body: Region

    @property
    def block(self) -> ir.Block:
        return self.operation.regions[0].blocks[0]

    @property
    def end(self) -> ir.Operation:
        """Return the terminator of the body."""
        return self.block.operations[len(self.block.operations) - 1].operation

    @property
    def members(self) -> list[Op]:
        """List the ops of the body without its terminator."""
        return [op for op in ops(self.block) if not op.terminator]

    def verify(self) -> None:
        self.check_attributes()
        check_body(self.operation, Yield.op_name)
        arguments = [str(a.type) for a in self.block.arguments]
        operands = [str(v.type) for v in self.operation.operands]
        if arguments != operands:
            raise Invalid(f"body takes {', '.join(arguments)}; inputs are {', '.join(operands)}")
        yields = [str(v.type) for v in self.end.operands]
        results = [str(v.type) for v in self.results]
        if yields != results:
            raise Invalid(f"body yields ({', '.join(yields)}), results are ({', '.join(results)})")
        check_closed(self.block)


class Group(RegionOp):
    """Run the ops of `body` as one kernel; `target` names where, once placed."""


class Part(RegionOp):
    """Run the ops of `body` on one target, in kernels that the passes of this target choose.

    Parts of a function are its partition before these passes run (`targets/placement`).
    """


def check_closed(block: ir.Block) -> None:
    """Raise Invalid when an op uses a value from outside of the block or from further down."""
    known: set[ir.Value] = set(block.arguments)
    for operation in block.operations:
        for index, value in enumerate(operation.operation.operands):
            if value not in known:
                name = operation.operation.name
                raise Invalid(f"body uses a value it does not define: operand {index} of '{name}'")
        known.update(operation.operation.results)


class Yield(TriOp):
    """End the body of a group, a branch or a loop, and name its outputs."""

    outputs: Sequence[Operand]

    terminator = True
    quantized = "any"

    def infer(self, outputs: Sequence[object]) -> tuple[()]:
        return ()
