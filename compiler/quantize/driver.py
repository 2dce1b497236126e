"""From a model and data to a quantised ONNX model: `trivium quantize`."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...dialects.core.arguments import flag, function, number, one_of, optional, path
from ...dialects.core.errors import CompileError
from ...dialects.core.interface import input_types
from ...dialects.core.mlir import new_context
from ...dialects.core.module import Module
from ...dialects.core.tensor import Bindings
from ...passes.decompose import Decompose
from ...passes.default import WHOLE
from ...passes.quantize.apply_config import quantize_by_config, quantize_by_table
from ...passes.quantize.apply_scales import simplify
from ...passes.quantize.quant_config import QuantConfig
from ...passes.quantize.scale_table import Scale, ScaleTable
from ...targets.core import Progress
from ...targets.options import CompileOptions
from ..arguments import checked_arguments
from ..sizes.free import need_static
from ..source import Source, import_model
from .data import Data, batches, read_data
from .evaluator import QuantizationCase
from .folder import Preprocessing
from .observe import Feed, Spread, observe
from .ranges import METHODS, Form
from .report import Report
from .sensitivity import examine

STORAGE = ("i8", "ui8", "i16", "ui16")
MOST_BATCHES = 8
"""On how many batches the model is run for each value that is examined."""


@checked_arguments(
    output=path,
    method=one_of(tuple(METHODS)),
    percentile=number("above 0 and up to 100", lambda percentile: 0 < percentile <= 100),
    symmetric=flag,
    per_tensor=flag,
    storage=one_of(STORAGE),
    table=path,
    write_table=path,
    config=path,
    write_config=path,
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
    config: str = "",
    write_config: str = "",
    cosine: float | None = None,
    report: Callable[[Report], None] | None = None,
    shapes: Bindings | None = None,
    preprocessing: Preprocessing | None = None,
    spread: Spread = map,
    progress: Progress | None = None,
) -> ScaleTable:
    """Quantise a model and write it as ONNX, with QuantizeLinear and DequantizeLinear.

    `model` and `shapes` are those of `compile`. `data` are samples: an array for each input, or the
    path of an `.npz` with such; its first axis is that of samples, of the types of the inputs. Or
    the path of a folder with a file for each sample, which `preprocessing` is for.
    `method` says how the range of a value comes from what is seen: "minmax", "percentile" of sizes
    (`percentile` of them), "kl", the least loss of entropy, or "mse", the least squared error.
    Values become `storage`, one of `STORAGE`; with `symmetric` zero stands in the middle. Weights
    are i8 and symmetric, with a scale for each output channel or, with `per_tensor`, one for all.

    `table` is a file of scales to use instead of data, `write_table` one to write; `config` and
    `write_config` are files of PPL's JSON, which has the scales of weights and the data types of
    nodes, too. Nothing is written where `output` is empty.

    With `cosine`, between 0 and 1, the outputs of the quantised model come at least that close to
    those of the model: values whose rounding does most harm stay floats, and are not in the table.
    `report` is called with a `Report` of what each value does, and of what stays a float; it and
    `cosine` need data. Both run the model on up to `MOST_BATCHES` batches for each value. `spread`
    runs batches and values elsewhere, as `trivium.ray.spread` does; the scales are the same.

    Returns the scales. Raises CompileError for data that does not fit the model, and for tables
    that are malformed or of another model.
    """
    _check(data, {"a table of scales": table, "a config": config}, cosine, report)
    if config and (write_table or write_config):
        raise CompileError("what is written is made of data or a table of scales, not of a config")
    progress = progress or _ignore
    with new_context():
        module = import_model(model, CompileOptions(shapes=shapes))
        need_static(module)
        simplify(module)
        if config:
            scales = quantize_by_config(module, QuantConfig.load(config), per_tensor)
        else:
            if data is None:
                scales = ScaleTable.load(table)
            else:
                form = Form(storage, symmetric, method, percentile)
                types = input_types(module)
                feeds = batches(read_data(data, types, preprocessing), types)
                scales = calibrate(module, feeds, form, progress, spread)
                if cosine is not None or report is not None:
                    some = feeds[:: -(-len(feeds) // MOST_BATCHES)]
                    case = QuantizationCase(module, scales, some, per_tensor, progress)
                    scales, found = examine(case, cosine, spread)
                    if report is not None:
                        report(found)
            written = quantize_by_table(module, scales, per_tensor)
            if write_table:
                scales.save(write_table)
            if write_config:
                written.save(write_config)
        if output:
            from ..exporters.onnx import save_onnx

            Decompose(ops=WHOLE).run(module)
            save_onnx(module, output)
    return scales


def calibrate(
    module: Module, feeds: Sequence[Feed], form: Form, progress: Progress, spread: Spread = map
) -> ScaleTable:
    """Run a simplified module on data and choose scales for the values to be quantised."""
    seen = observe(module, feeds, form, progress, spread)
    values = {n: Scale(form.kind_of(each), each.least, each.most) for n, each in seen.items()}
    return ScaleTable(values, form.method)


def _check(data: Data | None, files: Mapping[str, str], cosine: object, report: object) -> None:
    """Raise CompileError unless there is data or one file, and data where that is needed."""
    given = [what for what, file in files.items() if file]
    if (data is not None) + len(given) != 1:
        raise CompileError(
            f"quantisation needs calibration data or {' or '.join(files)}, one of them"
        )
    if given and (cosine is not None or report is not None):
        what = "what stays a float is chosen" if cosine is not None else "a report is made"
        raise CompileError(f"{what} by data, not by {given[0]}: give data instead")


def _ignore(line: Any) -> None:
    """Stand in for whoever wants to hear of progress."""
