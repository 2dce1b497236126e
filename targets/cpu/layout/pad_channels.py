"""Fill up channels to whole blocks around depthwise convolutions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import NATIVE, Machine, find_machine
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, view
from ....dialects.core.op import Op
from ....dialects.core.states.kept import is_kept
from ....dialects.core.tensor import DTYPES, Array, is_float
from ....passes.core import Pass
from ....passes.rewriting import NoMatch, Rewriter, in_order, rewrite, users
from ..schedule.layout_costs import conv_cost, depthwise_costs
from ..schedule.machine_pattern import MachinePattern
from ..schedule.products import product_of
from .packed_constants import constant_before, packed_constant

LARGE = 16 << 20
"""Bytes from which on an image comes from memory, where more of them cost more than blocks gain."""

WORTH = 5.0
"""How many times what dense convolutions lose blocks must gain.

They gained that in volumes. In images, where it was at most 4 times, networks were no faster.
"""


class PadChannels(Pass):
    """Fill up the channels of images around depthwise convolutions, so that they can be blocked.

    Convolutions that make such an image get kernels of zeros, those that read it get weights of
    zeros, and what is between them computes some channels more, on which nothing depends. That pays
    where blocks of a `machine` save a depthwise convolution much more than the others lose.

        %a = tri.conv %x, %w : 54 channels          =>   … : 64 channels
        %b = tri.conv %a, %v {group = 54}                  … {group = 64}
        %c = tri.conv %b, %u : 24 channels                 … : 24 channels
    """

    machine: str = NATIVE

    def run(self, module: Module) -> None:
        rewrite(module, _Pad(find_machine(self.machine)))


class _Pad(MachinePattern):
    root = tri.Conv

    def rewrite(self, op: tri.Conv, rewriter: Rewriter) -> None:
        channels, lanes = op.group, self.machine.lanes(DTYPES["f32"].bits)
        if not op.is_depthwise or channels < lanes or channels % lanes == 0:
            raise NoMatch(f"is no depthwise convolution of more than a block of {lanes} channels")
        region = _Region(channels, -(-channels // lanes) * lanes, rewriter)
        region.grow([op.x, op.y])
        region.need_gain(self.machine)
        region.build()


@dataclass
class _Region:
    """Gather the images with some channels that have to be filled up together, and their ops.

    `makers` and `readers` are convolutions that sum over channels; those of `inside` work on each
    channel by itself.
    """

    channels: int
    filled: int
    rewriter: Rewriter
    images: set[ir.Value] = field(default_factory=set[ir.Value])
    makers: list[tri.Conv] = field(default_factory=list[tri.Conv])
    readers: list[tri.Conv] = field(default_factory=list[tri.Conv])
    inside: list[Op] = field(default_factory=list[Op])

    def grow(self, images: Sequence[ir.Value]) -> None:
        """Add images, and all that must be filled up with them; raise NoMatch if one cannot be."""
        pending = list(images)
        while pending:
            image = pending.pop()
            if image in self.images:
                continue
            self._need_image(image)
            self.images.add(image)
            maker = self.rewriter.find_producer(image)
            if isinstance(maker, tri.Conv) and maker.group == 1:
                self._need_weights(maker)
                self.makers.append(maker)
            else:
                pending += self._neighbours(maker)
            for user in map(view, users(image)):
                if isinstance(user, tri.Conv) and user.group == 1 and user.x == image:
                    self._need_weights(user)
                    self.readers.append(user)
                else:
                    pending += self._neighbours(user)

    def _need_image(self, image: ir.Value) -> None:
        tensor = tensor_of(image.type)
        if tensor.rank not in (4, 5) or tensor.shape[1] != self.channels:
            raise NoMatch(f"{tensor} is no image of {self.channels} channels")
        if not is_float(tensor.dtype) or tensor.likely.size_bytes > LARGE:
            raise NoMatch(f"{tensor} is no image of floats, or too large")
        if is_kept(image):
            raise NoMatch("is of a value that is kept, from which others go on")

    def _need_weights(self, op: tri.Conv) -> None:
        for value in (op.w, op.b):
            if value is not None:
                self.rewriter.need_weight(value)

    def _neighbours(self, op: Op | None) -> list[ir.Value]:
        """Return the images that are filled up if one of an op inside of the region is."""
        if op is None or not self._keeps_channels(op):
            raise NoMatch(f"{op.op_name if op else 'an input'} does more than work on channels")
        if op not in self.inside:
            self.inside.append(op)
        return [op.results[0], *filter(self._is_image, op.operation.operands)]

    def _keeps_channels(self, op: Op) -> bool:
        if isinstance(op, tri.Conv):
            self._need_weights(op)
            return op.is_depthwise and op.group == self.channels
        if isinstance(op, tri.ReduceMean | tri.ReduceMax | tri.ReduceSum):
            return op.keepdims and 0 not in op.axes and 1 not in op.axes
        if isinstance(op, tri.Pad):
            rank = len(op.pads) // 2
            return not (op.pads[1] or op.pads[rank + 1])
        if isinstance(op, tri.MaxPool | tri.AveragePool):
            return True
        return op.elementwise and all(self._can_fill(v, op) for v in op.operation.operands)

    def _can_fill(self, value: ir.Value, op: Op) -> bool:
        """Return whether an operand of an elementwise op is an image, a constant, or neither."""
        if self._is_image(value):
            return tensor_of(value.type).rank == tensor_of(op.results[0].type).rank
        return self._channel_axis(value, op) is None or self._is_constant(value)

    def _channel_axis(self, value: ir.Value, op: Op) -> int | None:
        """Return which axis of an operand runs along channels; None if it is broadcast there."""
        shape = tensor_of(value.type).shape
        axis = len(shape) - tensor_of(op.results[0].type).rank + 1
        return None if axis < 0 or shape[axis] == 1 else axis

    def _is_image(self, value: ir.Value) -> bool:
        """Return whether an operand is filled up: others have no channels, or are constants."""
        shape = tensor_of(value.type).shape
        return len(shape) > 1 and shape[1] == self.channels and not self._is_constant(value)

    def _is_constant(self, value: ir.Value) -> bool:
        return self.rewriter.find_constant(value) is not None

    def need_gain(self, machine: Machine) -> None:
        """Raise NoMatch unless blocks save more than the zeros cost."""
        more = self.filled / self.channels
        gain = cost = 0.0
        for op in self.inside:
            if isinstance(op, tri.Conv):
                plain, blocked = depthwise_costs(op, machine)
                gain += plain - more * blocked
        for op in [*self.makers, *self.readers]:
            product = product_of(op)
            if product is not None:
                cost += (more - 1) * conv_cost(product, machine, 0.0)[1]
        if gain < WORTH * cost:
            raise NoMatch(f"blocks gain too little for {self.filled - self.channels} channels more")

    def build(self) -> None:
        """Build all ops anew, and replace the readers."""
        order = in_order([*self.makers, *self.inside, *self.readers])
        made: dict[ir.Value, ir.Value] = {}
        left: list[Op] = []
        for op in order:
            new = self._conv(op, made) if isinstance(op, tri.Conv) else self._other(op, made)
            if op.results[0] in self.images:
                made[op.results[0]] = new.results[0]
                left.append(op)
            else:
                self.rewriter.replace(op, new)
        for op in reversed(left):
            self.rewriter.erase_unused(op)

    def _conv(self, op: tri.Conv, made: dict[ir.Value, ir.Value]) -> Op:
        added, dense = self.filled - self.channels, op.group == 1
        outputs = added if op.y in self.images else 0
        inputs = added if dense and op.x in self.images else 0

        def fill(w: Array) -> Array:
            return np.pad(w, [(0, outputs), (0, inputs), *[(0, 0)] * (w.ndim - 2)])

        w = packed_constant(op, op.w, fill, self.rewriter)
        b = op.b
        if b is not None and outputs:
            b = packed_constant(op, b, lambda b: np.pad(b, (0, outputs)), self.rewriter)
        more: dict[str, Any] = op.attributes
        more["group"] = 1 if dense else self.filled
        with self.rewriter.before(op):
            return tri.Conv.build(made.get(op.x, op.x), w, b, **more)

    def _other(self, op: Op, made: dict[ir.Value, ir.Value]) -> Op:
        operands = [
            made[value] if value in made else self._filled(value, op)
            for value in op.operation.operands
        ]
        with self.rewriter.before(op):
            return type(op).build(*operands, **op.attributes)

    def _filled(self, value: ir.Value, op: Op) -> ir.Value:
        """Fill up the channels of a constant with ones, of which no division makes infinities."""
        axis = self._channel_axis(value, op)
        if axis is None:
            return value
        widths = [(0, 0)] * tensor_of(value.type).rank
        widths[axis] = (0, self.filled - self.channels)
        array = np.pad(self.rewriter.constant(value), widths, constant_values=1)
        return constant_before(op, array, "filled", self.rewriter)
