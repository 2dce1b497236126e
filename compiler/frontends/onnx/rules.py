"""The table of ONNX rules: one function per operator, whose signature is the operator's schema.

    @onnx_op("Reshape", since=5)
    def reshape(data: Value, shape: Array, *, allowzero: int = 0) -> tri.Reshape: …

- Positional parameters are the node's inputs. `Value` is an IR value; `Array` is a numpy array,
  and the importer refuses the node when that input cannot be computed at compile time; a default
  of None makes an input optional; `*xs: Value` takes any number.
- Keyword-only parameters are the node's attributes, as int, float, str, tuples of them, or arrays.
  No default means required; an attribute that the signature lacks is an error.
- A keyword-only parameter annotated `Node` receives the node itself: its name and outputs.
- The result is an op (all its results, in order), or a value or an array, or a tuple of ops of one
  result, values and arrays. An array becomes a constant, or a weight when it is large.

The rule with the greatest `since` that is not newer than the model's opset is used. `Invalid` and
`Unsupported` raised inside become messages that name the node. A rule that covers a part of its
operator raises `UseFunctionBody` for the rest.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Array

Value = ir.Value


class UseFunctionBody(Exception):
    """Ask the importer to expand ONNX's definition of a node; raised before anything is built."""


@dataclass(frozen=True)
class Node:
    """Describe the source node to a rule that needs more than inputs and attributes.

    `evaluate` computes a value that depends on no input of the model, and returns None for others.
    """

    name: str
    op_type: str
    domain: str
    outputs: tuple[str, ...]
    opset: int
    evaluate: Callable[[Value], Array | None]

    def wants(self, index: int) -> bool:
        """Say whether the model uses output number `index`."""
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

    def wants_array(self, index: int) -> bool:
        """Say whether input number `index` must be known at compile time."""
        parameter = self.inputs[min(index, len(self.inputs) - 1)]
        return parameter.annotation in (Array, Array | None)


RULES: dict[tuple[str, str], list[Rule]] = {}
"""All rules by (domain, operator), oldest first."""

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
