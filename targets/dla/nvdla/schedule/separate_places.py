"""Copy values that have to be in two places."""

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.location import inner_location
from .....dialects.core.mlir import ir
from .....dialects.core.module import Module, ops
from .....passes.core import Pass
from ...schedule.group_members import groups_of, outputs_of
from ..choice import NAME, Choice
from ..dialect.emulated import EmulatedOp
from ..dialect.moves import Join, Window
from ..dialect.single import Sdp
from .places import Place, is_image, maker_of, places_of

FULL = Choice()


class SeparatePlaces(Pass):
    """Copy, by SDP, what a join or the end of a group needs in a place of its own.

    That are inputs of the group and windows, which are where they are, and values that have been
    placed already: in another join, or as an output. Pixels of larger images are copied, too, where
    channels have to stand one behind the other: as operands of a stage, and for the CPU.

        nvdla.join %x, %x   =>   nvdla.join (nvdla.sdp %x), (nvdla.sdp %x)
    """

    target: Choice = FULL

    def run(self, module: Module) -> None:
        with module.operation.context:
            for group in groups_of(module, NAME):
                _separate(group)


def _separate(group: tri.Group) -> None:
    placed: set[ir.Value] = set()
    end = list(group.block.operations)[-1].operation
    for number, value in enumerate(outputs_of(group)):
        if _is_elsewhere(value) or value in placed:
            value = _copied(value, end, number)
        placed.add(value)
    for op in [op for op in ops(group.block) if isinstance(op, Join)]:
        for number, value in enumerate(op.xs):
            if _is_elsewhere(value) or value in placed or isinstance(maker_of(value), EmulatedOp):
                value = _copied(value, op.operation, number)
            placed.add(value)
    places = places_of(group)
    for op in [op for op in ops(group.block) if isinstance(op, Sdp | EmulatedOp)]:
        for number, value in enumerate(op.operation.operands):
            is_read = number > 0 or isinstance(op, EmulatedOp)
            if is_read and is_image(value) and _is_scattered(value, places[value]):
                _copied(value, op.operation, number)


def _is_scattered(value: ir.Value, place: Place) -> bool:
    """Report whether a value is a pixel of an image of more, whose channels are apart."""
    whole, part = (tensor_of(each.type).shape[2:] for each in (place.root, value))
    return part == (1, 1) and whole != (1, 1)


def _is_elsewhere(value: ir.Value) -> bool:
    made = maker_of(value)
    return made is None or isinstance(made, Window)


def _copied(value: ir.Value, user: ir.Operation, number: int) -> ir.Value:
    """Let an operand of an operation be a copy."""
    with ir.InsertionPoint(user), inner_location(user.location):
        copy = Sdp.build(value).result
    user.operands[number] = copy
    return copy
