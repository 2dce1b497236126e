"""Types of what goes into bodies and comes out of them: sizes that are found may differ."""

from collections.abc import Collection, Iterable, Sequence

from ..core.attributes import tensor_of
from ..core.errors import Invalid
from ..core.mlir import ir
from ..core.sizes.atoms import Size, is_symbolic, single_symbol
from ..core.tensor import Array, Tensor

Sizes = Sequence[Size]


def tensors(values: Iterable[ir.Value]) -> list[Tensor]:
    """Return the types of values."""
    return [tensor_of(value.type) for value in values]


def check_types(
    what: str, has: Sequence[Tensor], wanted: str, must: Sequence[Tensor], open_: Sizes = ()
) -> None:
    """Raise Invalid unless tensors are what they must be.

    Where that is one of the `open_` sizes, any will do.
    """
    if len(has) != len(must) or not all(
        _fits(one, other, open_) for one, other in zip(has, must, strict=True)
    ):
        listed = (", ".join(map(str, each)) for each in (has, must))
        raise Invalid(f"{what} ({next(listed)}), {wanted} ({next(listed)})")


def _fits(has: Tensor, must: Tensor, open_: Sizes) -> bool:
    if (has.dtype, has.rank) != (must.dtype, must.rank):
        return False
    pairs = zip(has.shape, must.shape, strict=True)
    return has == must or all(one == other or other in open_ for one, other in pairs)


def with_found(made: Sequence[Tensor], results: Sequence[Tensor], found: Sizes) -> list[Tensor]:
    """Return the types of what is made, with the sizes of the results that are found."""
    opened: list[Tensor] = list(made)
    for index, (one, other) in enumerate(zip(made, results, strict=False)):
        if one.rank == other.rank:
            pairs = zip(one.shape, other.shape, strict=True)
            shape = tuple(new if new in found else old for old, new in pairs)
            opened[index] = Tensor(shape, one.dtype)
    return opened


def check_symbols(name: str, sizes: Sizes, types: Sequence[Tensor], what: str) -> None:
    """Raise Invalid unless each of some sizes is a symbol, and that of an axis of some types."""
    axes = {size for tensor in types for size in tensor.shape}
    for size in sizes:
        if is_symbolic(size) and single_symbol(size) is None:
            raise Invalid(f"has size {size} in '{name}', must be one symbol")
        if size not in axes:
            raise Invalid(f"has size {size} in '{name}', which no axis of {what} has")
    if len({*sizes}) != len(sizes):
        raise Invalid(f"has a size in '{name}' twice")


def sizes_found(
    wanted: Collection[Size], types: Sequence[Tensor], arrays: Sequence[Array]
) -> dict[str, int]:
    """Return the sizes of symbols from the shapes of arrays of some types.

    Raises Invalid where two axes that are one symbol differ, and for a size out of its range.
    """
    found: dict[str, int] = {}
    for tensor, array in zip(types, arrays, strict=True):
        for size, value in zip(tensor.shape, array.shape, strict=True):
            symbol = single_symbol(size) if size in wanted else None
            if symbol is None:
                continue
            if found.setdefault(symbol.name, value) != value:
                raise Invalid(f"finds {found[symbol.name]} and {value} for size {symbol}")
            if fault := symbol.range.fault(value):
                raise Invalid(f"finds {value} for size {symbol}, must be {fault}")
    return found
