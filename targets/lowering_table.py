"""`LoweringTable`: the lowerings and the limits of one target, registered by decorator."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeVar

from ..dialects.core.errors import Undecided
from ..dialects.core.op import Op
from .element_types import ROWS, ElementTypes

Function = TypeVar("Function")
Predicate = Callable[[Any], bool]
Types = ElementTypes | Sequence[ElementTypes] | None
"""What a lowering declares: once, for each overload, or as the table says."""


class LoweringTable:
    """Map op classes to their lowerings, their element types and the limits of a target.

    A lowering declares the element types and layouts of its operands and results, or has those of
    `types`. Fields without a layout of their own have the one of the table. Several declarations of
    one lowering are overloads: each has types that no other has.

    The docstring of a limit completes the sentence "it …" in the refusal that a user reads and in
    the support table of the docs.
    """

    def __init__(self, name: str, types: ElementTypes | None = None, layout: str = ROWS) -> None:
        self.name = name
        self.types = None if types is None else replace(types, others=layout)
        self._layout = layout
        self.lowerings: dict[type[Op], Any] = {}
        self.declared: dict[type[Op], tuple[ElementTypes, ...]] = {}
        self.limits: dict[type[Op], list[Predicate]] = {}

    def lowers(self, *classes: type[Op], types: Types = None) -> Callable[[Function], Function]:
        """Register the decorated function as the lowering of ops on elements of some types.

        Raises TypeError where nobody declares types, where a declaration names a field that an op
        lacks, where two of one op overlap, and where an op has a lowering already: which of the two
        runs it would be ambiguous.
        """

        def register(function: Function) -> Function:
            for cls in classes:
                if cls in self.lowerings:
                    raise TypeError(f"target {self.name} lowers {cls.op_name} twice")
                declared = self._declared(types)
                if not declared:
                    raise TypeError(f"target {self.name} declares no types for {cls.op_name}")
                _check(cls, declared)
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
        faults = [each.undeclared(op) for each in self.declared[type(op)]]
        return None if None in faults else f"has no kernels of {op.op_name} on {faults[0]}"

    def _declared(self, types: Types) -> tuple[ElementTypes, ...]:
        declared = types or self.types or ()
        every = (declared,) if isinstance(declared, ElementTypes) else declared
        return tuple(replace(each, others=self._layout) for each in every)

    def broken_limit(self, op: Op) -> str | None:
        """Return the text of the first limit that an op breaks, or None.

        An op breaks a limit, too, if the sizes of a run decide whether it does.
        """
        try:
            broken = (limit for limit in self.limits.get(type(op), []) if not limit(op))
            return next(map(limit_text, broken), None)
        except Undecided as reason:
            return str(reason)


def _check(cls: type[Op], declared: Sequence[ElementTypes]) -> None:
    """Raise TypeError for a declaration that does not fit an op, and for two that overlap."""
    for each in declared:
        each.check(cls)
    names = [each.name for each in (*cls.fields.operands, *cls.fields.results)]
    for first, second in combinations(declared, 2):
        if first.overlaps(second, names):
            raise TypeError(f"{cls.op_name} declares two kernels for the same types and layouts")


def limit_text(predicate: Predicate) -> str:
    """Return the first line of a predicate's docstring as the rest of the sentence "it …"."""
    text = (predicate.__doc__ or predicate.__name__).strip().partition("\n")[0].rstrip(".")
    return text[0].lower() + text[1:]
