"""The types of what a loop carries, whose sizes may change from iteration to iteration."""

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias, TypeVar

from .....dialects import tri
from .....dialects.core.errors import Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.sizes.limits import bounds
from .....dialects.core.tensor import Tensor
from ...core.bodies import Bodies
from ...core.values import tensor
from ..registry import Node

T = TypeVar("T")

Build: TypeAlias = Callable[[Bodies, Sequence[Tensor]], tuple[Sequence[ir.Value], T]]
"""Builds a body that carries values of some types; returns what it carries on, and more."""


class CarriedTypes:
    """Find the types that a body takes, given those of the first iteration.

    A size that the body returns otherwise changes: it is a symbol, of which the body is imported
    once more, until it returns what it takes. Such a size is at least what it is at first, unless
    the body may return less.
    """

    def __init__(self, node: Node, initial: Sequence[Tensor]) -> None:
        self._node = node
        self._initial = initial
        self._least: dict[tuple[int, int], int] = {}  # of the axes that change
        self._taken: dict[tuple[int, int], Size] = {}

    @property
    def sizes(self) -> tuple[Size, ...]:
        """List the symbols of sizes that change, as the body knows them."""
        return tuple(self._taken.values())

    def build_body(self, build: Build[T]) -> tuple[Bodies, T]:
        """Build the body for the types that it takes; `build` also returns what it carries on."""
        while True:
            bodies = Bodies(self._node.graphs.main, tri.Loop.op_name, 1)
            with self._node.graphs.draft() as draft:
                taken, self._taken = self._with_new_sizes()
                made, built = build(bodies, taken)
                if not self._widen(taken, list(map(tensor, made))):
                    return bodies, built
                bodies.drop()
                draft.undo()

    def leave_out(self, numbers: Collection[int]) -> None:
        """Forget values that are not carried after all; others are numbered anew."""
        left_out = [size for (n, _), size in self._taken.items() if n in numbers]
        self._node.graphs.main.forget_symbols(left_out)
        kept = [number for number in range(len(self._initial)) if number not in numbers]
        self._initial = [self._initial[number] for number in kept]
        self._least = {
            (kept.index(n), axis): v for (n, axis), v in self._least.items() if n in kept
        }
        self._taken = {
            (kept.index(n), axis): v for (n, axis), v in self._taken.items() if n in kept
        }

    def results(self) -> tuple[list[Tensor], tuple[Size, ...]]:
        """Return the types of what is carried last, and their sizes that are found."""
        types, found = self._with_new_sizes()
        return types, tuple(found.values())

    def _with_new_sizes(self) -> tuple[list[Tensor], dict[tuple[int, int], Size]]:
        """Return the types with a new symbol for each size that changes."""
        new = {place: self._node.found.new(None, least) for place, least in self._least.items()}
        types = [
            Tensor(
                tuple(new.get((index, axis), size) for axis, size in enumerate(each.shape)),
                each.dtype,
            )
            for index, each in enumerate(self._initial)
        ]
        return types, new

    def _widen(self, taken: Sequence[Tensor], made: Sequence[Tensor]) -> bool:
        """Note which sizes change; return whether there are any that were not known."""
        before = dict(self._least)
        for index, (one, other) in enumerate(zip(taken, made, strict=True)):
            if (one.dtype, one.rank) != (other.dtype, other.rank):
                raise Unsupported(
                    f"carries {one} into an iteration and {other} into the next one (value "
                    f"{index}), must be of one rank and element type where iterations are decided "
                    "at run time"
                )
            for axis, (size, next_) in enumerate(zip(one.shape, other.shape, strict=True)):
                place = index, axis
                if place not in self._least and size != next_:
                    self._least[place] = bounds(self._initial[index].shape[axis])[0] or 0
                elif place in self._least and (bounds(next_)[0] or 0) < self._least[place]:
                    self._least[place] = 0
        return self._least != before
