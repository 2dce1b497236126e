"""Estimate the cost of ops for a choice of resident values."""

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
from ..layout.memory_layout import MemoryLayout
from .alias_analysis import AliasAnalysis, operand_offsets
from .conv_plan import cycles_of, plan_conv
from .cycles import transfer_cycles, vector_cycles, with_traffic
from .dry_run import DryRun
from .group_members import is_image, outputs_of
from .placement import BufferWindow, ImagePlacement
from .tile_conv import shape_of
from .tiler import Tiler
from .tilings import cut, tiling_of


@dataclass(frozen=True)
class Residency:
    """A choice of values that are resident in SRAM, and the aliases among them."""

    resident: AbstractSet[ir.Value]
    aliases: AliasAnalysis


class ResidencyCost:
    """Estimate cycles of the ops of a group, weighted with DRAM traffic (see `with_traffic`).

    A convolution costs what its cheapest plan does; the tiles of any other op are counted in a dry
    run.
    """

    def __init__(
        self, module: Module, group: tri.Group, members: Sequence[Op], layout: MemoryLayout
    ) -> None:
        self.module = module
        self.group = group
        self.members = members
        self.layout = layout
        self.outputs = set(outputs_of(group))
        self.images = [_images(op) for op in members]
        self.known: dict[object, float] = {}

    def of(self, number: int, residency: Residency, free: int) -> float:
        """Return the cost of an op whose tiles have `free` bytes of SRAM; inf if none fit."""
        op = self.members[number]
        storage = {value: self._storage(op, value, residency) for value in self.images[number]}
        key = (number, free, *storage.values())
        if key not in self.known:
            self.known[key] = self._of(op, storage, free)
        return self.known[key]

    def load(self, size: int) -> float:
        """Return the cost of loading a whole image of `size` bytes."""
        cycles = transfer_cycles(self.layout, dla.Load, 1, size)
        return with_traffic(cycles, cycles)

    def _storage(self, op: Op, value: ir.Value, residency: Residency) -> "_Storage":
        aliased = residency.aliases.shares_storage(op, value)
        return _Storage(value in residency.resident, self._in_dram(value, residency), aliased)

    def _in_dram(self, value: ir.Value, residency: Residency) -> bool:
        if value not in residency.resident or value in self.outputs:
            return True
        parent = residency.aliases.parent_of(value)
        return parent is not None and self._in_dram(parent, residency)

    def _of(self, op: Op, storage: Mapping[ir.Value, "_Storage"], free: int) -> float:
        tiler = _TrafficCounter(self.module, self.group.block, self.layout, self.group.operation)
        for value, each in storage.items():
            # Costs depend on whether there is a buffer, not on which one.
            sram, dram = (BufferWindow(value) if has else None for has in (each.sram, each.dram))
            tiler.values[value] = ImagePlacement(tensor_of(value.type).shape, sram, dram)
        for value, at in operand_offsets(op) if isinstance(op, dla.Concat) else ():
            images = tiler.values[value]
            if storage[value].aliased and images.parent is None:
                images.parent, images.at = tiler.values[op.results[0]], at
        if isinstance(op, dla.Slice) and storage[op.x].aliased:
            tiler.values[op.y].parent = tiler.values[op.x]
        try:
            if isinstance(op, dla.Conv):
                return cut(self._conv, op, tiler, free, self.layout.capacity("weights"))
            cut(tiling_of(op), op, tiler, free, self.layout.capacity("weights"))
        except Unsupported:
            return inf
        cycles = [transfer_cycles(self.layout, cls, *moved) for cls, moved in tiler.moved.items()]
        return with_traffic(max(*cycles, tiler.computed, 0), sum(cycles))

    def _conv(self, op: dla.Conv, tiler: Tiler) -> float:
        """Return the cost of the cheapest plan, and of storing a resident result."""
        shape, _, writer = shape_of(op, tiler)
        key = (shape, tiler.sram_free, tiler.weight_budget)
        if key not in self.known:
            plan = plan_conv(shape, self.layout, tiler.sram_free, tiler.weight_budget)
            self.known[key] = cycles_of(plan, shape, self.layout)
        if writer.stores or writer.images.dram is None:
            return self.known[key]
        result = self.layout.images(writer.images.shape, SRAM)
        return self.known[key] + transfer_cycles(self.layout, dla.Store, 1, result.size_bytes)


def _images(op: Op) -> KeysView[ir.Value]:
    """Return the images that an op reads and writes, in order."""
    values = (*op.operation.operands, *op.results)
    return dict.fromkeys(value for value in values if is_image(value)).keys()


@dataclass(frozen=True)
class _Storage:
    """Whether an image is in SRAM, whether it is in DRAM, and whether an op aliases it."""

    sram: bool
    dram: bool
    aliased: bool


@dataclass
class _TrafficCounter(DryRun):
    """Count packets and bytes that tiles load and store, by class, and cycles that they compute."""

    moved: dict[type[BufferOp], tuple[int, int]] = field(
        default_factory=dict[type[BufferOp], tuple[int, int]]
    )
    computed: int = 0

    def array(self, value: ir.Value) -> Array:
        return np.zeros(tensor_of(value.type).shape, np.int8)

    def put(self, cls: type[BufferOp], *buffers: ir.Value, **attributes: Any) -> None:
        size = prod(attributes.get(name, 1) for name in ("rows", "columns", "channels", "length"))
        if issubclass(cls, (dla.Load, dla.LoadWeights, dla.Store)):
            kind = dla.Store if issubclass(cls, dla.Store) else dla.Load
            packets, total = self.moved.get(kind, (0, 0))
            self.moved[kind] = (packets + 1, total + size)
        else:
            self.computed += vector_cycles(self.layout, cls, size)
