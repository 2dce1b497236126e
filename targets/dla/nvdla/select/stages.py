"""Stages of SDP on floats: those that one operation computes, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.op import Op
from .....dialects.core.tensor import Array
from .....passes.rewriting import uses
from ..dialect.dialect import bits_of_half
from ..dialect.single import STAGES, Sdp, spelled
from ..format.network import Precision
from ..format.operations import SdpStage
from ..reference import sdp
from .selection import NvdlaSelection, image_of, image_shape

RELU = SdpStage(enable=1, activation=sdp.RELU)


@dataclass(frozen=True)
class Stage:
    """A stage of SDP; `operand` has its numbers where it has more than one."""

    form: SdpStage
    operand: ir.Value | None = None

    @staticmethod
    def of(
        kind: int, operand: ir.Value | float, alu: int = sdp.SUM, activation: int = 0
    ) -> "Stage":
        """Return a stage that uses a number, or a value: one for each channel, or an image."""
        form = SdpStage(enable=1, kind=kind, alu=alu, activation=activation)
        if not isinstance(operand, ir.Value):
            (bits,) = bits_of_half(np.asarray([operand], np.float16)) & 0xFFFF
            name = "alu_operand" if kind == sdp.ALU else "mul_operand"
            return Stage(replace(form, precision=Precision.FP16, **{name: int(bits)}))
        is_vector = tensor_of(operand.type).shape[1:][1:] in ((), (1, 1))
        mode = sdp.PER_CHANNEL if is_vector else sdp.PER_ELEMENT
        return Stage(replace(form, precision=Precision.FP16, mode=mode), operand)


@dataclass
class Pending:
    """An SDP that is not built yet: its source, and the stages and operands it has so far."""

    selection: NvdlaSelection
    source: ir.Value
    forms: dict[str, SdpStage]
    operands: dict[str, ir.Value | None]
    covered: tuple[Op, ...] = ()

    @staticmethod
    def on(x: ir.Value, selection: NvdlaSelection) -> "Pending":
        """Go on with the SDP that makes a tensor, if nothing else reads it; or begin another."""
        image, through = found_image(x, selection)
        made = selection.rewriter.find_producer(image)
        values = [image, *(op.results[0] for op in through)]
        if not isinstance(made, Sdp) or made.lut is not None or any(uses(v) != 1 for v in values):
            return Pending(selection, image, {}, {})
        descriptor = made.descriptor
        operands: list[ir.Value | None] = made.operand_groups()[1:4]
        given = dict(zip(map(str, STAGES), operands, strict=True))
        forms = {name: getattr(descriptor, name) for name in STAGES if getattr(made, name)}
        used = {name: given[name] for name in forms}
        return Pending(selection, made.source, forms, used, (made, *through))

    def add(self, stage: Stage) -> None:
        """Add a stage: of X, for which another operation begins where both are used."""
        last = [name for name in STAGES if name in self.forms][-1:]
        if stage.form == RELU and last and last[0] != "y":
            form = self.forms[last[0]]
            if form.activation in (0, sdp.RELU):
                self.forms[last[0]] = replace(form, activation=sdp.RELU)
                return
        free = [name for name in STAGES[:2] if name not in self.forms]
        if not free or "y" in self.forms or last == ["x2"]:
            self.source, self.forms, self.operands = self.build(), {}, {}
            free = list(STAGES[:2])
        self.forms[free[0]], self.operands[free[0]] = stage.form, stage.operand

    def build(self, **more: Any) -> ir.Value:
        """Build the operation and return its result; `more` are attributes and tables."""
        lut = more.pop("lut", None)
        texts = {name: spelled(form) for name, form in self.forms.items()}
        operands = [self.operands.get(name) for name in STAGES]
        return self.selection.build(Sdp, self.source, *operands, lut, **texts, **more).result


def found_image(x: ir.Value, selection: NvdlaSelection) -> tuple[ir.Value, Sequence[Op]]:
    """Return the image that a tensor was reshaped from, and that reshape; or build one."""
    made = selection.rewriter.find_producer(x)
    shape = image_shape(tensor_of(x.type).shape)
    if isinstance(made, tri.Reshape) and tensor_of(made.x.type).shape == shape:
        return made.x, (made,)
    return image_of(x), ()


def select_stages(
    op: Op, selection: NvdlaSelection, x: ir.Value, stages: Sequence[Stage], **more: Any
) -> None:
    """Replace an op by stages of SDP on its operand."""
    with selection.place():
        pending = Pending.on(x, selection)
        for stage in stages:
            pending.add(stage)
        y = pending.build(**more)
    selection.replaced(y, pending.covered)


def channel_vector(numbers: Array, op: Op) -> Array | None:
    """Return one number for each channel of an op's image, None if they differ inside."""
    whole = tensor_of(op.results[0].type).shape
    try:
        aligned = np.broadcast_to(numbers, whole)
    except ValueError:
        return None
    aligned = aligned.reshape(image_shape(whole))
    found = aligned[0, :, 0, 0]
    same = (aligned == found[:, None, None]).all()
    return np.ascontiguousarray(found) if same else None
