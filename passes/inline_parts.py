"""Put the parts of a model by target back together."""

from ..dialects import tri
from ..dialects.core.module import Module, functions, ops
from .core import Pass
from .fuse.grouping import inline
from .parts import TARGET, parts_of


class InlineParts(Pass):
    """Put the ops of all parts back into their function.

    %y = tri.part %x { target = "cpu"; %r = tri.group …; yield %r }; return %y
        =>   %y = tri.group %x …; return %y
    """

    needed = True

    def run(self, module: Module) -> None:
        for function in functions(module.operation):
            if TARGET in function.attributes:
                del function.attributes[TARGET]
            for part in parts_of(function):
                inline(part)
        named = {op.name for op in ops(module.operation) if isinstance(op, tri.Weight)}
        for name in [name for name in module.weights if name not in named]:
            del module.weights[name]
