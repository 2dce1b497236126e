"""Matrix products: batched, with scales and bias, as a layer, and by an index equation."""

from collections.abc import Sequence

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.atoms import Size
from ...core.sizes.checks import need_same, need_same_shape
from ...core.tensor import Array, Tensor, broadcast, need_broadcast, same_dtype
from ..dialect import TriOp
from ..numeric import need_number
from .equation import Equation


class MatMul(TriOp):
    """Multiply matrices: the last two axes of `a` and `b`; the axes before them broadcast.

    A vector `a` counts as one row, a vector `b` as one column; that axis is then absent from `y`.
    Half types are summed in f32, integers wrap around. Source: ONNX `MatMul`.
    """

    a: Operand
    b: Operand
    y: Result

    anchor = True

    def infer(self, a: Tensor, b: Tensor) -> Tensor:
        dtype = _number_type(a, b)
        if not a.rank or not b.rank:
            raise Invalid(f"operands are {a} and {b}, must have at least one axis")
        rows, columns = a.shape[-2:-1], b.shape[-1:] if b.rank > 1 else ()
        _check_contraction(a.shape[-1], b.shape[-2] if b.rank > 1 else b.shape[0])
        return Tensor((*broadcast(a.shape[:-2], b.shape[:-2]), *rows, *columns), dtype)

    def reference(self, a: Array, b: Array) -> Array:
        left, right = widen(a), widen(b)
        if right.ndim == 2 and left.ndim > 2:  # one large product is faster than many small ones
            return narrow(np.tensordot(left, right, 1), a)
        return narrow(np.asarray(left @ right), a)


class Gemm(TriOp):
    """Compute `alpha * a @ b + beta * c` of matrices; `c` broadcasts to the product.

    `a` is [M, K], or [K, M] with `trans_a`; `b` is [K, N], or [N, K] with `trans_b`. Half types
    are summed in f32. Source: ONNX `Gemm`.
    """

    a: Operand
    b: Operand
    c: Operand | None = None
    alpha: float = 1.0
    beta: float = 1.0
    trans_a: bool = False
    trans_b: bool = False
    y: Result

    anchor = True

    def infer(self, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
        dtype = _number_type(a, b, c)
        if a.rank != 2 or b.rank != 2:
            raise Invalid(f"operands are {a} and {b}, must be matrices")
        rows, left = reversed(a.shape) if self.trans_a else a.shape
        right, columns = reversed(b.shape) if self.trans_b else b.shape
        _check_contraction(left, right)
        if c is not None:
            fault = f"bias is {c}, must broadcast to the product's {rows}x{columns}"
            need_broadcast(c.shape, (rows, columns), fault)
        return Tensor((rows, columns), dtype)

    def reference(self, a: Array, b: Array, c: Array | None = None) -> Array:
        left = widen(a.T if self.trans_a else a)
        right = widen(b.T if self.trans_b else b)
        y = _scaled(left @ right, self.alpha)
        y = y if c is None else y + _scaled(widen(c), self.beta)
        return narrow(y, a)


class Linear(TriOp):
    """Compute `x @ wᵀ + b` along the last axis of `x`: a layer of a network, as torch keeps it.

    `x` is […, K], `w` is [N, K], `b` is [N], `y` is […, N]. Half types are summed in f32, integers
    wrap around. Source: torch `nn.Linear`.
    """

    x: Operand
    w: Operand
    b: Operand | None = None
    y: Result

    anchor = True

    def infer(self, x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
        dtype = _number_type(x, w, b)
        if not x.rank or w.rank != 2:
            raise Invalid(f"operands are {x} and {w}, must have at least one axis, and be a matrix")
        _check_contraction(x.shape[-1], w.shape[1])
        if b is not None:
            fault = f"bias is {b}, must have one axis of {w.shape[0]} elements"
            need_same_shape(b.shape, w.shape[:1], fault)
        return Tensor((*x.shape[:-1], w.shape[0]), dtype)

    def reference(self, x: Array, w: Array, b: Array | None = None) -> Array:
        y = np.tensordot(widen(x), widen(w), (-1, 1))
        return narrow(np.asarray(y if b is None else y + widen(b)), x)


class Einsum(TriOp):
    """Multiply tensors and sum over the indices that the result lacks: `ij,jk->ik`.

    An ellipsis stands for axes that broadcast. Half types are summed in f32.
    Source: ONNX `Einsum`, after Einstein's summation convention.
    """

    xs: Sequence[Operand]
    equation: str
    y: Result

    def infer(self, xs: Sequence[Tensor]) -> Tensor:
        shape = Equation.parse(self.equation).output_shape([x.shape for x in xs])
        return Tensor(shape, _number_type(*xs))

    def reference(self, xs: Sequence[Array]) -> Array:
        compact = self.equation.replace(" ", "")
        y = np.einsum(compact, *map(widen, xs), optimize=len(xs) > 1)
        return narrow(np.asarray(y), xs[0])


def _number_type(first: Tensor, *others: Tensor | None) -> str:
    return same_dtype(need_number(first), *others)


def _check_contraction(left: Size, right: Size) -> None:
    need_same(left, right, f"contracts {left} with {right}")


def _scaled(x: Array, factor: float) -> Array:
    """Multiply by a scale; integers go through f64 and back, towards zero."""
    if factor == 1:
        return x
    return (x * factor).astype(x.dtype)
