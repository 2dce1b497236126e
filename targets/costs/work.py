"""What a kernel has to do: the arithmetic that it counts for and the bytes that it moves."""

from dataclasses import dataclass

from ...dialects import tri
from ...dialects.core.module import ops
from .flops import flops, multiplies
from .traffic import moved_bytes


@dataclass(frozen=True)
class Work:
    """Hold what a kernel has to do, at the likely sizes.

    `ops` are the names of what it computes, constants left out. `flops` counts products and sums,
    0 for what does not contract; `multiplies` is the element type of the factors. `moved_bytes`
    counts each input and each output once, scratch memory not at all; of a table that is gathered
    from, only as much as is taken.
    """

    ops: tuple[str, ...]
    flops: int
    moved_bytes: int
    multiplies: str = "f32"

    @staticmethod
    def of(group: tri.Group) -> "Work":
        """Return the work of a group."""
        members = [op for op in ops(group.block) if not op.terminator]
        return Work(
            tuple(op.op_name for op in members if not isinstance(op, tri.Constant)),
            sum(map(flops, members)),
            moved_bytes(group),
            next(map(multiplies, filter(flops, members)), "f32"),
        )
