"""Select the ops on integers that engines of NVDLA run."""

from collections.abc import Iterator
from typing import Any

from .....dialects import tri
from .....dialects.core.mlir import ir
from .....dialects.core.module import Module
from .....dialects.core.op import Op, view
from .....dialects.dla.dialect import TensorOp
from .....passes.core import Pass
from .....passes.rewriting import NoMatch, Rewriter
from ...select.requantized import RequantizeRules
from ...select.segment_dla import Accepts, segment
from ...select.select_dla import SelectOps, select
from ...select.selection import BYTE, Rule
from ..choice import Choice
from ..configuration import Configuration
from .convolutions import select_conv, select_product
from .counted_averages import select_counted_average
from .deconvolutions import select_deconv
from .elementwise import select_lookup, select_scale, select_sum
from .elementwise import select_product as select_elements
from .halves import HALF, HALVES
from .limits import op_refusal
from .normalization import normalizes, select_lrn
from .places import select_concat, select_slice
from .pools import select_average, select_max_pool, select_mean
from .selection import NvdlaSelection

FULL = Choice()


class SelectNvdla(Pass):
    """Replace ops on integers by those of engines of NVDLA, on images [N, channels, rows, columns].

    With `of` f16, replace those on floats of 16 bits, where the configuration has them.

    Refusals are a result of the pass, as those of `select-dla`.

        tri.requantize (tri.conv (%x - zero : i32), (%w : i32), %b)
            =>   nvdla.sdp (nvdla.conv %x, %w), %b', %factors
    """

    target: Choice = FULL
    of: str = BYTE

    def run(self, module: Module) -> None:
        pattern = _SelectHalves(self.target) if self.of == HALF else _Select(self.target)
        select(module, "nvdla", pattern)


class SegmentNvdla(Pass):
    """Put ops of `nvdla` into as few groups as possible without cycles, as `segment-dla` does.

    Each group becomes a loadable.
    """

    target: Choice = FULL

    def run(self, module: Module) -> None:
        segment(module, accepts(self.target.configuration))


def accepts(configuration: Configuration) -> Accepts:
    """Return what accepts the ops that a configuration runs."""

    def accepted(operation: ir.Operation) -> TensorOp | None:
        op = view(operation)
        if not isinstance(op, TensorOp) or op.dialect.name != "nvdla":
            return None
        return op if op_refusal(op, configuration) is None else None

    return accepted


class _SelectHalves(SelectOps):
    makes = (HALF,)

    def __init__(self, target: Choice) -> None:
        super().__init__(list(HALVES))
        self.target = target

    def selection(self, op: Op, rewriter: Rewriter) -> NvdlaSelection:
        return NvdlaSelection(self.target, rewriter, op)

    def rules(self, op: Op, selection: Any) -> Iterator[Rule]:
        yield HALVES[type(op)]


class _Select(SelectOps):
    def __init__(self, target: Choice) -> None:
        pooled = (tri.Requantize, tri.RequantizeMean, tri.MaxPool)
        super().__init__([*pooled, tri.Gather, tri.Concat, tri.Slice, tri.StorageCast])
        if "fp16" in target.configuration.precisions:
            self.remedy += ", or compile it with precision fp16"
        self.target = target

    def selection(self, op: Op, rewriter: Rewriter) -> NvdlaSelection:
        return NvdlaSelection(self.target, rewriter, op)

    def rules(self, op: Op, selection: Any) -> Iterator[Rule]:
        match op:
            case tri.MaxPool():
                yield select_max_pool
            case tri.Gather():
                yield select_lookup
            case tri.Concat():
                yield select_concat
            case tri.Slice():
                yield select_slice
            case tri.StorageCast() if normalizes(op, selection):
                yield select_lrn
            case tri.RequantizeMean():
                yield select_counted_average
            case tri.Requantize():
                yield REQUANTIZE.of(op, selection)
            case _:
                raise NoMatch("is no root")


REQUANTIZE = RequantizeRules(
    conv=select_conv,
    average=select_average,
    product=select_product,
    mean=select_mean,
    elements={tri.Add: select_sum, tri.Mul: select_elements},
    scale=select_scale,
    transposed=select_deconv,
)
