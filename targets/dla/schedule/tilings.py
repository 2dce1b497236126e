"""Find the tiling rule of an op, and apply rules within the memory that is free."""

from collections.abc import Callable
from typing import Any, TypeVar

from ....dialects.core.errors import CompileError, Diagnostic, Unsupported
from ....dialects.core.location import describe
from ....dialects.core.op import Op
from ..phases import TENSOR_SCHED
from . import tile_conv as tile_conv  # registers its rules
from . import tile_vector as tile_vector  # registers its rules
from .tiler import TILINGS, Rule, Tiler

Result = TypeVar("Result")


def find_tiling(op: Op) -> Rule | None:
    """Return the tiling rule of an op, or None."""
    return TILINGS.get(type(op))


def tiling_of(op: Op) -> Rule:
    """Return the tiling rule of an op; raise CompileError if there is none."""
    if (rule := find_tiling(op)) is not None:
        return rule
    message = f"'{op.op_name}' op has no rule for its tiles: add a function under @tiles"
    raise CompileError([Diagnostic(describe(op.location), message, (f"in phase {TENSOR_SCHED}",))])


def cut(
    rule: Callable[[Any, Tiler], Result], op: Op, tiler: Tiler, sram: int, weights: int
) -> Result:
    """Apply a rule with budgets for two tiles and three weight chunks, or else for one of each.

    `sram` and `weights` are the free bytes of these memories. Raises Unsupported if not even the
    smallest tile fits.
    """
    for tiles, chunks in ((2, 3), (1, 1)):
        tiler.sram_free, tiler.tile_budget = sram, sram // tiles
        tiler.weight_budget = weights // chunks
        try:
            return rule(op, tiler)
        except Unsupported as error:
            refused = error
    raise refused
