"""`LoweringTable`: the lowerings and the limits of one target, registered by decorator."""

from collections.abc import Callable
from typing import Any, TypeVar

from ..dialects.core.errors import Undecided
from ..dialects.core.op import Op

Function = TypeVar("Function")
Predicate = Callable[[Any], bool]


class LoweringTable:
    """Map op classes to their lowerings and to the limits on what a target accepts.

    The docstring of a limit completes the sentence "it …" in the refusal that a user reads and in
    the support table of the docs.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.lowerings: dict[type[Op], Any] = {}
        self.limits: dict[type[Op], list[Predicate]] = {}

    def lowers(self, *classes: type[Op]) -> Callable[[Function], Function]:
        """Register the decorated function as the lowering of ops."""

        def register(function: Function) -> Function:
            for cls in classes:
                if cls in self.lowerings:
                    raise TypeError(f"target {self.name} lowers {cls.op_name} twice")
                self.lowerings[cls] = function
            return function

        return register

    def accepts(self, *classes: type[Op]) -> Callable[[Predicate], Predicate]:
        """Register the decorated predicate as a limit on ops."""

        def register(predicate: Predicate) -> Predicate:
            for cls in classes:
                self.limits.setdefault(cls, []).append(predicate)
            return predicate

        return register

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
