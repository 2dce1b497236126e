"""Texts about what quantisation does to the outputs of a model."""

import math
from typing import TYPE_CHECKING

from ...runtime.spelling import count
from ..spelling import columns

if TYPE_CHECKING:
    from ...compiler.quantize import Closeness, Report, Sensitivity, WeightReport

HEAD = ("SQNR", "cosine", "local SQNR", "local cosine", "value", "op", "node")


def quantization_report(report: "Report", whole: bool) -> str:
    """Return how close a quantised model is, and what of it stays floats.

    With `whole`, all values come first, those whose rounding does most harm before others: that is
    what `trivium quantize --report` prints.
    """
    parts = [_values(report)] * whole + [_outputs(report)] + [_floats(report)] * bool(report.floats)
    return "\n\n".join(parts)


def weight_report(report: "WeightReport") -> str:
    """Return how close products with quantised weights are, worst first, and the outputs if known.

    Without data, it is how close the weights are.
    """
    rows = [
        (
            *_closeness(each.result or each.matrix),
            *_closeness(each.matrix),
            f"{each.columns}x{each.depth}",
            each.node,
        )
        for each in report.products
    ]
    head = ("SQNR", "cosine", "weights' SQNR", "weights' cosine", "matrix", "node")
    if not report.batches:
        rows = [row[2:] for row in rows]
        head = head[2:]
    parts = ["\n".join(["products with quantised weights", *columns([head, *rows])])]
    if report.outputs:
        outputs = [(*_closeness(close), name) for name, close in report.outputs.items()]
        parts.append("\n".join(["outputs of the quantised model", *columns(outputs)]))
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
