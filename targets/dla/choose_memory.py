"""Choose which values stay in sram from where they are made to where they are last used."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, ops
from ...dialects.core.op import Op, view
from ...dialects.dla.dialect import TensorOp
from ...passes.core import Pass
from .layout import Layout, layout_of

STAYS = "dla.stays"
"""The attribute of an op whose result stays in sram, and of a group: which inputs do."""


class ChooseMemory(Pass):
    """Let values of an accelerator's groups stay in sram as wholes, as far as there is room.

    Those that save most of dram's traffic for the room that they take, and for as long, are first.
    `share` is how much of sram they may take where an op has anything else to load or to store, in
    percent.

        %a = dla.conv %x   =>   %a = dla.conv %x {dla.stays}
        %b = dla.conv %a        %b = dla.conv %a
    """

    target: str = "vanilla"
    description: str = ""
    share: int = 100

    def run(self, module: Module) -> None:
        layout = layout_of(self.target, self.description)
        with module.operation.context:
            for op in ops(module.main):
                if isinstance(op, tri.Group) and op.target == self.target:
                    _choose(op, layout, self.share)


@dataclass(frozen=True)
class _Value:
    """Describe a value: its bytes, from which op to which it lives, and how often it is moved."""

    value: ir.Value
    size: int
    first: int
    last: int
    moves: int


def _choose(group: tri.Group, layout: Layout, share: int) -> None:
    members = [op for op in ops(group.block) if isinstance(op, TensorOp)]
    chosen: list[_Value] = []
    values = sorted(_values(group, members, layout), key=lambda v: (_price(v), v.first))
    for value in values:
        if value.moves and _fits([*chosen, value], members, layout, share):
            chosen.append(value)
    stay = {value.value for value in chosen}
    for op in members:
        if op.results[0] in stay:
            op.operation.attributes[STAYS] = ir.UnitAttr.get()
    inputs = [index for index, value in enumerate(group.block.arguments) if value in stay]
    if inputs:
        group.operation.attributes[STAYS] = ir.DenseI64ArrayAttr.get(inputs)


def _values(group: tri.Group, members: Sequence[Op], layout: Layout) -> list[_Value]:
    """List the images of a group, but for those that are constant outside."""
    outputs = list(group.block.operations)[-1].operation.operands
    places: dict[ir.Value, int] = {op.results[0]: n for n, op in enumerate(members)}
    found: list[_Value] = []
    inputs = [v for v in group.block.arguments if is_image(v) and not is_constant(group, v)]
    for value in [*inputs, *places]:
        uses = [n for n, op in enumerate(members) if value in list(op.operation.operands)]
        shape = layout.images(tensor_of(value.type).shape, "sram")
        made = value in places
        # Each use saves a load; what is made saves its store, unless it goes out anyway, and an
        # input has to be loaded once.
        moves = len(uses) + (made and value not in outputs) - (not made)
        first = places.get(value, uses[0] if uses else 0)
        last = max([first, *uses])
        found.append(_Value(value, shape.size_bytes, first, last, moves if uses else 0))
    return found


def _price(value: _Value) -> float:
    """Return the room that a value takes, over time, for each byte of traffic that it saves."""
    return (value.last - value.first + 1) / max(value.moves, 1)


def _fits(chosen: Sequence[_Value], members: Sequence[Op], layout: Layout, share: int) -> bool:
    stay = {value.value for value in chosen}
    capacity = layout.capacity("sram")
    for number in range(chosen[-1].first, chosen[-1].last + 1):
        taken = sum(v.size for v in chosen if v.first <= number <= v.last)
        if taken > (capacity if _still(members[number], stay) else capacity * share // 100):
            return False
    return True


def _still(op: Op, stay: set[ir.Value]) -> bool:
    """Say whether an op needs no tiles: all its images stay."""
    images = [v for v in [*op.operation.operands, *op.results] if is_image(v)]
    return all(value in stay for value in images)


def is_image(value: ir.Value) -> bool:
    """Say whether a value is a batch of images."""
    tensor = tensor_of(value.type)
    return tensor.rank == 4 and tensor.dtype == "i8"


def is_constant(group: tri.Group, argument: ir.Value) -> bool:
    """Say whether an argument of a group stands for a constant."""
    arguments: list[ir.Value] = list(group.block.arguments)
    value = group.operation.operands[arguments.index(argument)]
    made = view(value.owner) if isinstance(value, ir.OpResult) else None
    return isinstance(made, (tri.Constant, tri.Weight))
