"""Rewrite ops that a target lacks into simpler ones."""

from collections.abc import Sequence

from ..dialects.core.discovery import import_all
from ..dialects.core.errors import CompileError, suggestion
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module
from ..dialects.core.op import Op, view
from . import decompositions
from .core import Pass
from .decompositions.registry import DECOMPOSITIONS, Rule
from .rewriting import Pattern, Rewriter, rewrite


class Decompose(Pass):
    """Replace the named ops, or all for which there is a rule, by simpler ones.

    `ops` names them without their dialect, as in `decompose{ops=gelu,layer_norm}`.

        %y = tri.silu %x   =>   %s = tri.sigmoid %x; %y = tri.mul %x, %s
    """

    ops: tuple[str, ...] = ()

    def run(self, module: Module) -> None:
        rules = decomposition_rules()
        named = {cls.op_name.partition(".")[2]: cls for cls in rules}
        for name in self.ops:
            if name not in named:
                hint = suggestion(name, named)
                raise CompileError(f"pass '{self.name}' has no rule for op '{name}'{hint}")
        chosen = [named[name] for name in self.ops or named]
        rewrite(module, *(Decomposition(cls, rules[cls]) for cls in chosen))


def decomposition_rules() -> dict[type[Op], Rule]:
    """Return the rules of all modules of `decompositions`, by op class."""
    import_all(decompositions.__name__)
    return DECOMPOSITIONS


class Decomposition(Pattern):
    """Replace ops of one class as a rule says."""

    def __init__(self, cls: type[Op], rule: Rule) -> None:
        self.root = cls
        self.rule = rule

    def rewrite(self, op: Op, rewriter: Rewriter) -> None:
        with rewriter.before(op):
            made = self.rule(op)
        values = [made] if isinstance(made, ir.Value) else list(made)
        rewriter.replace(op, _maker(values, op) or values)


def _maker(values: Sequence[ir.Value], op: Op) -> Op | None:
    """Return the new op that makes the result; None when there are several or it is an operand."""
    if len(values) != 1 or values[0] in list(op.operation.operands):
        return None
    return view(values[0].owner)
