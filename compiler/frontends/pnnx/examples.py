"""Examples of what a torch module is called on, and which of their sizes are free.

Nothing here imports torch: tensors are those of the caller.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ....dialects.core.errors import CompileError
from ....dialects.core.sizes.symbols import Range
from .dynamic_shapes import (
    Axes,
    bindings,
    check_examples,
    differing_axes,
    other_shapes,
    read_dynamic_shapes,
)

if TYPE_CHECKING:
    from ..torch.torch_types import TorchModule, TorchTensor


@dataclass(frozen=True)
class Examples:
    """Hold what a module is called on: `first`, and `second` where sizes are free.

    `free` are the free axes of each tensor in them, in order, `ranges` the ranges of free sizes by
    the names that `shapes` has for them.
    """

    first: tuple[Any, ...]
    second: tuple[Any, ...] = ()
    free: Sequence[Axes] = ()
    ranges: Mapping[str, Range] = field(default_factory=dict[str, Range])

    @property
    def all(self) -> list[tuple[Any, ...]]:
        return [self.first, self.second] if self.second else [self.first]


def read_examples(
    module: "TorchModule",
    example_inputs: Any,
    dynamic_shapes: Any = None,
    example_inputs2: Any = None,
) -> Examples:
    """Return the examples of a module, and which of their sizes are free.

    `example_inputs` are what `forward` takes, in order: tensors, or lists and tuples of them. Free
    are the sizes that `dynamic_shapes` declares, as `torch.export` takes it, or those in which
    `example_inputs2` differ. Without them a second example is made of the first one, which is
    repeated along free axes. Raises CompileError for what does not fit.
    """
    first = _arguments(example_inputs)
    shapes = shapes_of(first)
    second = () if example_inputs2 is None else _arguments(example_inputs2)
    if second and not _alike(first, second):
        raise CompileError("example_inputs2 must have the types and ranks of example_inputs")
    if dynamic_shapes is None:
        free = differing_axes(shapes, shapes_of(second)) if second else []
        return Examples(first, second, free) if any(free) else Examples(first)
    free = read_dynamic_shapes(dynamic_shapes, _by_name(module, first))
    ranges = bindings(free)
    if second:
        check_examples(free, shapes, shapes_of(second))
        return Examples(first, second, free, ranges)
    others = other_shapes(free, shapes)
    if others == shapes:
        return Examples(first)
    wanted = iter(others)
    second = _mapped(first, lambda each: _repeated(each, next(wanted)))
    return Examples(first, second, free, ranges)


def _arguments(example_inputs: Any) -> tuple[Any, ...]:
    """Return a tensor that is given alone as the only argument."""
    return (example_inputs,) if hasattr(example_inputs, "dtype") else tuple(example_inputs)


def _by_name(module: "TorchModule", inputs: tuple[Any, ...]) -> dict[str, Any]:
    """Return arguments by the names that `forward` has for them."""
    try:
        bound = inspect.signature(module.forward).bind(*inputs)
    except TypeError as error:
        raise CompileError(f"example_inputs do not fit the module: {error}") from None
    return dict(bound.arguments)


def shapes_of(inputs: Any) -> list[tuple[int, ...]]:
    """Return the shapes of tensors, in order; what is no tensor, tracing refuses."""
    return [tuple(getattr(each, "shape", ())) for each in tensors_of(inputs)]


def _alike(first: Any, second: Any) -> bool:
    """Return whether two examples have as many tensors, of equal types and ranks."""
    kinds = [[(each.dtype, each.dim()) for each in tensors_of(x)] for x in (first, second)]
    return kinds[0] == kinds[1]


def _mapped(inputs: Any, change: "Callable[[TorchTensor], TorchTensor]") -> Any:
    """Return inputs with other tensors in the same lists and tuples."""
    if isinstance(inputs, (list, tuple)):
        made = [_mapped(each, change) for each in cast("list[Any]", inputs)]
        return made if isinstance(inputs, list) else tuple(made)
    return change(inputs)


def _repeated(tensor: "TorchTensor", shape: Sequence[int]) -> "TorchTensor":
    """Return a tensor of another shape, with the elements of this one over and over again."""
    tensor = tensor.repeat([-(-n // max(d, 1)) for n, d in zip(shape, tensor.shape, strict=True)])
    for axis, size in enumerate(shape):
        tensor = tensor.narrow(axis, 0, size)
    return tensor.clone()


def tensors_of(inputs: Any) -> "Iterator[TorchTensor]":
    if isinstance(inputs, (list, tuple)):
        for each in cast("list[Any]", inputs):
            yield from tensors_of(each)
    else:
        yield inputs
