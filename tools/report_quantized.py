"""Texts about what quantisation does to the outputs of a model."""

import math
from typing import TYPE_CHECKING

from ..runtime.spelling import count
from .spelling import columns

if TYPE_CHECKING:
    from ..compiler.quantize import Closeness, Report, Sensitivity

HEAD = ("SQNR", "cosine", "local SQNR", "local cosine", "value", "op", "node")


def quantization_report(report: "Report", whole: bool) -> str:
    """Return how close a quantised model is, and what of it stays floats.

    With `whole`, all values come first, those whose rounding does most harm before others: that is
    what `trivium quantize --report` prints.
    """
    parts = [_values(report)] * whole + [_outputs(report)] + [_floats(report)] * bool(report.floats)
    return "\n\n".join(parts)


def _values(report: "Report") -> str:
    rows = [
        (*_closeness(each.outputs), *_closeness(each.per_layer_error), *_place(each))
        for each in report.values
    ]
    title = f"outputs when one value alone is rounded, {count(report.batches, 'batch', 'batches')}"
    return "\n".join([title, *columns([HEAD, *rows])])


def _outputs(report: "Report") -> str:
    rows = [(*_closeness(close), name) for name, close in report.outputs.items()]
    return "\n".join(["outputs of the quantised model", *columns(rows)])


def _floats(report: "Report") -> str:
    values = f"{len(report.floats)} of {count(len(report.values), 'value')}"
    nodes = f"{len(report.float_nodes)} of {count(report.nodes, 'node')}"
    rows = [_place(each) for each in report.values[: len(report.floats)]]
    return "\n".join([f"floats: {values}, read or made by {nodes}", *columns(rows)])


def _place(each: "Sensitivity") -> tuple[str, str, str]:
    return each.value, each.op or "input", each.node


def _closeness(close: "Closeness") -> tuple[str, str]:
    noiseless = math.isinf(close.sqnr) and close.sqnr > 0
    return "no noise" if noiseless else f"{close.sqnr:5.1f} dB", f"{close.cosine:.6f}"
