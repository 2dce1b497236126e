"""The dialect object, and what its ops share: images, and descriptors as text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np

from .....dialects.core.errors import Invalid
from .....dialects.core.op import Dialect
from .....dialects.core.tensor import Array, Shape, Tensor
from .....dialects.dla.dialect import TensorOp
from ..format.network import Precision
from ..reference.arithmetic import Integers

NVDLA = Dialect("nvdla", target="nvdla")

ELEMENTS = ("i8", "f16")
"""The types of the elements of images in memory."""

D = TypeVar("D")
_PRECISIONS = {
    *("precision", "input_precision", "output_precision"),
    *("source_precision", "destination_precision"),
}


class EngineOp(TensorOp, dialect=NVDLA, abstract=True):
    """Base of ops that are an operation of an engine; each image is an operation of its own."""


class PlaceOp(TensorOp, dialect=NVDLA, abstract=True):
    """Base of ops that no engine runs: they say where in memory values are."""


def need_images(what: str, x: Tensor, *dtypes: str) -> Shape:
    """Return a shape [N, channels, rows, columns]; raise Invalid for another rank or type."""
    allowed = dtypes or ELEMENTS
    if x.dtype not in allowed or x.rank != 4 or not x.size:
        kinds = " or ".join(allowed)
        raise Invalid(f"{what} is {x}, must be of {kinds} with rank 4, and not empty")
    return x.shape


def each(compute: Callable[[Array], Array], batch: Array) -> Array:
    """Return the results of a function for each image of a batch; integers are made wide."""
    return np.stack([compute(as_computed(image)) for image in batch])


def as_computed(values: Array) -> Array:
    """Return numbers as references take them: integers of 64 bits, or floats as they are."""
    return values.astype(np.int64) if np.issubdtype(values.dtype, np.integer) else values


def as_stored(values: Array) -> Array:
    """Return results of references as images have them: i8, or f16 as they are."""
    return values if values.dtype == np.float16 else values.astype(np.int8)


def bits_of_half(values: Array) -> Integers:
    """Return operands as references take them: integers, or the bits of f16, which may be < 0."""
    return (values.view(np.int16) if values.dtype == np.float16 else values).astype(np.int64)


def precision_of(dtype: str | np.dtype[Any]) -> Precision:
    """Return how the hardware calls the type of images, or of the sums that are made of these."""
    is_half = dtype in ("f16", "f32") or np.dtype(np.float16) == dtype or dtype == np.float32
    return Precision.FP16 if is_half else Precision.INT8


def in_precision(descriptor: D, precision: Precision) -> D:
    """Return a descriptor whose source and destination have a precision."""
    names = {each.name for each in fields(descriptor)} & _PRECISIONS  # pyright: ignore[reportArgumentType]
    return cast(D, replace(cast(Any, descriptor), **dict.fromkeys(names, int(precision))))


def spell(descriptor: object) -> str:
    """Return the fields that do not have their defaults, as `kind=3 mul_converter.offset=8`."""
    return " ".join(_spelled(descriptor))


def _spelled(descriptor: Any) -> Iterator[str]:
    for field in fields(descriptor):
        value = getattr(descriptor, field.name)
        if is_dataclass(value):
            yield from (f"{field.name}.{each}" for each in _spelled(value))
        elif value != field.default:
            yield f"{field.name}={value}"


def parse(descriptor: D, text: str) -> D:
    """Return a descriptor with the fields that `spell` wrote; raise Invalid for other text."""
    known = dict(_known(descriptor))
    for word in text.split():
        name, _, number = word.partition("=")
        if name not in known:
            raise Invalid(f"has field '{name}', must be one of {', '.join(sorted(known))}")
        if not number.removeprefix("-").isdigit():
            raise Invalid(f"has '{word}', must be a field and a number, as in '{name}=1'")
        known[name] = int(number)
    return _with(descriptor, known)


def _known(descriptor: Any) -> Iterator[tuple[str, int]]:
    """Yield the fields that are numbers, those of a field's own by its name and a point."""
    for field in fields(descriptor):
        value = getattr(descriptor, field.name)
        if is_dataclass(value):
            yield from ((f"{field.name}.{name}", number) for name, number in _known(value))
        elif isinstance(value, int):
            yield field.name, value


def _with(descriptor: D, numbers: Mapping[str, int]) -> D:
    """Return a descriptor with other numbers."""
    given: dict[str, Any] = {name: n for name, n in numbers.items() if "." not in name}
    for field in fields(cast(Any, descriptor)):
        inner = f"{field.name}."
        own = {name.removeprefix(inner): n for name, n in numbers.items() if name.startswith(inner)}
        if own:
            given[field.name] = _with(getattr(descriptor, field.name), own)
    return cast(D, replace(cast(Any, descriptor), **given))


def window_sizes(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
) -> tuple[int, int]:
    """Return rows and columns of a result; raise Invalid if a window fits nowhere."""
    if min(*kernel, *strides, *dilations) < 1 or len(pads) != 4 or min(pads) < 0:
        raise Invalid("sizes, strides and dilations must be 1 or more, and pads 4 numbers from 0")
    out: list[int] = []
    for axis, name in enumerate(("rows", "columns")):
        padded = pads[axis] + sizes[axis] + pads[axis + 2]
        extent = (kernel[axis] - 1) * dilations[axis] + 1
        if extent > padded:
            raise Invalid(f"kernel spans {extent} {name}, the padded image has {padded}")
        out.append((padded - extent) // strides[axis] + 1)
    return out[0], out[1]
