"""What a session does at some sizes."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..sizes.values import Shapes
from ..slots import Slot
from ..step import Run

if TYPE_CHECKING:
    from .staged import StagedRun

_NO_ARENAS: Mapping[int, int] = MappingProxyType({})


class Plan:
    """Hold the steps and the outputs of runs at some sizes, and the bytes of their arenas.

    `shapes` and `sizes` are the shapes and the bytes of what `slots` names. Where a step finds
    sizes, all of these are up to it, and `rest` does what follows.
    """

    def __init__(
        self,
        steps: Sequence[Run],
        slots: Sequence[Slot],
        shapes: Shapes,
        sizes: Sequence[int] = (),
        arenas: Mapping[int, int] = _NO_ARENAS,
        rest: "StagedRun | None" = None,
    ) -> None:
        self.steps = steps
        self.slots = slots
        self.shapes = shapes
        self.sizes = sizes
        self.arenas = arenas
        self.rest = rest

    @cached_property
    def outputs(self) -> tuple[Slot, ...]:
        """Return the outputs, whose sizes are numbers."""
        pairs = zip(self.slots, self.shapes, strict=True)
        return tuple(Slot(slot.name, slot.base, shape, slot.dtype) for slot, shape in pairs)
