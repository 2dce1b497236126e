"""Loops with carried values."""

from collections.abc import Sequence

from ..core.errors import Invalid
from ..core.fields import Operand, Region, Result
from ..core.mlir import ir
from .dialect import TileOp
from .types import need_index


class For(TileOp):
    """Run `body` for lower, lower + step, … below `upper`, and carry values from turn to turn.

    The body's arguments are the index, an i32, and the carried values; it ends in `tile.yield`
    with those of the next turn. `stages` says how many turns ahead loads may be started; 0 is
    what the kernel says.
    """

    lower: Operand
    upper: Operand
    step: Operand
    carried: Sequence[Operand]
    stages: int = 0
    outputs: Sequence[Result]
    body: Region

    @property
    def block(self) -> ir.Block:
        """Return the block of the body."""
        return self.operation.regions[0].blocks[0]

    def verify(self) -> None:
        self.check_attributes()
        for which, value in zip(("lower", "upper", "step"), self.operation.operands, strict=False):
            if need_index(which, self.plain_type(value.type)).shape:
                raise Invalid(f"{which} is {value.type}, must be a scalar")
        blocks = self.operation.regions[0].blocks
        if len(blocks) != 1:
            raise Invalid(f"has {len(blocks)} blocks in its body, must have 1")
        carried = [str(value.type) for value in self.carried]
        arguments = [str(argument.type) for argument in blocks[0].arguments]
        if arguments != ["tensor<i32>", *carried]:
            raise Invalid(f"body takes {', '.join(arguments)}; carries {', '.join(carried)}")
        last = blocks[0].operations[len(blocks[0].operations) - 1].operation
        if last.name != Yield.op_name:
            raise Invalid(f"body ends in '{last.name}', must end in '{Yield.op_name}'")
        yields = [str(value.type) for value in last.operands]
        results = [str(value.type) for value in self.results]
        if yields != carried or results != carried:
            raise Invalid(
                f"carries ({', '.join(carried)}), yields ({', '.join(yields)}), "
                f"results are ({', '.join(results)})"
            )


class Yield(TileOp):
    """End the body of a loop with the values that its next turn gets."""

    values: Sequence[Operand]

    terminator = True

    @staticmethod
    def infer(values: Sequence[object]) -> tuple[()]:
        return ()
