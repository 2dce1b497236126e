"""PNNX rules for operators of torch that `pnnx` does not know and leaves as they are.

Their inputs have no names: the signatures here have them in the order of torch's own schema.
"""

from ....dialects import tri
from ....dialects.core.op import Op
from ..core.values import tensor
from . import ops_compare, ops_create, ops_index, ops_reduce, ops_resize
from .expressions import apply
from .movement import Ints
from .ops_complex import conjugate
from .promotion import Operand
from .rules import Complex, Value, pnnx_op

Floats = tuple[float, ...]


@pnnx_op("aten::tril")
def tril(self: Value, diagonal: int = 0) -> tri.Trilu:
    return ops_create.tril(self, diagonal=diagonal)


@pnnx_op("aten::triu")
def triu(self: Value, diagonal: int = 0) -> tri.Trilu:
    return ops_create.triu(self, diagonal=diagonal)


@pnnx_op("aten::sort")
def sort(self: Value, dim: int = -1, descending: bool = False) -> tri.TopK:
    return ops_reduce.sort(self, dim, descending=descending)


@pnnx_op("aten::argsort")
def argsort(self: Value, dim: int = -1, descending: bool = False) -> Value:
    return ops_reduce.argsort(self, dim, descending=descending)


@pnnx_op("aten::var")
def var(
    self: Value,
    dim: Ints | bool | None = None,
    correction: float | bool | None = None,
    keepdim: bool = False,
) -> Value:
    """Compute the variance; torch has a form with `unbiased` in the place of the axes, too."""
    if isinstance(dim, bool):
        return ops_reduce.var(self, unbiased=dim)
    if isinstance(correction, bool):
        return ops_reduce.var(self, dim, unbiased=correction, keepdim=keepdim)
    return ops_reduce.var(self, dim, correction=correction, keepdim=keepdim)


@pnnx_op("aten::lerp")
def lerp(self: Value, end: Value, weight: Operand) -> Value:
    return ops_compare.lerp(self, end, weight)


@pnnx_op("aten::addcmul")
def addcmul(self: Value, tensor1: Value, tensor2: Value, value: int | float = 1) -> Value:
    return apply("add(@0,mul(mul(@1,@2),@3))", self, tensor1, tensor2, value)


@pnnx_op("aten::addcdiv")
def addcdiv(self: Value, tensor1: Value, tensor2: Value, value: int | float = 1) -> Value:
    return apply("add(@0,mul(div(@1,@2),@3))", self, tensor1, tensor2, value)


@pnnx_op("aten::clamp_min")
def clamp_min(self: Value, min: Operand) -> Value:
    return ops_compare.clamp(self, min)


@pnnx_op("aten::clamp_max")
def clamp_max(self: Value, max: Operand) -> Value:
    return ops_compare.clamp(self, None, max)


@pnnx_op("aten::cosine_similarity")
def cosine_similarity(x1: Value, x2: Value, dim: int = 1, eps: float = 1e-8) -> Op:
    return ops_reduce.cosine_similarity(x1, x2, dim=dim, eps=eps)


@pnnx_op("aten::scatter")
def scatter(self: Value, dim: int, index: Value, src: Operand) -> Value:
    if isinstance(src, Value) and tensor(src).rank:
        return ops_index.scatter(self, dim, index, src)
    return ops_index.scatter(self, dim, index, value=src)


@pnnx_op("aten::_conj", "aten::conj")
def conj(self: Value | Complex) -> Value | Complex:
    return conjugate(self)


@pnnx_op("aten::_upsample_bilinear2d_aa")
def bilinear(
    input: Value,
    output_size: Ints | None = None,
    align_corners: bool = False,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Value:
    return ops_resize.interpolate(
        input, size=output_size, mode="bilinear", align_corners=align_corners, antialias=True
    )


@pnnx_op("aten::_upsample_bicubic2d_aa")
def bicubic(
    input: Value,
    output_size: Ints | None = None,
    align_corners: bool = False,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Value:
    return ops_resize.interpolate(
        input, size=output_size, mode="bicubic", align_corners=align_corners, antialias=True
    )
