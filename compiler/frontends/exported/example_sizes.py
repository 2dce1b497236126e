"""Sizes of examples that torch would take for constants: 0 and 1 are special to it.

Nothing here imports torch: tensors and dimensions are those of the caller.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ..torch.torch_types import TorchModule, TorchTensor

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
"""The arguments of a call: those in order, and those by name."""


def varying_examples(module: "TorchModule", given: Arguments, dynamic_shapes: Any) -> Arguments:
    """Return arguments in which no free size is 1: those are twice as large.

    torch exports a program for 1 alone from an example of size 1. All sizes of one `Dim` change
    together. What fits neither the module nor its dimensions is returned as it is: torch refuses
    it.
    """
    try:
        bound = inspect.signature(module.forward).bind(*given[0], **given[1])
    except TypeError:
        return given
    shapes = dynamic_shapes
    if isinstance(shapes, (tuple, list)):
        shapes = dict(zip(bound.arguments, cast("Sequence[Any]", shapes), strict=False))
    single: set[object] = set()

    def note(tensor: "TorchTensor", axes: Mapping[int, Any]) -> "TorchTensor":
        single.update(
            _root(axes[i]) for i, size in enumerate(tensor.shape) if i in axes and size == 1
        )
        return tensor

    def double(tensor: "TorchTensor", axes: Mapping[int, Any]) -> "TorchTensor":
        grows = [
            axis in axes and _grows(axes[axis], size, single)
            for axis, size in enumerate(tensor.shape)
        ]
        return tensor.repeat([1 + grown for grown in grows]) if any(grows) else tensor

    _mapped(bound.arguments, shapes, note)
    bound.arguments.update(_mapped(bound.arguments, shapes, double))
    return bound.args, bound.kwargs


def _grows(dimension: Any, size: int, single: set[object]) -> bool:
    most = getattr(dimension, "max", None)
    if isinstance(most, int) and most < 2 * size:
        return False
    return size == 1 if _is_hint(dimension) else _root(dimension) in single


def _root(dimension: Any) -> object:
    """Return what decides a size: `2*T` has the root `T`; a hint is of one axis alone."""
    return None if _is_hint(dimension) else getattr(dimension, "root", dimension).__name__


def _is_hint(dimension: Any) -> bool:
    return not hasattr(dimension, "__name__")


def _mapped(
    example: Any,
    shapes: Any,
    change: "Callable[[TorchTensor, Mapping[int, Any]], TorchTensor]",
) -> Any:
    """Return an example with each tensor changed that has free axes."""
    if hasattr(example, "dtype"):
        axes = dict(_free_axes(shapes))
        return change(example, axes) if axes else example
    if isinstance(example, Mapping):
        by_key = cast("Mapping[Any, Any]", example)
        given = cast("Mapping[Any, Any]", shapes if isinstance(shapes, Mapping) else {})
        return {key: _mapped(each, given.get(key), change) for key, each in by_key.items()}
    if type(example) in (list, tuple) and isinstance(shapes, (list, tuple)):
        pairs = zip(example, cast("Sequence[Any]", shapes), strict=False)
        made = [_mapped(*pair, change) for pair in pairs]
        return type(example)([*made, *example[len(made) :]])
    return example


def _free_axes(shapes: Any) -> Iterator[tuple[int, Any]]:
    """Yield the axes that have a dimension which is not fixed."""
    listed: Any = ()
    if isinstance(shapes, Mapping):
        listed = cast("Mapping[Any, Any]", shapes).items()
    elif isinstance(shapes, (list, tuple)):
        listed = enumerate(cast("Sequence[Any]", shapes))
    for axis, dimension in listed:
        hint = getattr(getattr(dimension, "type", None), "name", "")
        is_free = hint in ("AUTO", "DYNAMIC") or hasattr(dimension, "__name__")
        if is_free and isinstance(axis, int):
            yield axis, dimension
