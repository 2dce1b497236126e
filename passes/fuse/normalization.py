"""What the passes that recognise normalisations share: axes, scales and biases."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ..rewriting import NoMatch, Pattern, Rewriter

Norm = tri.LayerNorm | tri.RmsNorm


def trailing_axis(mean: ir.Value, rewriter: Rewriter) -> int:
    """Return the first axis of a mean over all axes from there on.

    Raises NoMatch when the mean leaves a later axis, or drops the axes it reduces.
    """
    op = rewriter.producer(mean, tri.ReduceMean)
    rank = tensor_of(op.x.type).rank
    first = rank - len(op.axes)
    if op.axes != tuple(range(first, rank)) or not op.axes:
        raise NoMatch(f"mean is over axes {op.axes} of {rank}, not over the last ones")
    if not op.keepdims:
        raise NoMatch("mean does not keep its axes")
    return first


def check_affine(value: ir.Value, axis: int, x: ir.Value, rewriter: Rewriter) -> None:
    """Raise NoMatch unless a value is a constant that varies from `axis` of `x` on, only."""
    if not isinstance(rewriter.find_producer(value), (tri.Constant, tri.Weight)):
        raise NoMatch("factor or term is not a constant")
    shape, rank = tensor_of(value.type).shape, tensor_of(x.type).rank
    outside = shape[: max(len(shape) - (rank - axis), 0)]
    if len(shape) > rank or set(outside) - {1}:
        raise NoMatch(f"constant of shape {shape} varies outside of the axes from {axis} on")


class ScaleNorm(Pattern):
    """Take a constant factor into a normalisation as its scale."""

    root = tri.Mul

    def rewrite(self, op: tri.Mul, rewriter: Rewriter) -> None:
        norm, factor = _norm_and_other(op, rewriter)
        if norm.scale is not None or (isinstance(norm, tri.LayerNorm) and norm.bias is not None):
            raise NoMatch("normalisation has a scale or a bias already")
        check_affine(factor, _axis(norm), norm.x, rewriter)
        with rewriter.before(op):
            new = type(norm).build(norm.x, factor, axis=norm.axis, epsilon=norm.epsilon)
        rewriter.replace(op, new, norm)


class ShiftNorm(Pattern):
    """Take a constant term into a layer normalisation as its bias."""

    root = tri.Add

    def rewrite(self, op: tri.Add, rewriter: Rewriter) -> None:
        norm, term = _norm_and_other(op, rewriter)
        if not isinstance(norm, tri.LayerNorm) or norm.bias is not None:
            raise NoMatch("normalisation takes no bias, or has one already")
        check_affine(term, _axis(norm), norm.x, rewriter)
        with rewriter.before(op):
            new = tri.LayerNorm.build(
                norm.x, norm.scale, term, axis=norm.axis, epsilon=norm.epsilon
            )
        rewriter.replace(op, new, norm)


def _norm_and_other(op: tri.Mul | tri.Add, rewriter: Rewriter) -> tuple[Norm, ir.Value]:
    for value, other in ((op.a, op.b), (op.b, op.a)):
        norm = rewriter.find_producer(value)
        if isinstance(norm, (tri.LayerNorm, tri.RmsNorm)):
            rewriter.sole_producer(value, type(norm))
            return norm, other
    raise NoMatch("neither operand is a normalisation")


def _axis(norm: Norm) -> int:
    return norm.axis % tensor_of(norm.x.type).rank
