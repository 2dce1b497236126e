"""What a session does at some sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from ..frozen import Frozen
from ..sizes.values import Shapes
from ..slots import Slot
from ..step import Run

if TYPE_CHECKING:
    from .staged import StagedRun


class Plan(Frozen):
    """Hold the steps and the outputs of runs at some sizes, and the bytes of their arenas.

    `shapes` and `sizes` are the shapes and the bytes of what `slots` names. Where a step finds
    sizes, all of these are up to it, and `rest` does what follows.
    """

    steps: Sequence[Run]
    slots: Sequence[Slot]
    shapes: Shapes
    sizes: Sequence[int] = ()
    arenas: Mapping[int, int] = field(default_factory=dict[int, int])
    rest: "StagedRun | None" = None

    @cached_property
    def outputs(self) -> tuple[Slot, ...]:
        """Return the outputs, whose sizes are numbers."""
        pairs = zip(self.slots, self.shapes, strict=True)
        return tuple(Slot(slot.name, slot.base, shape, slot.dtype) for slot, shape in pairs)
