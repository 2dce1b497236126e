"""Estimate what ops take while some of their images stay in sram: what choosing those goes by."""

from collections.abc import KeysView, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from math import inf, prod
from typing import Any

import numpy as np

from ....dialects import dla, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.op import Op
from ....dialects.core.tensor import Array
from ....dialects.dla.buffers import BufferOp
from ....dialects.dla.types import SRAM
from ..layout.memory_layout import Layout
from .alias_analysis import Joins, placed
from .conv_plan import cycles_of, plan_conv
from .cycles import moving, streaming, with_traffic
from .dry_run import Trial
from .group_members import is_image, outputs_of
from .placement import Images, Window
from .tile_conv import shape_of
from .tiler import Tiler, cut
from .tilings import tiling_of


@dataclass(frozen=True)
class Choice:
    """Say what stays, and what is then made at its place in something else."""

    stay: AbstractSet[ir.Value]
    joins: Joins


class StayCosts:
    """Say how many cycles ops of a group take, and dram for what they move (see `with_traffic`).

    Convolutions take what their cheapest plans do; what other ops move is found out by cutting
    them into tiles that nobody writes.
    """

    def __init__(
        self, module: Module, group: tri.Group, members: Sequence[Op], layout: Layout
    ) -> None:
        self.module = module
        self.group = group
        self.members = members
        self.layout = layout
        self.outputs = set(outputs_of(group))
        self.images = [_images(op) for op in members]
        self.known: dict[object, float] = {}

    def of(self, number: int, choice: Choice, room: int) -> float:
        """Return what an op takes with so many bytes of sram for its tiles; inf if none fit."""
        op = self.members[number]
        places = {value: self._place(op, value, choice) for value in self.images[number]}
        key = (number, room, *places.values())
        if key not in self.known:
            self.known[key] = self._of(op, places, room)
        return self.known[key]

    def bring(self, size: int) -> float:
        """Return what it takes to load an image of so many bytes as a whole."""
        cycles = moving(self.layout, dla.Load, 1, size)
        return with_traffic(cycles, cycles)

    def _place(self, op: Op, value: ir.Value, choice: Choice) -> "_Place":
        joined = choice.joins.in_place(op, value)
        return _Place(value in choice.stay, self._spilled(value, choice), joined)

    def _spilled(self, value: ir.Value, choice: Choice) -> bool:
        """Say whether a value is in dram."""
        if value not in choice.stay or value in self.outputs:
            return True
        whole = choice.joins.whole_of(value)
        return whole is not None and self._spilled(whole, choice)

    def _of(self, op: Op, places: Mapping[ir.Value, "_Place"], room: int) -> float:
        tiler = _Tally(self.module, self.group.block, self.layout, self.group.operation)
        for value, place in places.items():
            # That a value is anywhere at all is what counts here.
            sram, dram = (Window(value) if there else None for there in (place.stays, place.dram))
            tiler.values[value] = Images(tensor_of(value.type).shape, sram, dram)
        for value, at in placed(op) if isinstance(op, dla.Concat) else ():
            images = tiler.values[value]
            if places[value].joined and images.within is None:
                images.within, images.at = tiler.values[op.results[0]], at
        if isinstance(op, dla.Slice) and places[op.x].joined:
            tiler.values[op.y].within = tiler.values[op.x]
        try:
            if isinstance(op, dla.Conv):
                return cut(self._conv, op, tiler, room, self.layout.capacity("weights"))
            cut(tiling_of(op), op, tiler, room, self.layout.capacity("weights"))
        except Unsupported:
            return inf
        cycles = [moving(self.layout, cls, *moved) for cls, moved in tiler.moved.items()]
        return with_traffic(max(*cycles, tiler.computed, 0), sum(cycles))

    def _conv(self, op: dla.Conv, tiler: Tiler) -> float:
        """Return what the cheapest plan takes, and what it takes to store a result that stays."""
        shape, _, writer = shape_of(op, tiler)
        key = (shape, tiler.room, tiler.weight_budget)
        if key not in self.known:
            plan = plan_conv(shape, self.layout, tiler.room, tiler.weight_budget)
            self.known[key] = cycles_of(plan, shape, self.layout)
        if writer.stores or writer.images.dram is None:
            return self.known[key]
        result = self.layout.images(writer.images.shape, SRAM)
        return self.known[key] + moving(self.layout, dla.Store, 1, result.size_bytes)


def _images(op: Op) -> KeysView[ir.Value]:
    """Return the images that an op reads and makes, in order."""
    values = (*op.operation.operands, *op.results)
    return dict.fromkeys(value for value in values if is_image(value)).keys()


@dataclass(frozen=True)
class _Place:
    """Say whether a value stays, whether it is in dram, and whether it is at its place already."""

    stays: bool
    dram: bool
    joined: bool


@dataclass
class _Tally(Trial):
    """Count what ops would load and store: how many packets, of how many bytes, of each class.

    `computed` is for how many cycles they would compute.
    """

    moved: dict[type[BufferOp], tuple[int, int]] = field(
        default_factory=dict[type[BufferOp], tuple[int, int]]
    )
    computed: int = 0

    def array(self, value: ir.Value) -> Array:
        return np.zeros(tensor_of(value.type).shape, np.int8)

    def put(self, cls: type[BufferOp], *buffers: ir.Value, **attributes: Any) -> None:
        size = prod(attributes.get(name, 1) for name in ("rows", "columns", "channels", "length"))
        if issubclass(cls, dla.LoadWeights):
            self._move(dla.Load, size)
        elif issubclass(cls, (dla.Load, dla.Store)):
            self._move(cls, size)
        else:
            self.computed += streaming(self.layout, cls, size)

    def _move(self, cls: type[BufferOp], size: int) -> None:
        packets, total = self.moved.get(cls, (0, 0))
        self.moved[cls] = (packets + 1, total + size)
