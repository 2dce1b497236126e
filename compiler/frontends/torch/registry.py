"""The table of torch's rules: one function per operator, whose signature is the operator's schema.

    @torch_op("nn.Softmax", "F.softmax")
    def softmax(input: Value, *, dim: int) -> tri.Softmax: …

- A parameter is bound to what the graph has under its name: an input with that slot name, a weight
  (`out_proj.bias` is `out_proj_bias`) or a parameter. Inputs without a slot name go to the
  positional parameters in order; `*xs` takes all that are left, `**weights` the weights left.
- The annotation says what the rule takes, any of several: `Value`, an IR value (a weight or a
  number becomes a constant); `Complex`, a tensor of complex numbers; `Array`, numbers that are
  known at compile time; `int`, `float`, `bool`, `str`, tuples and lists of them, which an input
  whose value is known may give as well; `Node`, the operator itself. A default makes a
  parameter optional, and None in the graph stands for the default.
- `MainFunction` makes large constants of arrays: `main.constant(name, array)`; `RandomNumbers`
  draws numbers in each run.
- What the signature lacks is an error, apart from IGNORED.
- The result is an op (all its results, in order), or a tuple of what each output is: an op of one
  result, a value, an array, a number, a Complex, or a list of these.

`Invalid` and `Unsupported` raised inside become messages that name line and operator.
"""

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType, NoneType, UnionType
from typing import Any, TypeVar

from ....dialects.core.mlir import ir
from ..core.main_function import MainFunction
from ..core.random_numbers import RandomNumbers
from .node import Node

Value = ir.Value
Number = bool | int | float | complex


@dataclass(frozen=True)
class Complex:
    """A tensor of complex numbers: the last axis of `parts` has the real and imaginary part."""

    parts: ir.Value


@dataclass(frozen=True)
class Slot:
    """One parameter of a rule: its name, the types that it accepts, and its default."""

    name: str
    takes: tuple[Any, ...]
    default: Any
    positional: bool

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True)
class Rule:
    """The translation of some types of operators.

    `rest` is the parameter that takes any number of inputs, `weights` the one that takes any
    number of weights, `operator` the one that receives the operator, `main` the function, `random`
    what draws numbers, `renamed` has parameters by the names in the schema of `aten` that differ.
    """

    function: Callable[..., Any]
    slots: dict[str, Slot]
    rest: Slot | None
    weights: Slot | None
    operator: str | None
    main: str | None
    random: str | None
    renamed: Mapping[str, str]

    def parameter(self, name: str) -> str:
        """Return the parameter that torch's schema calls by a name."""
        if name in self.renamed:
            return self.renamed[name]
        return "input" if name == "self" and "self" not in self.slots else name


RULES: dict[str, Rule] = {}
"""All rules by the type of operator."""

REFUSED: dict[str, str] = {}
"""The types of operators that are known and that Trivium will not take, and why."""

_OF_WEIGHTS = (
    *("in_channels", "out_channels", "in_features", "out_features", "num_features"),
    *("num_channels", "num_embeddings", "embedding_dim", "num_parameters", "input_size"),
    *("embed_dim", "kdim", "vdim", "affine", "elementwise_affine", "track_running_stats"),
)
_OF_TRAINING = (
    *("momentum", "dropout", "inplace", "requires_grad", "sparse", "scale_grad_by_freq"),
    "padding_idx",
)
_OF_SPEED = ("cudnn_enable", "cudnn_enabled", "implicit", "sparse_grad", "generator")
_OF_MEMORY = ("device", "layout", "memory_format", "pin_memory", "non_blocking", "copy")

IGNORED = frozenset((*_OF_WEIGHTS, *_OF_TRAINING, *_OF_MEMORY, *_OF_SPEED))
"""Parameters without influence on inference: those of weights, of training, of speed."""

NOTHING_RENAMED: Mapping[str, str] = MappingProxyType({})

Function = TypeVar("Function", bound=Callable[..., Any])


def torch_op(
    *types: str, renamed: Mapping[str, str] = NOTHING_RENAMED
) -> Callable[[Function], Function]:
    """Register the decorated function as the rule for types of operators.

    `renamed` has its parameters by the names that torch's schema of `aten` has for them.
    """

    def register(function: Function) -> Function:
        rule = _rule(function, renamed)
        for type_ in types:
            if type_ in RULES or type_ in REFUSED:
                raise TypeError(f"torch rule {type_} is defined twice")
            RULES[type_] = rule
        return function

    return register


def refuse(reason: str, *types: str) -> None:
    """Register types of operators that are refused by name, with the reason why."""
    REFUSED.update(dict.fromkeys(types, reason))


def _rule(function: Callable[..., Any], renamed: Mapping[str, str]) -> Rule:
    rest = weights = operator = main = random = None
    slots: dict[str, Slot] = {}
    for parameter in inspect.signature(function).parameters.values():
        positional = parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        slot = Slot(parameter.name, takes(parameter.annotation), parameter.default, positional)
        if _is_node(parameter.annotation):
            operator = parameter.name
        elif parameter.annotation is MainFunction:
            main = parameter.name
        elif parameter.annotation is RandomNumbers:
            random = parameter.name
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            rest = slot
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            weights = slot
        else:
            slots[parameter.name] = slot
    return Rule(function, slots, rest, weights, operator, main, random, renamed)


def _is_node(annotation: Any) -> bool:
    return inspect.isclass(annotation) and issubclass(annotation, Node)


def takes(annotation: Any) -> tuple[Any, ...]:
    """List what an annotation allows; None is a matter of the default."""
    if isinstance(annotation, UnionType) or typing.get_origin(annotation) is typing.Union:
        kinds = (kind for each in typing.get_args(annotation) for kind in takes(each))
        return tuple(kind for kind in kinds if kind is not NoneType)
    return (list,) if typing.get_origin(annotation) is list else (annotation,)
