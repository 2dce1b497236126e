"""Examples of ops with symbols in place of sizes, in operand types and in attributes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from examples import Example
from trivium.dialects import cpu, tri
from trivium.dialects.core.op import Op
from trivium.dialects.core.sizes.atoms import Size
from trivium.dialects.core.sizes.dim import symbol
from trivium.dialects.core.sizes.substitution import evaluate
from trivium.dialects.core.sizes.symbols import ANY, Range
from trivium.dialects.core.tensor import Shape, Tensor

SIZES: dict[type[Op], tuple[str, ...]] = {
    tri.Reshape: ("shape",),
    tri.Expand: ("shape",),
    tri.Slice: ("sizes", "starts"),
    tri.Split: ("sizes",),
    tri.Tile: ("repeats",),
    tri.Pad: ("pads",),
    tri.Resize: ("sizes",),
    tri.TopK: ("k",),
    tri.OneHot: ("depth",),
    tri.Dft: ("length",),
    tri.RoiAlign: ("sizes",),
    tri.MaxRoiPool: ("sizes",),
    cpu.BlockedConvTranspose: ("sizes",),
    cpu.BlockedWinogradConv: ("sizes",),
}
"""The attributes that hold sizes, in which symbols may stand."""

FROM_ZERO = Range(low=0)


@dataclass(frozen=True)
class Symbolic:
    """Hold operand types and attributes with symbols, and the sizes that these stand for."""

    types: list[Any]
    attributes: dict[str, Any]
    sizes: dict[str, int]

    @property
    def ranges(self) -> dict[str, Range]:
        return {name: FROM_ZERO if name.startswith("Z") else ANY for name in self.sizes}


class _Names:
    """Give sizes symbols: one for each value, or one for each axis that has it."""

    def __init__(self, replaced: Callable[[int], bool], for_each_axis: bool) -> None:
        self.sizes: dict[str, int] = {}
        self._replaced = replaced
        self._for_each_axis = for_each_axis

    def size(self, value: int) -> Size:
        if value < 0 or not self._replaced(value):
            return value
        number = len(self.sizes) if self._for_each_axis else value
        name = f"S{number}" if value else f"Z{number}"
        self.sizes[name] = value
        return symbol(name, ANY if value else FROM_ZERO)

    def shape(self, shape: Shape) -> Shape:
        return tuple(map(self.size, shape))

    def type(self, group: Any) -> Any:
        if group is None:
            return None
        if isinstance(group, list):
            return [self.type(each) for each in group]
        return Tensor(self.shape(group.shape), group.dtype)

    def attribute(self, value: Any) -> Any:
        return self.shape(value) if isinstance(value, tuple) else self.size(value)


def same_symbol(op: type[Op], example: Example, values: Callable[[int], bool]) -> Symbolic:
    """Put a symbol for each of some sizes, wherever they are, in attributes too."""
    names = _Names(values, for_each_axis=False)
    types = [names.type(each) for each in example.types]
    listed = SIZES.get(op, ())
    attributes = {
        name: names.attribute(value) if name in listed else value
        for name, value in example.attributes.items()
    }
    return Symbolic(types, attributes, names.sizes)


def own_symbols(example: Example, values: Callable[[int], bool]) -> Symbolic:
    """Put a symbol of its own for each axis of all operands; attributes are static."""
    names = _Names(values, for_each_axis=True)
    return Symbolic([names.type(each) for each in example.types], example.attributes, names.sizes)


def symbolic_forms(op: type[Op], example: Example) -> list[Symbolic]:
    """Return the ways to put symbols in an example: for one size, for all, for each axis.

    An axis of size 1 may broadcast, so that its size is not replaced.
    """
    flat = [t for group in example.types for t in (group if isinstance(group, list) else [group])]
    shapes = [t.shape for t in flat if t is not None]
    values = sorted({size for shape in shapes for size in shape if size != 1})
    every = [same_symbol(op, example, lambda size, value=value: size == value) for value in values]
    if len(values) > 1:
        every.append(same_symbol(op, example, lambda size: size != 1))
    return [*every, own_symbols(example, lambda size: size != 1)] if values else every


def other_sizes(form: Symbolic) -> list[dict[str, int]]:
    """Return sizes for symbols: all but one are those that they stand for."""
    others: list[dict[str, int]] = []
    for name, size in form.sizes.items():
        low = form.ranges[name].low
        near = {size + 1, size + 2, size - 1, size * 2, 0, 1} - {size}
        others += [{**form.sizes, name: each} for each in sorted(near) if each >= low]
    return others


def with_sizes(types: Any, sizes: Mapping[str, int]) -> Any:
    """Return types, or lists and tuples of them, with sizes in place of symbols."""
    if types is None:
        return None
    if isinstance(types, Tensor):
        return Tensor(tuple(evaluate(size, sizes) for size in types.shape), types.dtype)
    return type(types)(with_sizes(each, sizes) for each in types)
