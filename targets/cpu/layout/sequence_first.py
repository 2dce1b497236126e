"""Give recurrent layers whose batch is in front the layout that kernels have."""

from typing import Any

from ....dialects import tri
from ....dialects.core.module import Module
from ....passes.building import transpose
from ....passes.core import Pass
from ....passes.rewriting import NoMatch, Pattern, Rewriter, rewrite


class SequenceFirst(Pass):
    """Transpose what recurrent layers of layout 1 take and return: the layers get layout 0.

    %y, %y_h = tri.gru %x, %w, %r  of layout 1
        =>   %0, %1 = tri.gru (tri.transpose %x), %w, %r
             %y, %y_h = tri.transpose %0, tri.transpose %1
    """

    def run(self, module: Module) -> None:
        rewrite(module, _SequenceFirst())


class _SequenceFirst(Pattern):
    root = (tri.Rnn, tri.Gru, tri.Lstm)

    def rewrite(self, op: tri.Recurrent, rewriter: Rewriter) -> None:
        if not op.layout:
            raise NoMatch("has layout 0")
        cells = (op.initial_c, op.p, op.projection) if isinstance(op, tri.Lstm) else ()
        with rewriter.before(op):
            states = [
                None if state is None else transpose(state, 1, 0, 2)
                for state in (op.initial_h, *cells[:1])
            ]
            operands = (op.w, op.r, op.b, op.sequence_lens, *states, *cells[1:])
            attributes: dict[str, Any] = op.attributes | {"layout": 0}
            made = type(op).build(transpose(op.x, 1, 0, 2), *operands, **attributes)
            y, *lasts = made.results
            results = [transpose(y, 2, 0, 1, 3), *(transpose(last, 1, 0, 2) for last in lasts)]
        rewriter.replace(op, results)
