"""Numbers of channels as words of records: convolutions that differ in these alone share code.

A kernel for all sizes of a run has code for all heights of its tiles, and takes a multiple of the
time to compile. It needs the numbers of blocks of channels only as trip counts and as factors. So
they are symbols while it is lowered, which are likely what they stand for: costs do not change.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of, to_attribute, type_of
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op, view
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.substitution import substitute
from ....dialects.core.sizes.symbols import Range
from ....dialects.core.symbol_table import symbol_table
from ....dialects.core.tensor import Tensor


@dataclass(frozen=True)
class SharedForm:
    """Hold a group with symbols in place of some sizes, and the sizes."""

    group: tri.Group
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])

    def own(self, record: Sequence[Size]) -> tuple[Size, ...]:
        """Return what the words of a record are for the group itself."""
        return tuple(substitute(word, self.sizes) for word in record)


def shared_form(group: tri.Group) -> SharedForm:
    """Return a copy of a group with symbols for its numbers of channels, or the group itself.

    Groups without symbols keep their code: they stay as they are.
    """
    if all(tensor_of(value.type).is_static for value in group.block.arguments):
        return SharedForm(group)
    nowhere = cast("Any", False)  # of which the stub of `clone` does not know
    copy = view(group.operation.clone(ip=nowhere))
    assert isinstance(copy, tri.Group)
    sharing = _Sharing(copy)
    anchor = next((op for op in copy.members if not isinstance(op, tri.Constant)), None)
    if isinstance(anchor, cpu.LaneConv) and sharing.is_alone(anchor):
        sharing.share_lanes(anchor)
    elif isinstance(anchor, cpu.BlockedConv) and anchor.group == 1 and sharing.is_alone(anchor):
        sharing.share_depth(anchor)
        sharing.share_outputs(anchor)
    return SharedForm(copy, sharing.sizes) if sharing.sizes else SharedForm(group)


class _Sharing:
    """Put symbols in place of numbers of channels in a group."""

    def __init__(self, group: tri.Group) -> None:
        self.group = group
        self.sizes: dict[str, int] = {}

    def is_alone(self, anchor: Op) -> bool:
        """Return whether no other op reads the operands of the anchor."""
        return all(len(list(value.uses)) == 1 for value in anchor.operation.operands)

    def share_lanes(self, conv: cpu.LaneConv) -> None:
        """Share the number of blocks of a convolution in which each block is for itself."""
        count = tensor_of(conv.w.type).shape[0]
        if not self._is_shared(conv, count):
            return
        blocks = self._symbol("p", count)
        self._set(conv.x, 1, blocks)
        self._set(conv.w, 0, blocks)
        if conv.b is not None:
            self._set(conv.b, 0, blocks * tensor_of(conv.w.type).shape[-1])
        self._set_blocks(conv, blocks)

    def share_depth(self, conv: cpu.BlockedConv) -> None:
        """Share the number of channels, or of blocks of them, that are summed up."""
        image = tensor_of(conv.x.type).shape
        channels = self._symbol("c", image[1])
        lanes = math.prod(image[2 + len(conv.kernel) :])
        self._set(conv.x, 1, channels)
        self._set(conv.w, 1, channels * (math.prod(conv.kernel) * lanes))

    def share_outputs(self, conv: cpu.BlockedConv) -> None:
        """Share the number of whole panels of outputs."""
        columns = tensor_of(conv.w.type).shape[2]
        full, rest = divmod(conv.outputs, columns)
        if columns % conv.lanes or rest % conv.lanes or not full:
            return
        if not self._is_shared(conv, conv.outputs // conv.lanes):
            return
        panels = self._symbol("p", full)
        outputs = panels * columns + rest
        self._set(conv.w, 0, panels + (rest > 0))
        if conv.b is not None:
            self._set(conv.b, 0, outputs)
        conv.operation.attributes["outputs"] = to_attribute(outputs, int)
        self._set_blocks(conv, outputs // conv.lanes)

    def _symbol(self, kind: str, size: int) -> Size:
        name = f"_{kind}{size}"
        self.sizes[name] = size
        table = symbol_table(self.group.operation.context)
        return table.declare(name, Range(1, likely=size))

    def _is_shared(self, conv: Op, blocks: int) -> bool:
        """Return whether all images of the epilogue have that many blocks, or one for all."""
        images = self._images(conv)
        return blocks > 1 and all(_blocks(value, axis) in (1, blocks) for value, axis in images)

    def _set_blocks(self, conv: Op, blocks: Size) -> None:
        for value, axis in self._images(conv):
            if _blocks(value, axis) != 1:
                self._set(value, axis, blocks)

    def _images(self, conv: Op) -> list[tuple[ir.Value, int]]:
        """List the values with an axis of blocks, except what the convolution reads; with it."""
        inside = (value for op in self.group.members for value in op.results)
        after = tensor_of(conv.results[0].type).rank - 1
        read = list(conv.operation.operands)
        values = (v for v in (*self.group.block.arguments, *inside) if v not in read)
        placed = ((value, tensor_of(value.type).rank - after) for value in values)
        return [(value, axis) for value, axis in placed if axis >= 0]

    def _set(self, value: ir.Value, axis: int, size: Size) -> None:
        tensor = tensor_of(value.type)
        shape = (*tensor.shape[:axis], size, *tensor.shape[axis + 1 :])
        value.set_type(type_of(Tensor(shape, tensor.dtype)))


def _blocks(value: ir.Value, axis: int) -> Size:
    return tensor_of(value.type).shape[axis]
