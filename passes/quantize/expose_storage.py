"""Replace quantised types by those of the integers that hold the numbers."""

from typing import Any, cast

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.core.quantized import QuantizedType, is_quantized
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite

KEPT = (tri.Quantize, tri.Dequantize, tri.StorageCast, tri.Group, tri.Yield)
"""Ops that are about quantised types, or hold what is."""


class ExposeStorage(Pass):
    """Let ops that only move quantised numbers move the integers that hold them.

    Casts between both meet and cancel; what is left of them is at inputs and outputs of a function,
    and at ops that scale.

        %y = tri.reshape (tri.storage_cast %x to q) : q
            =>   %y = tri.storage_cast (tri.reshape %x : i8) to q
        tri.storage_cast (tri.storage_cast %x to q) to i8   =>   %x
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Cancel(), _Move())


class _Cancel(Pattern):
    root = tri.StorageCast

    def rewrite(self, op: tri.StorageCast, rewriter: Rewriter) -> None:
        inner = rewriter.producer(op.x, tri.StorageCast)
        if inner.x.type != op.y.type:
            raise NoMatch(f"casts {inner.x.type} to {op.y.type}, by way of another type")
        rewriter.replace(op, [inner.x], inner)


class _Move(Pattern):
    root = Op

    def rewrite(self, op: Op, rewriter: Rewriter) -> None:
        types = [tensor_of(value.type).dtype for value in op.results]
        if isinstance(op, KEPT) or not op.operation.operands or not any(map(is_quantized, types)):
            raise NoMatch("moves no quantised numbers")
        with rewriter.before(op):
            groups = [_stored_group(group) for group in op.operand_groups()]
            made = type(op).build(*groups, **op.attributes)
            results = [
                tri.StorageCast.build(value, to=dtype).y if is_quantized(dtype) else value
                for value, dtype in zip(made.results, types, strict=True)
            ]
        rewriter.replace(op, results)


def _stored_group(group: Any) -> Any:
    if isinstance(group, list):
        return [_stored(value) for value in cast("list[ir.Value]", group)]
    return None if group is None else _stored(group)


def _stored(value: ir.Value) -> ir.Value:
    """Build the cast of a quantised value to its storage; other values are themselves."""
    dtype = tensor_of(value.type).dtype
    if not is_quantized(dtype):
        return value
    return tri.StorageCast.build(value, to=QuantizedType.parse(dtype).storage).y
