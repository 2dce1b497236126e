"""Find values of a module by the names that they have in its source."""

import difflib
from collections.abc import Sequence
from fnmatch import fnmatchcase

from ..dialects import tri
from ..dialects.core.errors import CompileError, Diagnostic
from ..dialects.core.interface import named_inputs, named_outputs
from ..dialects.core.location import value_names
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, direct_ops


class SourceValues:
    """Know the values of `main` by name: inputs, results of ops outside of bodies, and outputs.

    Where an output has the name of another value, the output is meant. Patterns are for what is
    computed: a constant is found by its name alone.
    """

    def __init__(self, module: Module) -> None:
        self.inputs, self.outputs = named_inputs(module), named_outputs(module)
        made: dict[str, ir.Value] = {}
        self._constant: set[str] = set()
        for op in direct_ops(module.main_block):
            named = dict(zip(value_names(op.location), op.results, strict=False))
            made |= named
            if isinstance(op, tri.Constant | tri.Weight):
                self._constant.update(named)
        made.pop("", None)  # outputs that nobody wants have no name
        self.by_name = {**self.inputs, **made, **self.outputs}

    def find(self, wanted: Sequence[str], option: str) -> dict[str, ir.Value]:
        """Return the values that names, or patterns such as `layer*`, stand for.

        Raises CompileError that lists all names and patterns without a value.
        """
        found: dict[str, ir.Value] = {}
        faults: list[Diagnostic] = []
        for name in wanted:
            matches = [name] if name in self.by_name else self._matching(name)
            if not matches:
                faults.append(Diagnostic("", f"{option} has '{name}', {self._advice(name)}"))
            found |= {match: self.by_name[match] for match in matches}
        if faults:
            raise CompileError(faults)
        return found

    def _matching(self, pattern: str) -> list[str]:
        names = (name for name in self.by_name if name not in self._constant)
        return [name for name in names if fnmatchcase(name, pattern)]

    def _advice(self, name: str) -> str:
        close = difflib.get_close_matches(name, self.by_name, 3)
        like = f": did you mean {' or '.join(map(repr, close))}?" if close else ""
        return f"which is no value of the model, and matches none{like}"
