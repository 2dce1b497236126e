"""Rules for operators of torch that `pnnx` does not know and leaves as they are.

Their inputs have no names: the signatures here have them in the order of torch's own schema.
"""

from ......dialects import tri
from ......dialects.core.errors import Unsupported
from ......dialects.core.op import Op
from ....core.values import tensor
from ...expressions import apply
from ...node import Node
from ...promotion import Operand
from ...registry import Complex, Value, torch_op
from ...views import Ints
from .. import compare, create, reduce, resize
from ..indexing.index import scatter as write_at
from ..signal.complex import conjugate

Floats = tuple[float, ...]


@torch_op("aten::tril")
def tril(self: Value, diagonal: int = 0) -> tri.Trilu:
    return create.tril(self, diagonal=diagonal)


@torch_op("aten::triu")
def triu(self: Value, diagonal: int = 0) -> tri.Trilu:
    return create.triu(self, diagonal=diagonal)


@torch_op("aten::sort")
def sort(self: Value, *rest: int | bool) -> tuple[Value, Value]:
    """Sort by `dim` and `descending`, or by `stable` before these: sorting is always stable."""
    dim, descending = (*rest[-2:], *(-1, False)[len(rest) :])[:2]
    return reduce.sort(self, int(dim), descending=bool(descending))


@torch_op("aten::argsort")
def argsort(self: Value, dim: int = -1, descending: bool = False) -> Value:
    return reduce.argsort(self, dim, descending=descending)


@torch_op("aten::var")
def var(
    self: Value,
    dim: Ints | bool | None = None,
    correction: float | bool | None = None,
    keepdim: bool = False,
) -> Value:
    """Compute the variance; torch has a form with `unbiased` in the place of the axes, too."""
    if isinstance(dim, bool):
        return reduce.var(self, unbiased=dim)
    if isinstance(correction, bool):
        return reduce.var(self, dim, unbiased=correction, keepdim=keepdim)
    return reduce.var(self, dim, correction=correction, keepdim=keepdim)


@torch_op("prims::var")
def var_of_axes(inp: Value, dims: Ints | None = None, correction: float = 1.0) -> Value:
    return reduce.var(inp, dims, correction=correction)


@torch_op("aten::lerp")
def lerp(self: Value, end: Value, weight: Operand) -> Value:
    return compare.lerp(self, end, weight)


@torch_op("aten::addcmul")
def addcmul(self: Value, tensor1: Value, tensor2: Value, value: int | float = 1) -> Value:
    return apply("add(@0,mul(mul(@1,@2),@3))", self, tensor1, tensor2, value)


@torch_op("aten::addcdiv")
def addcdiv(self: Value, tensor1: Value, tensor2: Value, value: int | float = 1) -> Value:
    return apply("add(@0,mul(div(@1,@2),@3))", self, tensor1, tensor2, value)


@torch_op("aten::clamp_min")
def clamp_min(self: Value, min: Operand) -> Value:
    return compare.clamp(self, min)


@torch_op("aten::clamp_max")
def clamp_max(self: Value, max: Operand) -> Value:
    return compare.clamp(self, None, max)


@torch_op("aten::cosine_similarity")
def cosine_similarity(x1: Value, x2: Value, dim: int = 1, eps: float = 1e-8) -> Op:
    return reduce.cosine_similarity(x1, x2, dim=dim, eps=eps)


@torch_op("aten::scatter")
def scatter(self: Value, dim: int, index: Value, src: Operand) -> Value:
    if isinstance(src, Value) and tensor(src).rank:
        return write_at(self, dim, index, src)
    return write_at(self, dim, index, value=src)


@torch_op("aten::_conj", "aten::conj", "aten::_conj_physical", "prims::conj_physical")
def conj(self: Value | Complex) -> Value | Complex:
    return conjugate(self)


@torch_op("aten::_upsample_bilinear2d_aa", "aten::_upsample_bicubic2d_aa")
def antialiased(
    operator: Node,
    input: Value,
    output_size: Ints | None = None,
    align_corners: bool = False,
    scale_factors: Floats | None = None,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Value:
    mode = "bicubic" if "bicubic" in operator.type else "bilinear"
    if scales_h is not None and scales_w is not None and not align_corners:
        scale_factors = (scales_h, scales_w)
    made = resize.interpolate(
        input,
        size=None if scale_factors else output_size,
        scale_factor=scale_factors,
        mode=mode,
        align_corners=align_corners,
        antialias=True,
    )
    have = tensor(made).shape[2:]
    if output_size is not None and have != output_size:
        raise Unsupported(f"has output_size {output_size}, must be {have}, as its scales give")
    return made
