"""Scopes: what each name of a graph, a subgraph or a function body stands for."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import onnx

from ....dialects.core.errors import Invalid
from ....dialects.core.mlir import ir
from .items import Item

MakeConstant = Callable[[onnx.TensorProto], Item]
"""Makes the constant of an initializer at the insertion point."""


@dataclass
class Scope:
    """Map the names of one graph or function body to items; None is an input that is left out.

    What a scope does not define, the scopes `around` it may. `region` is the number of the region
    of IR that the scope builds: constants are made in the region that uses them. `iterations` are
    the numbers of iterations of the loops whose bodies it is in, the outermost first. `prefix` is
    put before the names of values, which differ between branches, and between iterations.
    `returned` are the values that the graph returns, which may be a branch that a run chooses.
    """

    values: dict[str, Item | None]
    initializers: dict[str, onnx.TensorProto]
    around: "Scope | None" = None
    region: int = 0
    prefix: str = ""
    iterations: tuple[ir.Value, ...] = ()
    returned: tuple[str, ...] = ()
    is_branch: bool = False

    def find(self, name: str, make: MakeConstant) -> Item:
        """Return what a name stands for; make its constant where it is an initializer."""
        keeper = self
        for scope in self.outwards():
            if scope.region == self.region:
                keeper = scope
            if (found := scope.values.get(name)) is not None:
                return found
            if name in scope.initializers:
                made = make(scope.initializers[name])
                keeper.values[name] = made
                return made
            if name in scope.values:
                break
        raise Invalid(f"uses value '{name}', which nothing defines")

    def value_name(self, output: str) -> str:
        """Return the name in the IR for an output of a node; nothing for one that is left out."""
        return output and self.prefix + output

    def inner(self, graph: onnx.GraphProto, prefix: str) -> "Scope":
        """Return a scope for a subgraph of a node of this one."""
        initializers = {tensor.name: tensor for tensor in graph.initializer}
        returned = tuple(value.name for value in graph.output)
        same = self.region, prefix, self.iterations
        return Scope({"": None}, initializers, self, *same, returned)

    def outwards(self) -> Iterator["Scope"]:
        """Yield this scope and those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.around
