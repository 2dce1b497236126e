"""The table of ONNX rules: one function per operator, whose signature is the operator's schema.

    @onnx_op("Reshape", since=5)
    def reshape(data: Value, shape: Array, *, allowzero: int = 0) -> tri.Reshape: …

- Positional parameters are the node's inputs. `Value` is an IR value; `Array` is a numpy array,
  and the importer refuses the node when that input cannot be computed at compile time; `TensorList`
  is a sequence, `TensorMap` a map, and `Item` is anything; a default of None makes an input
  optional, and so does `| None` before inputs that a node must have; `*xs: Value` takes any number.
  `Sizes`, and `Size` for a single one, are integers that may depend on the symbols of the model's
  inputs; `ComputedSizes` may also be computed when the model runs, and are not negative then.
- Keyword-only parameters are the node's attributes, as int, float, str, tuples of them, or arrays.
  No default means required; an attribute that the signature lacks is an error.
- A keyword-only parameter annotated `Node` receives the node itself: its name, outputs, subgraphs.
- The result is an op (all its results, in order), or an item or an array, or a tuple of ops of one
  result, items and arrays. An array becomes a constant, or a weight when it is large.

The rule with the greatest `since` that is not newer than the model's opset is used. `Invalid` and
`Unsupported` raised inside become messages that name the node. A rule that covers a part of its
operator raises `UseFunctionBody` for the rest.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, TypeAlias, TypeVar, cast, get_args, get_origin

from ....dialects.core.errors import Invalid, Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import Size as Size
from ....dialects.core.tensor import Array
from ..core.random_numbers import RandomNumbers
from ..core.sizes.found_sizes import FoundSizes
from .items import (
    EmptyOptional,
    FoundOptional,
    Item,
    JoinedSequence,
    RaggedSequence,
    TensorList,
    TensorMap,
)
from .subgraphs import Subgraphs

Value = ir.Value
Sizes: TypeAlias = tuple[int, ...]
ComputedSizes: TypeAlias = Annotated[tuple[int, ...], "computed"]

ITEM_KINDS: dict[type, str] = {
    Value: "a tensor",
    TensorList: "a sequence",
    JoinedSequence: "a sequence whose length a run decides",
    RaggedSequence: "a sequence of tensors of any shapes",
    TensorMap: "a map",
    EmptyOptional: "an empty optional",
    FoundOptional: "an optional that may be empty",
}
"""What inputs may be, and how messages call it."""


class UseFunctionBody(Exception):
    """Ask the importer to expand ONNX's definition of a node; raised before anything is built."""


@dataclass(frozen=True)
class Node:
    """Describe the source node to a rule that needs more than inputs and attributes.

    `evaluate` computes a value that depends on no input of the model, and returns None for others.
    `sizes` computes integers that may depend on symbols, and raises Unsupported for others; it also
    takes what messages call the value. `graphs` imports the subgraphs of the node, `found` names
    sizes that ops find when the model runs, and `random` draws numbers then. `states` has the
    inputs of the model that outputs of the node become in the next run.
    """

    name: str
    op_type: str
    domain: str
    outputs: tuple[str, ...]
    opset: int
    evaluate: Callable[[Value], Array | None]
    sizes: Callable[[Value, str], Sizes]
    graphs: Subgraphs
    found: FoundSizes
    random: RandomNumbers
    states: Mapping[str, Item | None]

    def updates(self, index: int, value: Value | None) -> bool:
        """Return whether output number `index` is the next value of an input of the model."""
        found = self.states.get(self.outputs[index]) if self.wants(index) else None
        return isinstance(found, Value) and value is not None and found == value

    def wants(self, index: int) -> bool:
        """Return whether the model uses output number `index`."""
        return index < len(self.outputs) and bool(self.outputs[index])


