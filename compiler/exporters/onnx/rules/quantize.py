"""ONNX rules for quantised numbers: as integers, with scales at every conversion.

The casts between both write nothing: `Flow` sees one value.
"""

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.numerics.packed_bits import pack_bits
from .....dialects.core.quantized import QuantizedType, storage_range
from .....dialects.core.tensor import Array, numpy_dtype
from ....frontends.onnx.rules.microsoft.block_quantized import LEVELS, why_exact
from ..graph import OnnxGraph, exports

WIDE_SINCE = 21
"""The opset from which on integers of 16 bits are quantised, too."""


@exports(tri.Quantize)
def quantize(op: tri.Quantize, graph: OnnxGraph) -> None:
    kind = QuantizedType.parse(op.to)
    if (kind.low, kind.high) != storage_range(kind.storage):
        raise Unsupported(f"saturates at {kind.low}:{kind.high}, ONNX at the bounds of the type")
    graph.add("QuantizeLinear", [op.x, *_scales(kind)], [op.y], since=_since(kind), axis=kind.axis)


@exports(tri.Dequantize)
def dequantize(op: tri.Dequantize, graph: OnnxGraph) -> None:
    kind = QuantizedType.parse(op.of)
    scale, zero = _scales(kind)
    if kind.storage == "i32" and zero.any():
        raise Unsupported("has i32 with a zero point, ONNX has none for them")
    inputs = [op.x, scale] if kind.storage == "i32" else [op.x, scale, zero]
    graph.add("DequantizeLinear", inputs, [op.y], since=_since(kind), axis=kind.axis)


@exports(tri.BlockQuantizedMatMul)
def block_quantized_mat_mul(op: tri.BlockQuantizedMatMul, graph: OnnxGraph) -> None:
    """Write ONNX Runtime's operator: ONNX itself has none."""
    sizes = {"K": tensor_of(op.a.type).shape[-1], "N": tensor_of(op.w.type).shape[0]}
    inputs = [op.a, op.w, op.scales, _packed_zero_points(op, graph)]
    given = {"bits": op.bits, "block_size": op.block, "accuracy_level": _level(op, graph)}
    graph.add("com.microsoft::MatMulNBits", inputs, [op.y], since=1, **sizes, **given)


def _level(op: tri.BlockQuantizedMatMul, graph: OnnxGraph) -> int | None:
    """Return the level at which ONNX Runtime rounds activations, None where they are exact."""
    if not op.activations:
        return None
    why = why_exact(op.zero_points, op.bits, op.block, graph.flow.is_constant(op.w))
    if why:
        raise Unsupported(
            f"rounds activations with {why}, ONNX Runtime's MatMulNBits does not: export with "
            "activations 'exact'"
        )
    return LEVELS[-1]


def _packed_zero_points(op: tri.BlockQuantizedMatMul, graph: OnnxGraph) -> ir.Value | Array | None:
    """Return zero points as they are stored: those of ui8 fill bytes, and each row whole ones."""
    zeros = op.zero_points
    if zeros is None or tensor_of(zeros.type).dtype != "ui8":
        return zeros
    return pack_bits(graph.array(zeros, "zero points"), op.bits)


def _scales(kind: QuantizedType) -> tuple[Array, Array]:
    scales = np.array(kind.scales).astype(numpy_dtype(kind.expressed))
    zeros = np.array(kind.zero_points).astype(numpy_dtype(kind.storage))
    return (scales, zeros) if kind.axis is not None else (scales.reshape(()), zeros.reshape(()))


def _since(kind: QuantizedType) -> int:
    return WIDE_SINCE if kind.storage in ("i16", "ui16") else 19
