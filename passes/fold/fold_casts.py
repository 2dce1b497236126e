"""Simplify chains of casts."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.module import Module
from ...dialects.core.tensor import DTYPES
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite

PRECISION = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
"""How many bits of a whole number a float type holds."""

HOLDS = {"f64": ("f32", "f16", "bf16"), "f32": ("f16", "bf16")}
"""The float types of which a float type has all values."""


class FoldCasts(Pass):
    """Drop the first of two casts when it loses nothing.

    %a = tri.cast %x to f32; %y = tri.cast %a to f16 (%x is i8)   =>   %y = tri.cast %x to f16
    """

    def run(self, module: Module) -> None:
        rewrite(module, _CastOfCast())


class _CastOfCast(Pattern):
    root = tri.Cast

    def rewrite(self, op: tri.Cast, rewriter: Rewriter) -> None:
        inner = rewriter.producer(op.x, tri.Cast)
        source = tensor_of(inner.x.type).dtype
        if not holds_all(inner.to, source):
            raise NoMatch(f"{inner.to} does not hold all values of {source}")
        with rewriter.before(op):
            new = tri.Cast.build(inner.x, to=op.to, saturate=op.saturate)
        rewriter.replace(op, new, inner)


def holds_all(wide: str, narrow: str) -> bool:
    """Return whether every value of the element type `narrow` is one of `wide`, too."""
    if wide == narrow:
        return True
    to, source = DTYPES[wide], DTYPES[narrow]
    match source.kind, to.kind:
        case "bool", _:
            return True
        case "float", "float":
            return narrow in HOLDS.get(wide, ())
        case (("int" | "uint"), "float"):
            return source.bits - (source.kind == "int") <= PRECISION[wide]
        case ("int", "int") | ("uint", "uint"):
            return source.bits < to.bits
        case "uint", "int":
            return source.bits < to.bits
        case _:
            return False