@dataclass(frozen=True)
class Rule:
    """One version of one operator's translation."""

    op_type: str
    domain: str
    since: int
    function: Callable[..., Any]
    inputs: tuple[inspect.Parameter, ...]
    attributes: dict[str, inspect.Parameter]
    node_parameter: str | None

    @property
    def variadic(self) -> bool:
        return bool(self.inputs) and self.inputs[-1].kind is inspect.Parameter.VAR_POSITIONAL

    def parameter(self, index: int) -> inspect.Parameter:
        """Return the parameter that input number `index` is for."""
        return self.inputs[min(index, len(self.inputs) - 1)]

    def wants(self, kind: Any, index: int) -> bool:
        """Return whether input number `index` is wanted as an `Array`, `Sizes` or another kind."""
        return self.parameter(index).annotation in (kind, kind | None)

    def check_item(self, index: int, name: str, item: object) -> None:
        """Raise Invalid for a sequence or an empty optional where the rule takes a tensor."""
        parameter = self.inputs[min(index, len(self.inputs) - 1)]
        annotated = get_args(parameter.annotation) or (parameter.annotation,)
        wanted = [kind for kind in annotated if kind in ITEM_KINDS] or [Value]
        if not isinstance(item, tuple(wanted)):
            needed = " or ".join(ITEM_KINDS[kind] for kind in wanted)
            found = ITEM_KINDS[next(kind for kind in ITEM_KINDS if isinstance(item, kind))]
            raise Invalid(f"input '{parameter.name}' ('{name}') is {found}, must be {needed}")

    def check_inputs(self, names: Sequence[str]) -> None:
        """Raise Invalid unless a node's inputs fit the parameters; an input of no name is absent.

        ONNX's own checker skips operators that are deprecated, or of other domains.
        """
        if len(names) > len(self.inputs) and not self.variadic:
            raise Invalid(f"has {len(names)} inputs, must have at most {len(self.inputs)}")
        for index, parameter in enumerate(self.inputs):
            if parameter.kind is parameter.VAR_POSITIONAL:
                if "" in names[index:]:
                    raise Invalid(f"leaves out one of its inputs '{parameter.name}'")
            elif _is_required(parameter) and not any(names[index : index + 1]):
                raise Invalid(f"lacks input '{parameter.name}'")

    def check_attributes(self, given: Mapping[str, Any]) -> None:
        """Raise Invalid or Unsupported unless a node's attributes fit the parameters."""
        if unknown := sorted(set(given) - set(self.attributes)):
            raise Unsupported(f"has attribute '{unknown[0]}', which version {self.since} lacks")
        for name, parameter in self.attributes.items():
            if name not in given:
                if parameter.default is parameter.empty:
                    raise Invalid(f"lacks attribute '{name}'")
            elif not _fits(given[name], parameter.annotation):
                found, wanted = type(given[name]).__name__, _spell(parameter)
                raise Invalid(f"has attribute '{name}' of type {found}, must be {wanted}")


def _is_required(parameter: inspect.Parameter) -> bool:
    """Return whether a node must have an input; one that may be None may come before it."""
    may_lack = type(None) in get_args(parameter.annotation)
    return parameter.default is parameter.empty and not may_lack


def _fits(value: Any, annotation: Any) -> bool:
    """Return whether a value is of the type of a parameter; whole numbers are floats, too."""
    arguments = get_args(annotation)
    if isinstance(annotation, UnionType):
        return any(_fits(value, each) for each in arguments)
    kind = get_origin(annotation) or annotation
    if kind is float:
        return isinstance(value, (int, float))
    if kind is tuple:
        values = cast("tuple[Any, ...]", value if isinstance(value, tuple) else (None,))
        return all(_fits(each, arguments[0]) for each in values)
    return isinstance(value, kind)


def _spell(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    kinds = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    names = [str(kind) if get_origin(kind) is tuple else _name(kind) for kind in kinds]
    return " or ".join(name for name in names if name != "NoneType")


def _name(kind: Any) -> str:
    return (get_origin(kind) or kind).__name__


RULES: dict[tuple[str, str], list[Rule]] = {}
"""All rules by (domain, operator), oldest first."""

HINTS: dict[tuple[str, str | None], str] = {}
"""What to do instead of operators that have no rule, by (domain, operator), or None for all."""


def refuse(hint: str, *, domain: str, op_type: str | None = None) -> None:
    """Record what to do instead of an operator that has no rule, or of all those of a domain."""
    HINTS[domain, op_type] = hint


Function = TypeVar("Function", bound=Callable[..., Any])


def onnx_op(op_type: str, *, since: int, domain: str = "") -> Callable[[Function], Function]:
    """Register the decorated function as the rule for an operator from opset `since` on."""

    def register(function: Function) -> Function:
        parameters = inspect.signature(function).parameters.values()
        keywords = [p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
        node = next((p.name for p in keywords if p.annotation is Node), None)
        rule = Rule(
            op_type,
            domain,
            since,
            function,
            tuple(p for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY),
            {p.name: p for p in keywords if p.name != node},
            node,
        )
        versions = RULES.setdefault((domain, op_type), [])
        if any(other.since == since for other in versions):
            raise TypeError(f"ONNX rule {domain}::{op_type} since {since} is defined twice")
        versions.append(rule)
        versions.sort(key=lambda r: r.since)
        return function

    return register


def find_rule(domain: str, op_type: str, opset: int) -> Rule | None:
    """Return the rule for an operator at an opset version, or None."""
    fitting = [r for r in RULES.get((domain, op_type), []) if r.since <= opset]
    return fitting[-1] if fitting else None
