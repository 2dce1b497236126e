"""Give the values of a group their addresses in the memory for activations."""

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.module import Module
from .....passes.core import Pass
from ....memory.arena import Interval, plan_arena
from ...schedule.group_members import groups_of, outputs_of
from ..choice import NAME, Choice
from ..dialect.dialect import precision_of
from ..surfaces import SurfaceLayout, dense
from .places import maker_of, places_of, steps_of

FULL = Choice()
ADDRESS, ARENA_BYTES = "nvdla.address", "nvdla.arena_bytes"
ALIGNMENT = 256


class PlaceValues(Pass):
    """Give each image that is stored as a whole an address; the group gets the size of all.

    Images that are live at once share no bytes. Inputs and outputs have memories of their own.

        nvdla.sdp %sums   =>   nvdla.sdp %sums {nvdla.address = 4096 : i64}
    """

    target: Choice = FULL

    def run(self, module: Module) -> None:
        atom = self.target.configuration.atom
        with module.operation.context:
            for group in groups_of(module, NAME):
                _place(group, atom)


def layout_of(value: ir.Value, atom: int) -> SurfaceLayout:
    """Return the layout of an image that is stored as a whole."""
    tensor = tensor_of(value.type)
    _, channels, height, width = tensor.shape
    return dense(channels, height, width, atom, precision_of(tensor.dtype).bytes)


def _place(group: tri.Group, atom: int) -> None:
    places = places_of(group)
    outside = {*group.block.arguments, *outputs_of(group)}
    live: dict[ir.Value, tuple[int, int]] = {}
    for number, step in enumerate(steps_of(group)):
        for value in step.images:
            root = places[value].root
            if root not in outside:
                live[root] = live.get(root, (number, number))[0], number
    roots = list(live)
    intervals = [
        Interval(number, layout_of(root, atom).bytes, *live[root])
        for number, root in enumerate(roots)
    ]
    plan = plan_arena(intervals, ALIGNMENT)
    for number, root in enumerate(roots):
        maker = maker_of(root)
        assert maker is not None, "what is no input is made in the group"
        _note(maker.operation, ADDRESS, int(plan.offsets[number]))
    _note(group.operation, ARENA_BYTES, int(plan.size_bytes))


def _note(operation: ir.Operation, name: str, number: int) -> None:
    operation.attributes[name] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
