"""What rules do with the graphs that a node has as attributes: branches, and bodies of loops."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import onnx

from ....dialects.core.errors import Invalid
from ....dialects.core.location import node_location, node_names
from ....dialects.core.mlir import ir
from ....dialects.core.op import view
from ....dialects.core.tensor import Array
from ..core.main_function import MainFunction, Mark
from .graph import Named, nested_nodes, ordered_nodes
from .items import Item
from .scopes import MakeConstant, Scope

ImportNodes = Callable[[Sequence[Named], Scope], None]
"""Checks that nodes are supported, and imports them into a scope."""


def count_nodes(graph: onnx.GraphProto) -> int:
    """Count the nodes of a graph, those of its subgraphs included."""
    return sum(1 for _ in nested_nodes(ordered_nodes(graph)))


class Subgraphs:
    """Import the subgraphs of one node, which use what is visible in the scope of the node."""

    def __init__(
        self,
        main: MainFunction,
        nodes: ImportNodes,
        constant: MakeConstant,
        scope: Scope,
        name: str,
        outputs: Sequence[str],
    ) -> None:
        self.main = main
        self._nodes = nodes
        self._constant = constant
        self._scope = scope
        self._name = name
        self._outputs = outputs

    def named(self, name: str) -> Item:
        """Return what a name stands for where the node is."""
        return self._scope.find(name, self._constant)

    def known(self, value: ir.Value, what: str) -> Array:
        """Compute a value; NeedsValue, with the inputs it is of, when it depends on any."""
        return self.main.known(value, what)

    def inline(
        self,
        graph: onnx.GraphProto,
        inputs: Sequence[Item],
        label: str,
        *,
        region: bool = False,
        branch: bool = False,
        iteration: ir.Value | None = None,
    ) -> tuple[Item, ...]:
        """Import a subgraph at the insertion point, in a `region` of its own or where the node is.

        So is the body of a loop, of which `iteration` is the number of the iteration. A `branch` is
        one of an `If`.
        Returns its outputs. The names of its nodes begin with that of the node and the label, as
        those of its values do.
        """
        prefix = f"{self._name}{label}/"
        scope = self._scope.inner(graph, prefix)
        scope.is_branch = branch
        scope.region += region or iteration is not None
        scope.iterations += () if iteration is None else (iteration,)
        formals = [value.name for value in graph.input]
        if len(formals) != len(inputs):
            raise Invalid(f"has a body of {len(formals)} inputs, must have {len(inputs)}")
        scope.values |= dict(zip(formals, inputs, strict=True))
        self._nodes(ordered_nodes(graph, prefix), scope)
        return tuple(scope.find(value.name, self._constant) for value in graph.output)

    @contextmanager
    def draft(self) -> Generator["Draft"]:
        """Let what is built meanwhile be undone."""
        draft = Draft(self.main, self.main.mark())
        scopes = [(scope, dict(scope.values)) for scope in self._scope.outwards()]
        try:
            yield draft
        finally:
            if draft.undone:
                for scope, values in scopes:
                    scope.values = values

    def name_outputs(self, items: Sequence[Item]) -> None:
        """Name values that were made inside of the node after the outputs that they become."""
        for item, output in zip(items, self._outputs, strict=False):
            op = view(item.owner) if isinstance(item, ir.OpResult) else None
            if op is None or not output or len(op.results) != 1:
                continue
            names = node_names(op.location)
            if names and names[-1].startswith(f"{self._name}/"):
                op.operation.location = node_location(names[-1], [output])


@dataclass
class Draft:
    """Remember what was there before something was built, so that it can be undone."""

    main: MainFunction
    mark: Mark
    undone: bool = False

    def undo(self) -> None:
        """Erase what was built since the beginning of the draft."""
        self.undone = True
        self.main.drop_after(self.mark)
