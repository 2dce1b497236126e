"""The axes of a torch module's inputs whose sizes are free, as `torch.export` declares them.

    {"x": {0: Dim("N"), 1: 2 * Dim("T", max=256)}, "mask": (None, Dim.AUTO)}

Nothing here imports torch: dimensions are known by their attributes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.sizes.symbols import MOST, Range
from ....dialects.core.tensor import Shape

HINTS = ("AUTO", "DYNAMIC", "STATIC")
"""The names of the hints that stand for dimensions."""


@dataclass(frozen=True)
class FreeAxis:
    """Describe a size that may change: its name, or "", and what decides it, the root.

    `range` is that of the root, of which `size_of` makes the size: `2*T` has the root `T`.
    """

    name: str
    root: str
    range: Range
    size_of: Callable[[int], int] = lambda size: size

    @property
    def is_derived(self) -> bool:
        return bool(self.name) and self.name != self.root

    @property
    def offset(self) -> int:
        return self.size_of(0)

    @property
    def factor(self) -> int:
        return self.size_of(1) - self.size_of(0)

    def root_size(self, size: int) -> int | None:
        """Return the size of the root that makes a size; None where none does."""
        root, rest = divmod(size - self.offset, self.factor)
        return None if rest else root


Axes = Mapping[int, FreeAxis]
"""The free axes of one tensor, by their numbers."""


def read_dynamic_shapes(given: Any, arguments: Mapping[str, Any]) -> list[Axes]:
    """Return the free axes of each tensor among the arguments of a module, in order.

    `given` has something for each argument, by name or in order. Raises CompileError for what does
    not fit the arguments.
    """
    if isinstance(given, Mapping):
        by_name = cast("Mapping[Any, Any]", given)
        unknown = [str(name) for name in by_name if name not in arguments]
        if unknown:
            known = ", ".join(arguments)
            raise _fault("", f"has '{unknown[0]}', the module takes {known}")
        listed = [by_name.get(name) for name in arguments]
    elif isinstance(given, (tuple, list)):
        listed = list(cast("Sequence[Any]", given))
    else:
        raise _fault("", "is no dictionary and no tuple, must have shapes by argument")
    if len(listed) != len(arguments):
        raise _fault("", f"has {len(listed)} shapes, the module takes {len(arguments)} arguments")
    pairs = zip(arguments.items(), listed, strict=True)
    return [axes for (name, value), each in pairs for axes in _of_argument(name, each, value)]


def _of_argument(label: str, given: Any, value: Any) -> Iterator[Axes]:
    if not isinstance(value, (tuple, list)):
        yield _of_tensor(label, given, tuple(value.shape))
        return
    values = cast("Sequence[Any]", value)
    listed = [None] * len(values) if given is None else given
    if not isinstance(listed, (tuple, list)) or len(cast("Sequence[Any]", listed)) != len(values):
        raise _fault(label, f"is for {len(values)} tensors, must have a shape for each, or be None")
    for index, each in enumerate(cast("Sequence[Any]", listed)):
        yield from _of_argument(f"{label}[{index}]", each, values[index])


def _of_tensor(label: str, given: Any, shape: Shape) -> Axes:
    if given is None:
        return {}
    if isinstance(given, (tuple, list)):
        listed = cast("Sequence[Any]", given)
        if len(listed) != len(shape):
            raise _fault(label, f"has {len(listed)} sizes for a tensor of rank {len(shape)}")
        return _of_tensor(label, dict(enumerate(listed)), shape)
    if not isinstance(given, Mapping):
        raise _fault(label, "must be None, or have the dimensions of a tensor by axis")
    by_axis = cast("Mapping[Any, Any]", given)
    found: dict[int, FreeAxis] = {}
    for axis, dimension in by_axis.items():
        if not isinstance(axis, int) or not 0 <= axis < len(shape):
            raise _fault(label, f"names axis {axis} of a tensor of rank {len(shape)}")
        free = _free_axis(f"{label}[{axis}]", dimension, shape[axis])
        if free is not None:
            found[axis] = free
    return found


def _free_axis(label: str, dimension: Any, size: int) -> FreeAxis | None:
    """Return what is known of a free size, None for one that is fixed."""
    hint = getattr(getattr(dimension, "type", None), "name", "")
    if dimension is None or hint == "STATIC":
        return None
    if type(dimension) is int:
        if dimension != size:
            raise _fault(label, f"is {dimension}, the example has {size}")
        return None
    if hint in HINTS:
        return FreeAxis("", label, _range(label, dimension))
    name = getattr(dimension, "__name__", "")
    if not name or not hasattr(dimension, "max"):
        raise _fault(label, f"is {dimension!r}, must be a Dim of torch.export, a size or None")
    root = getattr(dimension, "root", None)
    if root is None:
        return FreeAxis(name, name, _range(label, dimension))
    derived = FreeAxis(name, root.__name__, _range(label, root), dimension.fn)
    if derived.factor < 1:
        raise _fault(label, f"is {name}, must grow with {derived.root}")
    return derived


def _range(label: str, dimension: Any) -> Range:
    """Return the range of a dimension; torch's least size, 0, is no wish for empty tensors."""
    low, high = (getattr(dimension, name, None) for name in ("min", "max"))
    most = high if isinstance(high, int) and high < MOST else None
    try:
        return Range(max(low, 1) if isinstance(low, int) else 1, most)
    except ValueError as error:
        raise _fault(label, str(error)) from None


