"""From a model and data to a quantised ONNX model: `trivium quantize`."""

import os
from typing import Any

from ...dialects.core.attributes import tensor_of
from ...dialects.core.errors import CompileError
from ...dialects.core.mlir import new_context
from ...dialects.core.module import Module, declared
from ...dialects.core.tensor import Tensor
from ...passes.decompose import Decompose
from ...passes.default import WHOLE, default_pipeline
from ...passes.pipeline import Pipeline
from ...passes.quantize import quantize_by
from ...passes.scale_table import Scale, ScaleTable
from ..build import Progress
from ..frontends.core.inputs import Bindings
from ..source import Source, import_model
from .data import Data, batches, read_data
from .observe import observe
from .ranges import METHODS, Form


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
    written where `output` is empty. Returns the scales. Raises CompileError for data that does not
    fit the model, and for tables that are malformed or of another model.
    """
    _check(data, method, percentile, storage, table)
    report = progress or _ignore
    with new_context():
        module = import_model(model, shapes=shapes)
        Pipeline(default_pipeline(1, quantized=True)).run(module)
        if table:
            scales = ScaleTable.load(table)
        else:
            assert data is not None
            form = Form(storage, symmetric, method, percentile)
            scales = calibrate(module, data, form, report)
        quantize_by(module, scales, per_tensor)
        if write_table:
            scales.save(write_table)
        if output:
            from ..exporters.onnx import save_onnx

            Decompose(ops=WHOLE).run(module)
            save_onnx(module, output)
    return scales


def calibrate(module: Module, data: Data, form: Form, progress: Progress) -> ScaleTable:
    """Run a simplified module on data and choose scales for the values to be quantised."""
    arguments = list(module.main.regions[0].blocks[0].arguments)
    names = declared(module.main, "inputs", len(arguments))
    inputs: dict[str, Tensor] = {
        name: tensor_of(value.type) for name, value in zip(names, arguments, strict=True)
    }
    feeds = batches(read_data(data), inputs)
    seen = observe(module, feeds, form, progress)
    values = {n: Scale(form.kind_of(each), each.least, each.most) for n, each in seen.items()}
    return ScaleTable(values, form.method)


def _check(data: Data | None, method: str, percentile: float, storage: str, table: str) -> None:
    if (data is None) == (not table):
        raise CompileError("quantisation needs calibration data or a table of scales, one of both")
    if method not in METHODS:
        raise CompileError(f"no method is called '{method}', there are: {', '.join(METHODS)}")
    if not 0 < percentile <= 100:
        raise CompileError(f"percentile is {percentile}, must be above 0 and up to 100")
    if storage not in ("i8", "ui8"):
        raise CompileError(f"values become {storage}, must be i8 or ui8")


def _ignore(line: Any) -> None:
    """Stand in for whoever wants to hear of progress."""
