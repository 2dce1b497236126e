"""Functions of one byte: what elementwise ops compute from each of the 256."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.op import Op, view
from ...dialects.core.quantized import QuantizedType, is_quantized
from ...dialects.core.tensor import Array, numpy_dtype
from ..rewriting import MOST_ELEMENTS, NoMatch, Rewriter, in_order

BYTES = ("ui8", "i8")

MOST_OPS = 64
"""The most ops of one function."""


@dataclass(frozen=True)
class ByteFunction:
    """Hold a value that elementwise ops compute from bytes, and what it is for each byte.

    `ops` are the ops from the source on, in order; `values` are in the order of `domain`.
    """

    source: ir.Value
    ops: tuple[Op, ...]
    values: Array

    @staticmethod
    def domain(dtype: str) -> Array:
        """Return all bytes of a type, from that of bits 0 to that of bits 255."""
        return np.arange(256, dtype=np.uint8).view(numpy_dtype(_storage(dtype)))

    @classmethod
    def of(cls, value: ir.Value, rewriter: Rewriter, nearest: bool = False) -> "ByteFunction":
        """Find the bytes that a value is a function of; NoMatch where there are none.

        They are as far back as there is one source of all, or the `nearest` ones.
        """
        ops: set[Op] = set()
        leaves = {value}
        best: ByteFunction | None = None
        while len(ops) < MOST_OPS:
            opened = [v for v in leaves if _elementwise(v, rewriter) is not None]
            wide = [v for v in opened if not ops or not _is_bytes(v)]
            if not wide and len(leaves) == 1 and ops:
                (source,) = leaves
                if not _is_bytes(source):
                    break
                best = cls(source, tuple(in_order(ops)), np.empty(0))
                if nearest:
                    break
            taken = wide or opened
            if not taken:
                break
            last = _last(taken)
            op = _elementwise(last, rewriter)
            assert op is not None, "leaves that are taken are made by ops"
            ops.add(op)
            leaves.remove(last)
            leaves |= {v for v in op.operation.operands if _number(v, rewriter) is None}
        if best is None:
            raise NoMatch("is not computed from bytes alone")
        return cls(best.source, best.ops, _evaluate(best, value, rewriter))


def _is_bytes(value: ir.Value) -> bool:
    """Return whether a value is of bytes, or of quantised numbers of one scale that bytes hold."""
    dtype = tensor_of(value.type).dtype
    if is_quantized(dtype) and QuantizedType.parse(dtype).axis is not None:
        return False
    return _storage(dtype) in BYTES


def _storage(dtype: str) -> str:
    return QuantizedType.parse(dtype).storage if is_quantized(dtype) else dtype


def _number(value: ir.Value, rewriter: Rewriter) -> Array | None:
    """Return the one number that a constant consists of, or what is made of constants."""
    if tensor_of(value.type).size > MOST_ELEMENTS or not rewriter.is_constant(value):
        return None
    numbers = rewriter.constant(value).reshape(-1)
    return numbers[:1] if numbers.size and (numbers == numbers[0]).all() else None


def _elementwise(value: ir.Value, rewriter: Rewriter) -> Op | None:
    """Return the op that computes a value from values of the same shape and from single numbers."""
    op = rewriter.find_producer(value)
    if op is None or not op.elementwise or len(op.results) != 1:
        return None
    shape = tensor_of(value.type).shape
    for operand in op.operation.operands:
        if tensor_of(operand.type).shape != shape and _number(operand, rewriter) is None:
            return None
    return op


def _last(values: list[ir.Value]) -> ir.Value:
    return in_order([op for v in values if (op := _maker(v)) is not None])[-1].results[0]


def _maker(value: ir.Value) -> Op | None:
    return view(value.owner) if isinstance(value, ir.OpResult) else None


def _evaluate(function: ByteFunction, value: ir.Value, rewriter: Rewriter) -> Array:
    known: dict[ir.Value, Array] = {
        function.source: ByteFunction.domain(tensor_of(function.source.type).dtype)
    }
    with np.errstate(all="ignore"):
        for op in function.ops:
            operands = [_operand(v, known, rewriter) for v in op.operation.operands]
            known[op.results[0]] = np.asarray(op.reference(*operands))
    return known[value]


def _operand(value: ir.Value, known: Mapping[ir.Value, Array], rewriter: Rewriter) -> Array:
    if value in known:
        return known[value]
    number = _number(value, rewriter)
    assert number is not None, "operands are those of the function, or single numbers"
    return number
