"""The inputs of a model as it declares them, and how their sizes are spelled and named."""

from collections.abc import Sequence
from dataclasses import dataclass

Sizes = tuple[int | str | None, ...]

ANONYMOUS = "?"
"""Exporters write this for each size without a name: two of them need not be the same size."""


@dataclass(frozen=True)
class Axis:
    """Describe one axis of an input; its size is a number, the name of a symbol, or None."""

    input: str
    number: int
    size: int | str | None
    label: str = ""
    """The name that the user gives to the size."""

    @property
    def name(self) -> str:
        """The name by which this axis alone can be bound."""
        return f"{self.input}.{self.number}"

    @property
    def symbol(self) -> str:
        """The symbol that is the same size wherever it occurs; empty where there is none."""
        declared = self.size if isinstance(self.size, str) and self.size != ANONYMOUS else ""
        return self.label or declared

    @property
    def key(self) -> str:
        """What axes of the same size have in common: the symbol, or else the name."""
        return self.symbol or self.name

    @property
    def names(self) -> tuple[str, ...]:
        """All names by which the size can be bound, apart from its identifier."""
        own = (self.size,) if isinstance(self.size, str) else ()
        return tuple(dict.fromkeys((self.name, *own, self.key)))

    def __str__(self) -> str:
        return ANONYMOUS if self.size is None else str(self.size)


@dataclass(frozen=True)
class Input:
    """Describe one input as the model declares it.

    A size is a number, the name of a symbol, or None for any; a shape of None has any rank.
    `fault`, if not empty, is the reason why the input cannot be imported: `is not a tensor`.
    """

    name: str
    dtype: str
    shape: Sizes | None
    fault: str = ""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the declared shape; none where the rank is unknown."""
        return self.axes_of(self.shape or ())

    def axes_of(self, shape: Sizes) -> tuple[Axis, ...]:
        """Return the axes that the input has with these sizes."""
        return tuple(Axis(self.name, number, size) for number, size in enumerate(shape))


def spell_shape(sizes: Sequence[object]) -> str:
    """Spell a shape as `2x3`, with `?` where a size is None."""
    return "x".join(ANONYMOUS if size is None else str(size) for size in sizes) or "scalar"