def differing_axes(first: Sequence[Shape], second: Sequence[Shape]) -> list[Axes]:
    """Return the axes of which two examples have other sizes, free without a name."""
    return [
        {
            axis: FreeAxis("", f"in{index}.{axis}", Range())
            for axis, (size, other) in enumerate(zip(*shapes, strict=True))
            if size != other
        }
        for index, shapes in enumerate(zip(first, second, strict=True))
    ]


# -- sizes of the examples ------------------------------------------------------------------------


def root_sizes(free: Sequence[Axes], shapes: Sequence[Shape]) -> dict[str, int]:
    """Return the size of each root in an example; raise CompileError where it has none or two."""
    found: dict[str, int] = {}
    for index, (axes, shape) in enumerate(zip(free, shapes, strict=True)):
        for axis, each in axes.items():
            label, size = f"in{index}.{axis}", shape[axis]
            root = each.root_size(size)
            fault = each.name if root is None else each.range.fault(root)
            if root is None or fault:
                what = "" if root is None or not each.is_derived else f"so {each.root} is {root}, "
                raise CompileError([Diagnostic(label, f"has size {size}, {what}must be {fault}")])
            if found.setdefault(each.root, root) != root:
                both = f"{found[each.root]} and {root}"
                message = f"dimension has sizes {both} in the example, must have one"
                raise CompileError([Diagnostic(each.root, message)])
    return found


def other_shapes(free: Sequence[Axes], shapes: Sequence[Shape]) -> list[Shape]:
    """Return shapes in which each size is another one, where its range has another."""
    sizes = root_sizes(free, shapes)
    ranges = {each.root: each.range for axes in free for each in axes.values()}
    others = {root: _other(size, ranges[root]) for root, size in sizes.items()}
    return [
        tuple(
            axes[axis].size_of(others[axes[axis].root]) if axis in axes else size
            for axis, size in enumerate(shape)
        )
        for axes, shape in zip(free, shapes, strict=True)
    ]


def _other(size: int, range: Range) -> int:
    """Return twice a size, or else an end of its range, the farther first."""
    ends = (range.high or range.low, range.low)
    return next((o for o in (2 * size, *ends) if o != size and not range.fault(o)), size)


def check_examples(free: Sequence[Axes], first: Sequence[Shape], second: Sequence[Shape]) -> None:
    """Raise CompileError unless free sizes, and no others, differ between two examples."""
    one, two = root_sizes(free, first), root_sizes(free, second)
    for root, size in one.items():
        if two[root] == size:
            message = f"dimension has size {size} in both examples, must have another in each"
            raise CompileError([Diagnostic(root, message)])
    for index, (axes, *shapes) in enumerate(zip(free, first, second, strict=True)):
        for axis, (size, other) in enumerate(zip(*shapes, strict=True)):
            if axis not in axes and size != other:
                message = f"has sizes {size} and {other} in the examples, must be free, or have one"
                raise CompileError([Diagnostic(f"in{index}.{axis}", message)])


def bindings(free: Sequence[Axes]) -> dict[str, Range]:
    """Return the ranges of free sizes, by the names that `shapes` has for them.

    Raises CompileError for a size that depends on one that no axis has, unless it is a multiple.
    """
    named = {each.name for axes in free for each in axes.values() if not each.is_derived}
    found: dict[str, Range] = {}
    for index, axes in enumerate(free):
        for axis, each in axes.items():
            if each.is_derived and each.root in named:
                continue
            if each.offset:
                message = f"dimension depends on {each.root}, which must be that of an axis"
                raise CompileError([Diagnostic(each.name, message)])
            low, high, by = each.range.low, each.range.high, each.factor
            multiple = Range(low * by, None if high is None else high * by, step=by)
            if not each.name and multiple == Range():
                continue
            name = each.name or f"in{index}.{axis}"
            if found.setdefault(name, multiple) != multiple:
                message = f"dimension has ranges {found[name]} and {multiple}, must have one"
                raise CompileError([Diagnostic(name, message)])
    return found


def _fault(label: str, message: str) -> CompileError:
    return CompileError([Diagnostic("", f"dynamic_shapes{label and f' of {label}'} {message}")])
