"""From a model and data to a quantised ONNX model: `trivium quantize`."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from ...dialects.core.arguments import flag, function, number, one_of, optional, path
from ...dialects.core.errors import CompileError
from ...dialects.core.interface import input_types
from ...dialects.core.mlir import new_context
from ...dialects.core.module import Module
from ...dialects.core.tensor import Bindings
from ...passes.decompose import Decompose
from ...passes.default import WHOLE, default_pipeline
from ...passes.pipeline import Pipeline
from ...passes.quantize.quantize import quantize_by
from ...passes.quantize.scale_table import Scale, ScaleTable
from ...targets.core import Progress
from ...targets.options import CompileOptions
from ..arguments import checked_arguments
from ..sizes.free import need_static
from ..source import Source, import_model
from .data import Data, batches, read_data
from .evaluator import QuantizationCase
from .observe import Feed, observe
from .ranges import METHODS, Form
from .report import Report
from .sensitivity import examine

MOST_BATCHES = 8
"""On how many batches the model is run for each value that is examined."""


@checked_arguments(
    output=path,
    method=one_of(tuple(METHODS)),
    percentile=number("above 0 and up to 100", lambda percentile: 0 < percentile <= 100),
    symmetric=flag,
    per_tensor=flag,
    storage=one_of(("i8", "ui8")),
    table=path,
    write_table=path,
    cosine=optional(number("above 0 and below 1", lambda cosine: 0 < cosine < 1)),
    report=optional(function),
)
def quantize(
    model: Source,
    data: Data | None = None,
    output: str | os.PathLike[str] = "",
    *,
    method: str = "minmax",
    percentile: float = 99.99,
    symmetric: bool = False,
    per_tensor: bool = False,
    storage: str = "i8",
    table: str = "",
    write_table: str = "",
    cosine: float | None = None,
    report: Callable[[Report], None] | None = None,
    shapes: Bindings | None = None,
    progress: Progress | None = None,
) -> ScaleTable:
    """Quantise a model and write it as ONNX, with QuantizeLinear and DequantizeLinear.

    `model` and `shapes` are those of `compile`. `data` are samples: an array for each input, or the
    path of an `.npz` with such; its first axis is that of samples, of the types of the inputs.
    `method` says how the range of a value comes from what is seen: "minmax", "percentile" of sizes
    (`percentile` of them), "kl", the least loss of entropy, or "mse", the least squared error.
    Values become `storage`, "i8" or "ui8"; with `symmetric` zero stands in the middle. Weights are
    i8 and symmetric, with a scale for each output channel or, with `per_tensor`, one for all.

    `table` is a file of scales to use instead of data, `write_table` one to write. Nothing is
    written where `output` is empty.

    With `cosine`, between 0 and 1, the outputs of the quantised model come at least that close to
    those of the model: values whose rounding does most harm stay floats, and are not in the table.
    `report` is called with a `Report` of what each value does, and of what stays a float; it and
    `cosine` need data. Both run the model on up to `MOST_BATCHES` batches for each value.

    Returns the scales. Raises CompileError for data that does not fit the model, and for tables
    that are malformed or of another model.
    """
    _check(data, table, cosine is not None, report is not None)
    progress = progress or _ignore
    with new_context():
        module = import_model(model, CompileOptions(shapes=shapes))
        need_static(module)
        Pipeline(default_pipeline(1, quantized=True, prepares=False)).run(module)
        if table:
            scales = ScaleTable.load(table)
        else:
            assert data is not None
            form = Form(storage, symmetric, method, percentile)
            feeds = batches(read_data(data), input_types(module))
            scales = calibrate(module, feeds, form, progress)
            if cosine is not None or report is not None:
                some = feeds[:: -(-len(feeds) // MOST_BATCHES)]
                case = QuantizationCase(module, scales, some, per_tensor, progress)
                scales, found = examine(case, cosine)
                if report is not None:
                    report(found)
        quantize_by(module, scales, per_tensor)
        if write_table:
            scales.save(write_table)
        if output:
            from ..exporters.onnx import save_onnx

            Decompose(ops=WHOLE).run(module)
            save_onnx(module, output)
    return scales


def calibrate(module: Module, feeds: Sequence[Feed], form: Form, progress: Progress) -> ScaleTable:
    """Run a simplified module on data and choose scales for the values to be quantised."""
    seen = observe(module, feeds, form, progress)
    values = {n: Scale(form.kind_of(each), each.least, each.most) for n, each in seen.items()}
    return ScaleTable(values, form.method)


def _check(data: Data | None, table: str, chosen: bool, reported: bool) -> None:
    """Raise CompileError unless there is data or a table, and data where that is needed."""
    if (data is None) == (not table):
        raise CompileError("quantisation needs calibration data or a table of scales, one of both")
    if table and (chosen or reported):
        what = "what stays a float is chosen" if chosen else "a report is made"
        raise CompileError(f"{what} by data, not by a table of scales: give data instead")


def _ignore(line: Any) -> None:
    """Stand in for whoever wants to hear of progress."""
