"""Quantise a model: its values by a table of scales, its weights by their largest numbers."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ...dialects import tri
from ...dialects.core.errors import CompileError, suggestion
from ...dialects.core.location import inner_location
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, ops
from ...dialects.core.op import Op, view
from ...dialects.core.quantized import QuantizedType
from ...dialects.core.tensor import Array
from ..constants import hint
from ..core import Pass
from ..rewriting import Rewriter
from .quantizable import MOVES, PRODUCTS, data_operands, is_supported, names_of, quantizable
from .scale_table import ScaleTable

LARGEST_WEIGHT = 127
LARGEST_BIAS = 1 << 30

WeightScales = float | tuple[float, ...]
"""One scale for all weights of an op, or one for each output channel."""


class Quantize(Pass):
    """Round values to integers around ops that compute on such, as a table of scales says.

    Weights become i8 with a scale for each output channel, or with `per_tensor` one for all; biases
    become i32 with the scale of products. What only moves numbers keeps their scale. Values that
    the file `table` does not have stay floats, without a table all; it must not have others.

        %y = tri.conv %x, %w   =>   %q = tri.dequantize (tri.quantize %x to …)
                                    %v = tri.dequantize (tri.storage_cast %w' to …)
                                    %y = tri.dequantize (tri.quantize (tri.conv %q, %v) to …)
    """

    table: str = ""
    per_tensor: bool = False

    def run(self, module: Module) -> None:
        table = ScaleTable.load(self.table) if self.table else ScaleTable()
        quantize_by(module, table, self.per_tensor)


def quantize_by(
    module: Module,
    table: ScaleTable,
    per_tensor: bool = False,
    *,
    weights: Mapping[str, WeightScales] | None = None,
    floats: Collection[Op] = (),
) -> dict[ir.Value, ir.Value]:
    """Do what the pass `quantize` does, by a table in memory; return what each value is rounded to.

    `weights` has scales for weights by name, of all or of each channel, instead of those found in
    them; `floats` are ops that read what is not rounded. Raises CompileError when the table has
    values that the model does not have.
    """
    chosen, names = quantizable(module), names_of(module)
    known = [names[value] for value in chosen if value in names]
    for name in table.values:
        if name not in known:
            hinted = suggestion(name, known)
            raise CompileError(f"no value to be quantised is called '{name}'{hinted}")
    with module.operation.context:
        kinds: dict[ir.Value, QuantizedType] = {}
        supported = [op for op in ops(module.operation) if is_supported(op)]
        for value in chosen:
            if (kind := _kind_of(value, kinds, names, table)) is not None:
                kinds[value] = kind
        apart = {op.operation for op in floats}  # looked up before operands, and so hashes, change
        uses = {value: _uses(value, apart) for value in kinds}
        tried = {value: _insert(value, kind, uses[value]) for value, kind in kinds.items()}
        made = {old: new for old, new in tried.items() if new is not None}
        scales = {new: kinds[old].scales[0] for old, new in made.items()}
        given = {value: weights[n] for value, n in names.items() if n in weights} if weights else {}
        for op in supported:
            _quantize_constants(op, scales, Rewriter(module), per_tensor, given)
    return made


def _kind_of(
    value: ir.Value,
    kinds: dict[ir.Value, QuantizedType],
    names: dict[ir.Value, str],
    table: ScaleTable,
) -> QuantizedType | None:
    """Return the type of a value: what it is moved from has the first say."""
    maker = view(value.owner) if isinstance(value, ir.OpResult) else None
    if isinstance(maker, MOVES) and maker.operation.operands[0] in kinds:
        return kinds[maker.operation.operands[0]]
    scale = table.values.get(names.get(value, ""))
    return None if scale is None else scale.kind


Use = tuple[ir.Operation, int]
"""An operation, and which of its operands a value is."""


def _uses(value: ir.Value, apart: Collection[ir.Operation]) -> list[Use]:
    found = [(use.owner.operation, use.operand_number) for use in value.uses]
    return [use for use in found if use[0] not in apart]


def _insert(value: ir.Value, kind: QuantizedType, uses: Sequence[Use]) -> ir.Value | None:
    """Round a value for some uses; None when there are none, or it is rounded already."""
    if not uses or any(owner.name == tri.Quantize.op_name for owner, _ in uses):
        return None
    first, *others = [owner for owner, _ in uses]
    for owner in others:
        if owner.is_before_in_block(first):
            first = owner
    place = value.owner.location if isinstance(value, ir.OpResult) else first.location
    with ir.InsertionPoint(first), inner_location(place):
        rounded = tri.Quantize.build(value, to=str(kind)).y
        result = tri.Dequantize.build(rounded, of=str(kind)).y
    for owner, index in uses:
        owner.operands[index] = result
    return result


def _quantize_constants(
    op: Op,
    scales: dict[ir.Value, float],
    rewriter: Rewriter,
    per_tensor: bool,
    given: Mapping[ir.Value, WeightScales],
) -> None:
    if not any(value in scales for value in data_operands(op)):
        return
    for index, value in enumerate(data_operands(op)):
        array = rewriter.constants(value)
        if array is None or not array.size:
            continue
        if isinstance(op, PRODUCTS):
            if index == 1:
                _quantize_weights(op, array, scales, rewriter, per_tensor, given.get(value))
            continue
        kind = QuantizedType.of("i8", [_largest(array) / LARGEST_WEIGHT])
        op.operation.operands[index] = rounded_constant(op, array, kind, "constant", rewriter)


def _quantize_weights(
    op: Op,
    array: Array,
    scales: dict[ir.Value, float],
    rewriter: Rewriter,
    per_tensor: bool,
    given: WeightScales | None,
) -> None:
    """Quantise weights, by the scales given if any, and the bias of a product of rounded input."""
    factor = scales.get(op.operation.operands[0])
    if factor is None:
        return
    axis = None if per_tensor or isinstance(given, float) else channels_axis(op, array)
    bias = op.operation.operands[2] if len(op.operation.operands) > 2 else None
    constant = None if bias is None else rewriter.constants(bias)
    steps = weight_scales(array, axis) if given is None else np.array(given, ndmin=1)
    if constant is not None and constant.ndim == 1:
        least = np.abs(constant.astype(np.float64)) / (factor * LARGEST_BIAS)
        steps = np.maximum(steps, least if len(steps) > 1 else least.max())
    kind = QuantizedType.of("i8", steps.astype(np.float32).tolist(), axis=axis)
    op.operation.operands[1] = rounded_constant(op, array, kind, "weights", rewriter)
    if constant is not None and constant.ndim == 1:
        products = (np.array(kind.scales, np.float32) * np.float32(factor)).tolist()
        held = QuantizedType.of("i32", products, axis=None if axis is None else 0)
        op.operation.operands[2] = rounded_constant(op, constant, held, "bias", rewriter)


def channels_axis(op: Op, array: Array) -> int | None:
    """Return the axis of weights along which outputs are."""
    if isinstance(op, tri.MatMul):
        return 1 if array.ndim == 2 else None
    if isinstance(op, tri.ConvTranspose):
        return 1 if op.group == 1 else None
    return 0 if isinstance(op, tri.Conv) or (isinstance(op, tri.Gemm) and op.trans_b) else 1


def _largest(array: Array) -> float:
    """Return the largest size of a number as f32, and 1 of nothing but zeros."""
    return float(np.float32(np.abs(array).max(initial=0))) or 1.0


def weight_scales(array: Array, axis: int | None) -> Array:
    """Return the scale of each channel; one that is all zeros has that of the largest."""
    whole = _largest(array)
    if axis is None:
        return np.array([whole / LARGEST_WEIGHT])
    others = tuple(other for other in range(array.ndim) if other != axis)
    most = np.abs(array.astype(np.float64)).max(axis=others)
    return np.where(most > 0, most, whole) / LARGEST_WEIGHT


def rounded_constant(
    op: Op, array: Array, kind: QuantizedType, what: str, rewriter: Rewriter
) -> ir.Value:
    """Build a constant of the integers of an array before an op, and what they stand for."""
    scales, axis = np.array(kind.scales), kind.axis or 0
    along = scales if scales.size == 1 else scales.reshape(-1, *[1] * (array.ndim - 1 - axis))
    low, high = (-LARGEST_WEIGHT, LARGEST_WEIGHT) if kind.storage == "i8" else (kind.low, kind.high)
    whole = np.clip(np.rint(array.astype(np.float64) / along), low, high)
    held = whole.astype(np.int8 if kind.storage == "i8" else np.int32)
    with rewriter.before(op):
        made = tri.build_constant(rewriter.module, held, f"{hint(op)}.{what}").results[0]
        cast = tri.StorageCast.build(made, to=str(kind)).y
        return tri.Dequantize.build(cast, of=str(kind)).y
