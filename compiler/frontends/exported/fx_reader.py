"""Read programs of torch.export that are in memory, as `reader.py` reads the JSON of archives.

Weights stay in place. Imported where torch is there already.
"""

import importlib
import operator
from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from torch.utils import _pytree

from ....dialects.core.errors import CompileError, Diagnostic, Unsupported
from ..torch.aten import overload_name
from .graph import (
    Graph,
    Port,
    Program,
    ProgramNode,
    ProgramSize,
    Reference,
    Result,
    SizeFormula,
    TensorType,
    Unread,
)
from .reader import EMPTY_STACK, output_names, source_of
from .torch_weights import torch_weights

_KINDS = {"constant_tensor": "tensor_constant"}
"""The kinds of inputs that archives call otherwise."""

_SCALARS = (type(None), bool, int, float, complex, str)
_WITHOUT_MEANING = (torch.device, torch.layout, torch.memory_format)
"""What says where and how a tensor is stored."""

_untyped: Any = torch
_sympy: Any = importlib.import_module("sympy")
_trees: Any = _pytree


def read_in_memory(program: Any) -> Program:
    """Return what an exported program is: what its archive has.

    Raises CompileError for weights that are no plain tensors, and for operators with graphs that
    carry anything but tensors.
    """
    faults: list[Diagnostic] = []
    graph = _Reader(program.graph_module, faults)
    tensors: dict[str, Any] = {**program.state_dict, **program.constants}
    try:
        weights = torch_weights(
            {name: each for name, each in tensors.items() if isinstance(each, torch.Tensor)}
        )
    except Unsupported as error:
        faults.append(Diagnostic("", f"the program {error}"))
        weights = {}
    if faults:
        raise CompileError(faults)
    return Program(
        inputs=[_port(each) for each in program.graph_signature.input_specs],
        outputs=[_port(each) for each in program.graph_signature.output_specs],
        nodes=graph.nodes,
        types=graph.types,
        weights=weights,
        ranges={str(each): _range(bounds) for each, bounds in program.range_constraints.items()},
        output_names=_output_names(program.module_call_graph[0].signature.out_spec),
    )


def operator_name(target: Any) -> str:
    """Return `aten::add.Tensor` for an overload, `higher_order::cond`, `_operator.add`."""
    if isinstance(target, _untyped._ops.OpOverload):
        return overload_name(target)
    if isinstance(target, _untyped._ops.HigherOrderOperator):
        return f"{target.namespace}::{target.__name__}"
    return f"{target.__module__}.{target.__name__}"


def _port(spec: Any) -> Port:
    kind: str = spec.kind.name.lower()
    argument = spec.arg
    if not hasattr(argument, "value"):
        return Port(_KINDS.get(kind, kind), Reference(argument.name), spec.target or "")
    if kind == "user_input":
        return Port("constant_input", argument.value, argument.name)
    return Port(kind, argument.value, spec.target or "")


def _range(bounds: Any) -> tuple[int, int | None]:
    """Return the range of a symbol: torch's least size, 0, is no wish for empty tensors."""
    low, high = (int(x) if x.is_Integer else None for x in (bounds.lower, bounds.upper))
    return max(low or 1, 1), high


def _output_names(spec: Any) -> list[str]:
    try:
        return output_names(_trees.treespec_dumps(spec))
    except NotImplementedError:  # a class that has no name in a text
        return []


