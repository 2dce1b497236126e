"""Make programs functional that write in place: what is written to gets a new name. No MLIR.

`torch.export.save` of a program that was not decomposed has such operators. Where a tensor is
written to of which there are views, only torch can tell what these are then: they are refused if
anything uses them afterwards.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from ....dialects.core.errors import Diagnostic
from ..torch.aten import aten_rule
from .aliases import may_alias
from .effects import without_effects
from .graph import Port, Program, ProgramNode, Reference, Result, TensorType
from .inline import inlined, renamed
from .state import UPDATE

ADVICE = "call run_decompositions({}) of the program before it is saved"

_NEW_VALUES = {"aten::normal_": "aten::normal_functional", "aten::zero_": "aten::zeros_like"}
"""Operators in place whose functional form has another name."""

_MUTATIONS = {"buffer": "buffer_mutation", "parameter": "parameter_mutation", "user_input": UPDATE}
"""The kind of an output that is the new value of an input, by the kind of that."""


def functional(program: Program) -> tuple[Program, list[Diagnostic]]:
    """Return a program without operators in place, tokens, and calls of graphs.

    The list has what cannot be expressed: what is used after it was changed by way of a view, and
    operators that have no functional form.
    """
    plain = without_effects(inlined(program))
    if not any(map(_writes, plain.nodes)):
        return plain, []
    return _Functional(plain).program()


def is_in_place(type_: str) -> bool:
    """Return whether an operator, `aten::add_.Tensor`, writes to its first operand."""
    name = type_.partition("::")[2].partition(".")[0]
    return name.endswith("_") and not name.endswith("__") and not name.startswith("_operator")


def _writes(node: ProgramNode) -> bool:
    return is_in_place(node.type) or _is_batch_norm_in_training(node)


def _is_batch_norm_in_training(node: ProgramNode) -> bool:
    return node.type == "aten::batch_norm" and node.arguments.get("training") is True


class _Functional:
    """Rename values; `_same` has the names of one tensor, `_storage` all that may share memory."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._types: dict[str, TensorType] = dict(program.types)
        self._current: dict[str, Reference] = {}
        self._same: dict[str, set[str]] = {}
        self._storage: dict[str, set[str]] = {}
        self._stale: dict[str, ProgramNode] = {}
        self._written: set[str] = set()
        self._writes: Counter[str] = Counter()
        self._faults: list[Diagnostic] = []

    def program(self) -> tuple[Program, list[Diagnostic]]:
        inputs = {p.value.name: p for p in self._program.inputs if isinstance(p.value, Reference)}
        nodes = [made for node in self._program.nodes for made in self._node(node, inputs)]
        seen = [replace(each, value=self._output(each)) for each in self._program.outputs]
        outputs = [*self._new_values(inputs), *seen]  # in the order of torch
        made = replace(self._program, nodes=nodes, outputs=outputs, types=self._types)
        return made, self._faults

    def _node(self, node: ProgramNode, inputs: Mapping[str, Port]) -> Iterator[ProgramNode]:
        taken = list(_references(node.arguments.values()))
        for name in taken:
            self._check_fresh(name, node)
        if is_in_place(node.type):
            yield from self._in_place(node, inputs)
        elif _is_batch_norm_in_training(node):
            yield self._batch_norm(node, inputs)
        else:
            yield replace(node, arguments=self._renamed(node.arguments))
            made = [name for result in node.results for name in result.names]
            shared = taken if may_alias(node.type) else []
            self._join_storage([*made, *shared] if shared else [])

    def _in_place(self, node: ProgramNode, inputs: Mapping[str, Port]) -> Iterator[ProgramNode]:
        target = node.arguments.get("self")
        type_ = _functional_type(node.type)
        if not isinstance(target, Reference) or aten_rule(type_) is None:
            self._fault(node, "is not supported: it writes in place")
            return
        name = target.name
        if any(self._types.get(x) != self._types.get(name) for r in node.results for x in r.names):
            self._fault(node, "changes the type of what it writes to")
            return
        made = self._write(name, node, inputs)
        yield replace(
            node, type=type_, arguments=self._renamed(node.arguments), results=[Result((made,))]
        )
        wanted = self._types.get(name)
        operands = [self._types.get(each) for each in _references(node.arguments.values())]
        if wanted is not None and any(t is not None and t.dtype != wanted.dtype for t in operands):
            self._types.pop(made, None)
            yield _cast(node, made, cast := f"{made}.cast", wanted)
            self._types[cast] = wanted
            made = cast
        self._rename(name, made)
        for result in node.results:
            for each in result.names:
                self._join_same(each, name)
                self._current[each] = Reference(made)

    def _batch_norm(self, node: ProgramNode, inputs: Mapping[str, Port]) -> ProgramNode:
        """Return the normalisation by a batch that returns new statistics."""
        arguments = self._renamed(node.arguments)
        kept = {key: arguments[key] for key in arguments if key != "cudnn_enabled"}
        ((output,),) = [result.names for result in node.results]
        unused = [Result((f"{node.name}.mean",)), Result((f"{node.name}.deviation",))]
        running = [arguments.get(key) for key in ("running_mean", "running_var")]
        if not all(isinstance(each, Reference) for each in running):
            kept = {k: v for k, v in kept.items() if not k.startswith("running")}
            type_ = "aten::_native_batch_norm_legit.no_stats"
            return replace(node, type=type_, arguments=kept, results=[Result((output,)), *unused])
        made: list[str] = []
        for key in ("running_mean", "running_var"):
            name = cast("Reference", node.arguments[key]).name
            made.append(self._write(name, node, inputs))
            self._rename(name, made[-1])
        results = [Result((output,)), *unused, *(Result((each,)) for each in made)]
        type_ = "aten::_native_batch_norm_legit_functional"
        return replace(node, type=type_, arguments=kept, results=results)

    def _write(self, name: str, node: ProgramNode, inputs: Mapping[str, Port]) -> str:
        """Return a name for the new value of a tensor; others that share its memory are stale."""
        same = self._same.get(name, {name})
        for other in self._storage.get(name, {name}) - same:
            if other in inputs:
                self._fault(node, f"writes to '{other}' by way of a view")
            else:
                self._stale[other] = node
        for each in same & inputs.keys():
            if inputs[each].kind not in _MUTATIONS:
                self._fault(node, f"writes to '{each}', which is a constant")
            self._written.add(each)
        self._writes[name] += 1
        made = f"{name}.{self._writes[name]}"
        if name in self._types:
            self._types[made] = self._types[name]
        return made

    def _rename(self, name: str, made: str) -> None:
        for each in self._same.get(name, {name}):
            self._current[each] = Reference(made)

    def _join_same(self, name: str, other: str) -> None:
        same = self._same.setdefault(other, {other})
        same.add(name)
        self._same[name] = same
        self._join_storage([name, other])

    def _join_storage(self, names: Sequence[str]) -> None:
        joined: set[str] = set()
        for name in names:
            joined |= self._storage.get(name, {name})
        self._storage |= dict.fromkeys(joined, joined)

    def _renamed(self, given: Any) -> Any:
        """Return arguments with the present names of values."""
        if isinstance(given, dict):
            named = cast("dict[str, Any]", given)
            return {key: renamed(each, self._current) for key, each in named.items()}
        return renamed(given, self._current)

    def _output(self, port: Port) -> Any:
        for name in _references([port.value]):
            if name in self._stale:
                what = f"is '{name}', which '{self._stale[name].name}' changes by way of a view"
                self._faults.append(Diagnostic("", f"an output {what}", (ADVICE,)))
        return self._renamed(port.value)

    def _new_values(self, inputs: Mapping[str, Port]) -> Iterator[Port]:
        """Yield the outputs that are new values of inputs."""
        for name, port in inputs.items():
            if name in self._written and port.kind in _MUTATIONS:
                target = name if port.kind == "user_input" else port.target
                yield Port(_MUTATIONS[port.kind], self._current[name], target)

    def _check_fresh(self, name: str, node: ProgramNode) -> None:
        if name in self._stale:
            writer = self._stale[name].name
            self._fault(node, f"uses '{name}', which '{writer}' has changed by way of a view")

    def _fault(self, node: ProgramNode, what: str) -> None:
        notes = [node.source] if node.source else []
        message = f"'{node.type}' operator '{node.name}' {what}"
        found = Diagnostic(node.path or node.name, message, (*notes, ADVICE))
        if found not in self._faults:
            self._faults.append(found)


def _functional_type(type_: str) -> str:
    packet, dot, form = type_.partition(".")
    return _NEW_VALUES.get(packet, packet.removesuffix("_")) + dot + form


def _cast(node: ProgramNode, source: str, made: str, type_: TensorType) -> ProgramNode:
    """Return a node that gives a value the element type of the tensor that it is written to."""
    arguments = {"self": Reference(source), "dtype": type_.dtype}
    return replace(
        node, type="aten::_to_copy", arguments=arguments, results=[Result((made,))], name=made
    )


def _references(given: Any) -> Iterator[str]:
    """Yield the names of the values in arguments."""
    for each in given:
        if isinstance(each, Reference):
            yield each.name
        elif isinstance(each, list):
            yield from _references(cast("list[Any]", each))
