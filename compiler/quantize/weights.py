"""Quantise the weights of a model alone, and write it as ONNX: `trivium quantize --weights`."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects.core.arguments import flag, function, one_of, optional, path
from ...dialects.core.errors import CompileError
from ...dialects.core.interface import input_types
from ...dialects.core.location import describe
from ...dialects.core.mlir import new_context
from ...dialects.core.module import Module
from ...dialects.core.tensor import Array, Bindings
from ...passes.decompose import Decompose
from ...passes.default import WHOLE, default_pipeline
from ...passes.pipeline import Pipeline
from ...passes.quantize.block_rounding import BlockForm, RoundedMatrix, round_to_nearest
from ...passes.quantize.gptq import round_by_hessian
from ...passes.quantize.quantize_weights import (
    KERNEL_BITS,
    LEAST,
    WeightConvolution,
    WeightProduct,
    replace_products,
    round_kernels,
    weight_convolutions,
    weight_products,
)
from ...targets.core import Progress
from ...targets.options import CompileOptions
from ..arguments import checked_arguments
from ..source import Source, import_model
from .closeness import Closeness, Sums
from .data import Data, batches, read_data
from .evaluator import Evaluator
from .folder import Preprocessing
from .hessians import hessians
from .observe import Feed
from .variants import compiled, copied

BITS = {"int4": 4, "int8": 8}
"""How many bits weights have, by what a user says."""

BLOCKS = (16, 32, 64, 128, 256)
METHODS = ("rtn", "gptq")


@dataclass(frozen=True)
class ProductError:
    """The error of one product of `node`, whose matrix is [`columns`, `depth`].

    `matrix` is the closeness of its elements; `result` is that of what it computes of exact inputs,
    None without data.
    """

    node: str
    columns: int
    depth: int
    matrix: Closeness
    result: Closeness | None


@dataclass(frozen=True)
class WeightReport:
    """The errors of products whose weights were quantised, largest first, and of the outputs.

    `outputs` has the closeness of each output of the quantised model on `batches` of the data.
    """

    products: tuple[ProductError, ...]
    outputs: Mapping[str, Closeness]
    batches: int


@checked_arguments(
    output=path,
    weights=one_of(tuple(BITS)),
    block=one_of(BLOCKS),
    method=one_of(METHODS),
    symmetric=flag,
    report=optional(function),
)
def quantize_weights(
    model: Source,
    data: Data | None = None,
    output: str | os.PathLike[str] = "",
    *,
    weights: str = "int4",
    block: int = 32,
    method: str = "rtn",
    symmetric: bool = False,
    report: Callable[[WeightReport], None] | None = None,
    shapes: Bindings | None = None,
    preprocessing: Preprocessing | None = None,
    progress: Progress | None = None,
) -> int:
    """Quantise the weights of a model's products and convolutions, and write it as ONNX.

    Products become MatMulNBits. With "int8", kernels of convolutions become integers behind
    DequantizeLinear, each rounded to the nearest, with a scale for each output channel.

    `model` and `shapes` are those of `compile`; sizes may be symbols. `weights` is "int4" or
    "int8", with a scale for each `block` elements in depth and a zero point, or with `symmetric`
    none. With the `method` "rtn" each element is rounded to the nearest; with "gptq" later elements
    make up for the errors of earlier ones, on inputs like those of `data`, which are as for
    `quantize`. `report` is called with a `WeightReport`. Nothing is written where `output` is
    empty.

    Returns the number of products and convolutions. Raises CompileError for a model without any,
    and for data that does not fit the model or is missing.
    """
    if method == "gptq" and data is None:
        raise CompileError("method 'gptq' needs calibration data, and there is none")
    progress, form = progress or _ignore, BlockForm(BITS[weights], block, symmetric)
    with new_context():
        module = import_model(model, CompileOptions(shapes=shapes))
        Pipeline(default_pipeline(1, quantized=True, prepares=False)).run(module)
        types = input_types(module)
        feeds = [] if data is None else batches(read_data(data, types, preprocessing), types)
        products = weight_products(module)
        kernels = weight_convolutions(module) if form.bits == KERNEL_BITS else []
        if not products and not kernels:
            what = "products" if form.bits != KERNEL_BITS else "products or convolutions"
            raise CompileError(
                f"the model has no {what} with constants of {LEAST} elements or more"
            )
        floats = copied(module) if feeds and report is not None else None
        needs_sums = method == "gptq" or floats is not None
        sums = hessians(module, feeds, progress) if needs_sums else iter([None] * len(products))
        errors: list[ProductError] = []

        def rounded() -> Iterator[RoundedMatrix]:
            for product, hessian in zip(products, sums, strict=True):
                progress(f"round the weights of {describe(product.op.location)}")
                exact = product.matrix()
                if method == "gptq" and hessian is not None:
                    made = round_by_hessian(exact, hessian, form, product.dtype)
                else:
                    made = round_to_nearest(exact, form, product.dtype)
                if report is not None:
                    errors.append(_error(product, exact, made, hessian))
                yield made

        replace_products(module, products, list(rounded()), form)
        exact = [each.kernel() for each in kernels]
        for each, before, after in zip(kernels, exact, round_kernels(module, kernels), strict=True):
            if report is not None:
                errors.append(_kernel_error(each, before, after))
        if report is not None:
            outputs: Mapping[str, Closeness] = {}
            if floats is not None:
                outputs = _outputs(floats, module, feeds, progress)
            report(WeightReport(tuple(sorted(errors, key=_sqnr)), outputs, len(feeds)))
        if output:
            from ..exporters.onnx import save_onnx

            Decompose(ops=WHOLE).run(module)
            save_onnx(module, output)
    return len(products) + len(kernels)


def _error(
    product: WeightProduct, exact: Array, rounded: RoundedMatrix, hessian: Array | None
) -> ProductError:
    """Return the error of a product; the sum of x xᵀ says what all results of exact inputs are."""
    wide = exact.astype(np.float64)
    made = rounded.dequantized(exact.shape[1]).astype(np.float64)
    columns, depth = exact.shape
    return ProductError(
        describe(product.op.location),
        columns,
        depth,
        matrix=_closeness(wide, made, None),
        result=None if hessian is None else _closeness(wide, made, hessian),
    )


def _kernel_error(convolution: WeightConvolution, exact: Array, made: Array) -> ProductError:
    before, after = (each.reshape(len(each), -1).astype(np.float64) for each in (exact, made))
    node = describe(convolution.op.location)
    return ProductError(node, *before.shape, _closeness(before, after, None), result=None)


def _closeness(exact: Array, made: Array, hessian: Array | None) -> Closeness:
    """Compare matrices, or their products with all x of which `hessian` is the sum of x xᵀ."""

    def inner(a: Array, b: Array) -> float:
        return float(np.sum((a if hessian is None else a @ hessian) * b))

    sums = Sums(inner(exact, exact), inner(made, made), inner(exact, made))
    sums.noise = max(inner(exact - made, exact - made), 0.0)
    return sums.closeness


def _sqnr(error: ProductError) -> float:
    return (error.result or error.matrix).sqnr


def _outputs(
    floats: Module, quantized: Module, feeds: Sequence[Feed], progress: Progress
) -> Mapping[str, Closeness]:
    evaluator = Evaluator(feeds, compiled(floats, progress).run)
    return evaluator.compare(compiled(copied(quantized), progress).run)


def _ignore(line: Any) -> None:
    """Stand in for whoever wants to hear of progress."""
