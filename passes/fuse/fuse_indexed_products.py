"""Recognise products with matrices that were gathered for them."""

from dataclasses import dataclass

from ...dialects import tri
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ..building import add, less, reshape, shape_of, transpose, where
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite


class FuseIndexedProducts(Pass):
    """Multiply vectors by the matrices that indices name where these are, not by copies of them.

    Mixtures of experts gather the weights of the experts of each token. Matrices that would have to
    be transposed are constants.

        %g = tri.gather %w, %index {axis = 0}; %y = tri.mat_mul %rows, %g
            =>   %y = tri.indexed_mat_mul %rows, %w, %index
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Product())


class _Product(Pattern):
    root = tri.MatMul

    def rewrite(self, op: tri.MatMul, rewriter: Rewriter) -> None:
        shapes = shape_of(op.a), shape_of(op.b)
        if any(len(shape) != 3 for shape in shapes) or shapes[0][0] != shapes[1][0]:
            raise NoMatch("is not a batch of products")
        if shapes[0][1] == 1:
            vectors, matrices = op.a, _gathered(op.b, rewriter)
            transposed = matrices.transposed
        elif shapes[1][2] == 1:
            vectors, matrices = op.b, _gathered(op.a, rewriter)
            transposed = not matrices.transposed
        else:
            raise NoMatch("has no operand of single rows or columns")
        w, index = matrices.gather.x, matrices.gather.indices
        if transposed:
            rewriter.need_constant(w)
        with rewriter.before(op, *matrices.ops):
            w = transpose(w, 0, 2, 1) if transposed else w
            groups, depth, _ = shape_of(w)
            index = where(less(index, 0), add(index, groups), index)
            rows = reshape(vectors, shape_of(vectors)[0], depth)
            y = reshape(tri.IndexedMatMul.build(rows, w, index).y, *shape_of(op.y))
        rewriter.replace(op, [y], *matrices.ops)


@dataclass(frozen=True)
class _Matrices:
    """Hold the op that gathers matrices, and the ops that make them of these."""

    gather: tri.Gather
    ops: tuple[Op, ...]

    @property
    def transposed(self) -> bool:
        return len(self.ops) > 1


def _gathered(value: ir.Value, rewriter: Rewriter) -> _Matrices:
    """Return matrices of which each is gathered by an index of its own."""
    ops: list[Op] = []
    maker = rewriter.find_producer(value)
    if isinstance(maker, tri.Transpose) and maker.permutation == (0, 2, 1):
        ops.append(maker)
        maker = rewriter.find_producer(maker.x)
    if not isinstance(maker, tri.Gather) or maker.axis != 0:
        raise NoMatch("matrices are not gathered along the first axis")
    if len(shape_of(maker.indices)) != 1 or len(shape_of(maker.x)) != 3:
        raise NoMatch("does not gather one matrix for each index")
    return _Matrices(maker, (maker, *ops))
