"""Keep values of a model that would be fused away, or whose memory would be used again."""

from ..dialects.core.interface import set_results
from ..dialects.core.module import Module
from ..dialects.core.states.kept import kept_of, set_kept
from .core import Pass
from .source_values import SourceValues


class KeepValues(Pass):
    """Return `values` of the source beside the outputs, by name or pattern: a session keeps them.

    They feed what they fed before. An input, and what is an output already, is not kept once more.
    Raises CompileError for a name without a value.

        %a = tri.relu %x loc("n"("a"));  return %y   =>   return %y, %a   {trivium.kept = ["a"]}
    """

    values: tuple[str, ...] = ()

    def run(self, module: Module) -> None:
        if not self.values:
            return
        with module.operation.context:
            known = SourceValues(module)
            found = known.find(self.values, "keep")
            kept = {n: v for n, v in found.items() if n not in {**known.inputs, **known.outputs}}
            if kept:
                set_results(module, {**known.outputs, **kept})
                set_kept(module.main, [*kept_of(module.main), *kept])
