"""`Target`: where ops run. It says what it accepts and how each op is lowered."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from ..dialects.core.op import Op
from ..passes.core import Pass
from .options import DEFAULT, Options

Function = TypeVar("Function")
Predicate = Callable[[Any], bool]


class Target:
    """Collect the lowerings and the limits of one place where ops can run.

    Both register by decorator on the target's own object, so that two targets live side by side
    and a test can make a third:

        @CPU.lowers(tri.Exp)
        def lower_exp(op, x): ...

        @CPU.accepts(tri.Conv)
        def at_most_three_spatial_dims(op):
            "convolves over at most 3 spatial dimensions"
            return len(op.strides) <= 3

    The docstring of a predicate completes the sentence "it …" in the refusal that a user reads
    and in the support table of the docs. `quantized` says that ops on quantised numbers come as
    they are; other targets get them as arithmetic.
    """

    quantized: ClassVar[bool] = False

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

    def passes(self, opt_level: int, options: Options = DEFAULT) -> tuple[Pass, ...]:
        """Return the passes that make target-free IR fit for placement here."""
        return ()

    def kernel_refusal(self, members: Sequence[Op]) -> str | None:
        """Say why ops that the target takes one by one do not make one kernel, or None."""
        return None

    def refusal(self, op: Op) -> str | None:
        """Say why the target does not take an op, or None when it does."""
        if type(op) not in self.lowerings:
            return f"{self.name} has no kernel for {op.op_name}"
        for predicate in self.limits.get(type(op), []):
            if not predicate(op):
                return f"{self.name} {limit_text(predicate)}"
        return None


def limit_text(predicate: Predicate) -> str:
    """Return the first line of a predicate's docstring as the rest of the sentence "it …"."""
    text = (predicate.__doc__ or predicate.__name__).strip().partition("\n")[0].rstrip(".")
    return text[0].lower() + text[1:]