class _Reader:
    """Read a graph, and those that its operators take; what cannot be read is added to `faults`."""

    def __init__(self, module: Any, faults: list[Diagnostic]) -> None:
        self._module = module
        self._faults = faults
        self._names: dict[Any, str] = {}  # of nodes that take what another one has taken
        self.types: dict[str, TensorType] = {}
        self.nodes: list[ProgramNode] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        for node in module.graph.nodes:
            if node.op == "placeholder":
                self._declare(node.name, node.meta.get("val"))
                self.inputs.append(self._argument(node))
            elif node.op == "call_function" and node.target is not operator.getitem:
                self.nodes.append(self._node(node))
            elif node.op == "output":
                self.outputs = _listed(self._argument(node.args[0]))

    def _node(self, node: Any) -> ProgramNode:
        results = self._results(node)
        with_graphs = isinstance(node.target, _untyped._ops.HigherOrderOperator)
        if with_graphs and not all(map(_is_carried, _listed(node.meta.get("val")))):
            self._faults.append(_carries_numbers(node))
        return ProgramNode(
            name=node.name,
            type=operator_name(node.target),
            arguments=self._arguments(node),
            results=results,
            path=_path(node.meta.get("nn_module_stack")),
            source=source_of(node.meta.get("stack_trace") or ""),
            custom=dict(node.meta.get("custom") or {}),
        )

    # -- arguments ----------------------------------------------------------------------------

    def _arguments(self, node: Any) -> dict[str, Any]:
        """Return the arguments by the names of the schema, or by their number where there is none.

        Those that have the value of the schema are not there.
        """
        schema = getattr(node.target, "_schema", None)
        given: Mapping[str, Any] = node.kwargs
        if schema is None:
            numbered = {str(index): each for index, each in enumerate(node.args)}
            return {key: self._argument(each) for key, each in {**numbered, **given}.items()}
        named = {each.name: value for each, value in zip(schema.arguments, node.args, strict=False)}
        return {key: self._argument(each) for key, each in {**named, **given}.items()}

    def _argument(self, given: Any) -> Any:
        if isinstance(given, _untyped.fx.Node):
            return self._reference(given)
        if isinstance(given, (list, tuple)):
            return [self._argument(each) for each in cast("Sequence[Any]", given)]
        if isinstance(given, torch.dtype):
            return str(given)
        if isinstance(given, _untyped._ops.OpOverload):
            return operator_name(given)
        if isinstance(given, _WITHOUT_MEANING):
            return None
        return given if isinstance(given, _SCALARS) else Unread(type(given).__name__)

    def _reference(self, node: Any) -> Any:
        if node.op != "get_attr":
            name: str = node.name
            return Reference(self._names.get(node, name))
        found: Any = self._module.get_submodule(node.target)
        inner = _Reader(found, self._faults)
        return Graph(inner.inputs, inner.outputs, inner.nodes, inner.types)

    # -- results ------------------------------------------------------------------------------

    def _results(self, node: Any) -> list[Result]:
        """Return the results: what takes one out of several is no node of its own."""
        value, schema = node.meta.get("val"), getattr(node.target, "_schema", None)
        if schema is not None and not schema.returns:
            return []
        if not isinstance(value, (list, tuple)):
            return [self._result(node, node.name, value)]
        listed, users = cast("Sequence[Any]", value), self._taken(node)
        if schema is not None and len(schema.returns) == 1:
            return [self._list(node, users, listed)]
        return [
            self._result(users.get(index), self._name(node, users, index), each)
            for index, each in enumerate(listed)
        ]

    def _result(self, node: Any, name: str, value: Any) -> Result:
        if value is None:
            return Result(("",))
        if isinstance(value, (list, tuple)):
            listed = cast("Sequence[Any]", value)
            return self._list(node, {} if node is None else self._taken(node), listed)
        self._declare(name, value)
        return Result((name,))

    def _list(self, node: Any, users: Mapping[int, Any], values: Sequence[Any]) -> Result:
        names = [self._name(node, users, index) for index in range(len(values))]
        for name, value in zip(names, values, strict=True):
            self._declare(name, value)
        return Result(tuple(names), True)

    def _taken(self, node: Any) -> dict[int, Any]:
        """Return a node that takes each result, by its number; others have the name of that one."""
        found: dict[int, Any] = {}
        for user in node.users:
            if user.target is operator.getitem:
                first = found.setdefault(user.args[1], user)
                self._names[user] = first.name
        return found

    @staticmethod
    def _name(node: Any, users: Mapping[int, Any], index: int) -> str:
        owner = "" if node is None else node.name
        return users[index].name if index in users else f"{owner}_unused_{index}"

    def _declare(self, name: str, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            self.types[name] = TensorType(str(value.dtype), tuple(map(_size, value.shape)))


def _path(stack: Mapping[str, tuple[str, str]] | None) -> str:
    """Return the path of the innermost module, as `layers.0.attention`."""
    if not stack or next(iter(stack)).startswith(EMPTY_STACK):
        return ""
    path, _ = list(stack.values())[-1]
    return path


def _size(size: Any) -> ProgramSize:
    if isinstance(size, int):
        return size
    formula = size.node.expr
    return int(formula) if formula.is_Integer else SizeFormula(_sympy.srepr(formula))


def _listed(given: Any) -> list[Any]:
    return list(cast("Sequence[Any]", given)) if isinstance(given, (list, tuple)) else [given]


def _is_carried(value: Any) -> bool:
    return value is None or isinstance(value, torch.Tensor)


def _carries_numbers(node: Any) -> Diagnostic:
    """Return the fault of an operator with graphs that carries what archives cannot have."""
    kind = f"'{operator_name(node.target)}' operator '{node.name}'"
    notes = (
        source_of(node.meta.get("stack_trace") or ""),
        "carry tensors, torch.tensor(0) instead of 0",
    )
    what = f"{kind} takes or returns something that is no tensor, must be tensors"
    return Diagnostic(node.name, what, tuple(filter(None, notes)))
