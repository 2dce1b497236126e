"""`LoweringTable`: the lowerings and the limits of one target, registered by decorator."""

from collections.abc import Callable
from typing import Any, TypeVar

from ..dialects.core.errors import Undecided
from ..dialects.core.op import Op
from .element_types import ElementTypes

Function = TypeVar("Function")
Predicate = Callable[[Any], bool]


class LoweringTable:
    """Map op classes to their lowerings, their element types and the limits of a target.

    A lowering declares the element types of its operands and results, or has those of `types`.

    The docstring of a limit completes the sentence "it …" in the refusal that a user reads and in
    the support table of the docs.
    """

    def __init__(self, name: str, types: ElementTypes | None = None) -> None:
        self.name = name
        self.types = types
        self.lowerings: dict[type[Op], Any] = {}
        self.declared: dict[type[Op], ElementTypes] = {}
        self.limits: dict[type[Op], list[Predicate]] = {}

    def lowers(
        self, *classes: type[Op], types: ElementTypes | None = None
    ) -> Callable[[Function], Function]:
        """Register the decorated function as the lowering of ops on elements of some types.

        Raises TypeError where nobody declares types, where a declaration names a field that an op
        lacks, and where an op has a lowering already: which of the two runs it would be ambiguous.
        """

        def register(function: Function) -> Function:
            for cls in classes:
                if cls in self.lowerings:
                    raise TypeError(f"target {self.name} lowers {cls.op_name} twice")
                declared = types or self.types
                if declared is None:
                    raise TypeError(f"target {self.name} declares no types for {cls.op_name}")
                declared.check(cls)
                self.lowerings[cls] = function
                self.declared[cls] = declared
            return function

        return register

    def accepts(self, *classes: type[Op]) -> Callable[[Predicate], Predicate]:
        """Register the decorated predicate as a limit on ops."""

        def register(predicate: Predicate) -> Predicate:
            for cls in classes:
                self.limits.setdefault(cls, []).append(predicate)
            return predicate

        return register

    def undeclared_type(self, op: Op) -> str | None:
        """Return which type of an op, which has a lowering, is not declared; None without one."""
        fault = self.declared[type(op)].undeclared(op)
        return None if fault is None else f"has no kernels of {op.op_name} on {fault}"

    def broken_limit(self, op: Op) -> str | None:
        """Return the text of the first limit that an op breaks, or None.

        An op breaks a limit, too, if the sizes of a run decide whether it does.
        """
        try:
            broken = (limit for limit in self.limits.get(type(op), []) if not limit(op))
            return next(map(limit_text, broken), None)
        except Undecided as reason:
            return str(reason)


def limit_text(predicate: Predicate) -> str:
    """Return the first line of a predicate's docstring as the rest of the sentence "it …"."""
    text = (predicate.__doc__ or predicate.__name__).strip().partition("\n")[0].rstrip(".")
    return text[0].lower() + text[1:]
