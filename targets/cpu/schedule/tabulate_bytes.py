"""Look functions of one byte up in tables."""

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.module import Module
from ....passes.core import Pass
from ....passes.quantize.byte_functions import BYTES, ByteFunction
from ....passes.rewriting import NoMatch, Pattern, Rewriter, rewrite

CHEAP = (
    *(tri.Cast, tri.Round, tri.Clip, tri.Relu, tri.Add, tri.Sub, tri.Mul, tri.Div),
    *(tri.Minimum, tri.Maximum),
)
"""Ops that are one instruction or two."""

FEW = 12
"""The most ops of these that cost no more than a look-up does: those of a change of scales."""


class TabulateBytes(Pass):
    """Compute bytes from bytes by a table, where a function of more than a few ops does.

    The table has what the references of the ops make of each byte.

        tri.cast (tri.clip (tri.round (tri.div (tri.sigmoid (tri.mul (tri.cast %bytes), %s)), %t)))
            =>   cpu.look_up %bytes
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Tabulated())


class _Tabulated(Pattern):
    root = tri.Cast

    def rewrite(self, op: tri.Cast, rewriter: Rewriter) -> None:
        to = tensor_of(op.y.type).dtype
        if to not in BYTES:
            raise NoMatch(f"makes {to}, must be bytes")
        function = ByteFunction.of(op.y, rewriter)
        if len(function.ops) <= FEW and all(isinstance(each, CHEAP) for each in function.ops):
            raise NoMatch("costs no more than a table does")
        with rewriter.before(op):
            numbers = tuple(map(int, function.values))
            made = cpu.LookUp.build(function.source, table=numbers, to=to)
        rewriter.replace(op, made, *function.ops)
