"""Ops with sizes that are known when they have run: the elements of their operands decide them.

Such a size is a field of the op. A symbol there is defined by the op: types and attributes below it
may depend on the symbol. An int there is a size that the elements must have.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast

from .errors import Invalid
from .op import NO_SIZES, Op
from .sizes.atoms import Size, is_symbolic, single_symbol
from .sizes.binding import replaced, symbols_in
from .sizes.symbols import Symbol

Self = TypeVar("Self", bound="DataDependentOp")


class DataDependentOp(Op, abstract=True):
    """Base of ops that find out sizes when they run.

    `found_sizes` names the fields that hold these sizes. A subclass says, for all of them in order,
    what they are at most (`most`), and what they are in a run (`find`).
    """

    found_sizes: ClassVar[tuple[str, ...]]

    def most(self, *operands: Any, **named: Any) -> tuple[Size | None, ...]:
        """Return a size that each is at most, from the types of operands; None for no limit."""
        raise NotImplementedError

    def find(self, operands: Sequence[Any], results: Sequence[Any]) -> tuple[int, ...]:
        """Return the sizes of a run, from the arrays of operand fields and results."""
        raise NotImplementedError

    @property
    def found(self) -> tuple[Size, ...]:
        """List the sizes of all fields that `found_sizes` names."""
        return tuple(size for name in self.found_sizes for size in _listed(getattr(self, name)))

    @property
    def defined(self) -> tuple[Symbol, ...]:
        """List the symbols that the op defines."""
        return tuple(each for size in self.found if (each := single_symbol(size)) is not None)

    @property
    def defined_inside(self) -> tuple[Symbol, ...]:
        """List the symbols that its bodies know, each time that one runs: those of its arguments.

        What the op defines is known below it, what is defined in a body in that body alone.
        """
        return ()

    def enter(self, number: int, inputs: Sequence[Any]) -> dict[str, int]:
        """Return the sizes of these symbols when a body, by its number, runs on some arrays."""
        return {}

    @property
    def symbols_used(self) -> frozenset[str]:
        """Return the names of the symbols on which attributes depend that the op does not define.

        They are known before it runs.
        """
        used = (value for name, value in self.attributes.items() if name not in self.found_sizes)
        return frozenset(name for value in used for name in symbols_in(value))

    def at(self: Self, sizes: Mapping[str, Size]) -> Self:
        values = {
            name: value if name in self.found_sizes else replaced(value, sizes)
            for name, value in self.attributes.items()
        }
        return type(self)(**values)

    def infer_results(self, groups: Sequence[Any]) -> tuple[Any, ...]:
        for size in self.found:
            if is_symbolic(size) and single_symbol(size) is None:
                raise Invalid(f"finds size {size}, must be one symbol")
            if size < 0:
                raise Invalid(f"finds size {size}, must be at least 0")
        return super().infer_results(groups)

    def evaluate(self, groups: Sequence[Any], sizes: Mapping[str, int] = NO_SIZES) -> Any:
        made = super().evaluate(groups, sizes)
        self.define(groups, _listed(made), sizes)
        return made

    def define(
        self, operands: Sequence[Any], results: Sequence[Any], sizes: Mapping[str, int]
    ) -> dict[str, int]:
        """Return the sizes of the symbols that the op defines, in a run with sizes of others.

        Raises Invalid for a size other than declared.
        """
        found = self.at(sizes).find(operands, results)
        made: dict[str, int] = {}
        for size, value in zip(self.found, found, strict=True):
            symbol = single_symbol(size)
            if symbol is None and size != value:
                raise Invalid(f"finds size {value}, must be {size}")
            if symbol is not None:
                if fault := symbol.range.fault(value):
                    raise Invalid(f"finds {value} for size {symbol}, must be {fault}")
                made[symbol.name] = value
        return made


def _listed(value: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
