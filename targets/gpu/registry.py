"""The lowering table of the GPU target, the kinds of lowerings, and the decorators for both."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ...dialects.core.op import Op
from ..lowering_table import LoweringTable

Function = TypeVar("Function", bound=Callable[..., Any])
Kind = Literal["elementwise", "indexed", "template"]

TABLE = LoweringTable("gpu")

accepts = TABLE.accepts
"""Register the decorated predicate as a limit on ops."""


@dataclass(frozen=True)
class Lowering:
    """The function that emits the kernel of an op, and the kind of that function.

    - `elementwise`: `f(op, *values) -> Value`; fuses into any kernel.
    - `indexed`: `f(op, *buffers)` returns, for each result, a `Buffer` that views the operand in
      the result's shape, or a function from the index along each dimension to a `Value`; the
      framework adds the grid.
    - `template`: `f(op, kernel, *buffers, *epilogues)` adds its own grid and passes tiles of its
      results to one `Epilogue` per result.
    """

    kind: Kind
    function: Callable[..., Any]


def _register(kind: Kind, classes: tuple[type[Op], ...]) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        TABLE.lowers(*classes)(Lowering(kind, function))
        return function

    return register


def elementwise(*classes: type[Op]) -> Callable[[Function], Function]:
    """Register a lowering that computes one element from the elements at the same index."""
    return _register("elementwise", classes)


def indexed(*classes: type[Op]) -> Callable[[Function], Function]:
    """Register a lowering that maps the indices of a result to elements of the operands."""
    return _register("indexed", classes)


def template(*classes: type[Op]) -> Callable[[Function], Function]:
    """Register a lowering that adds its own grid."""
    return _register("template", classes)


def lowering_of(op: Op) -> Lowering:
    """Return the lowering of an op that the target accepts."""
    lowering: Lowering = TABLE.lowerings[type(op)]
    return lowering


def is_elementwise(op: Op) -> bool:
    """Return whether the lowering of an op fuses into any kernel."""
    return lowering_of(op).kind == "elementwise"
