"""Loops with carried values."""

from collections.abc import Sequence

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.mlir import ir
from .dialect import BodyOp, TileOp
from .types import Tile, need_index

BOUNDS = ("lower", "upper", "step")


class For(BodyOp):
    """Run `body` for lower, lower + step, … below `upper`, and carry values from turn to turn.

    `step` is positive. The body's arguments are the index, an i32, and the carried values; it ends
    in `tile.yield` with those of the next turn, and the last ones are the results. `stages` says
    how many turns ahead loads may be started; 0 is the kernel's setting.
    """

    lower: Operand
    upper: Operand
    step: Operand
    carried: Sequence[Operand]
    stages: int = 0
    outputs: Sequence[Result]

    last = "tile.yield"

    def verify(self) -> None:
        self.check_form()
        if self.stages < 0:
            raise Invalid(f"stages is {self.stages}, must not be negative")
        for which, value in zip(BOUNDS, self.operation.operands, strict=False):
            bound = need_index(which, self.plain_type(value.type))
            if bound.shape:
                raise Invalid(f"{which} is {bound}, must be a scalar")
        carried = self._tiles(self.carried)
        takes, want = self._tiles(self.block.arguments), [Tile((), "i32"), *carried]
        if takes != want:
            raise Invalid(f"body takes {_listed(takes)}, must take {_listed(want)}")
        for which, values in (("yields", self.end.operands), ("returns", self.results)):
            if (tiles := self._tiles(values)) != carried:
                raise Invalid(f"{which} {_listed(tiles)}, carries {_listed(carried)}")

    def _tiles(self, values: Sequence[ir.Value]) -> list[Tile]:
        return [self.plain_type(value.type) for value in values]


def _listed(tiles: Sequence[Tile]) -> str:
    return f"({', '.join(map(str, tiles))})"


class Yield(TileOp):
    """End the body of a loop with the values that its next turn gets."""

    values: Sequence[Operand]

    terminator = True

    def infer(self, values: Sequence[Tile]) -> tuple[()]:
        return ()
