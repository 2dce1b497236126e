"""Bind the sizes of a model's inputs: what the model declares, and what the user gives."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from ....dialects.core.errors import CompileError, Diagnostic, Unsupported
from ....dialects.core.tensor import Array, Bindings, Tensor, dtype_of
from .inputs import Axis, Input, Sizes, spell_shape

MODEL = "the model"


def input_types(
    inputs: Sequence[Input], shapes: Bindings, constants: Mapping[str, Array]
) -> dict[str, Tensor]:
    """Return the static type of each input, those bound to a value included.

    An axis that nothing binds takes the size that its symbol has on other axes. Raises CompileError
    that lists all sizes left unbound, all bindings that contradict one another or the model, all
    inputs of types that Trivium does not have, and all bindings that fit no input.
    """
    faults = list(_unknown(inputs, shapes, constants))
    bound: list[_Bound] = []
    for declared in inputs:
        try:
            bound.append(_bind(declared, shapes, constants.get(declared.name)))
        except CompileError as error:
            faults += error.diagnostics
    _share_symbols(bound)
    faults += _unbound([each for each in bound if not each.is_static])
    if faults:
        raise CompileError(faults)
    return {
        each.input.name: Tensor(tuple(cast("list[int]", each.sizes)), each.input.dtype)
        for each in bound
    }


@dataclass(frozen=True)
class _Bound:
    """Hold the size found for each axis of an input, None where there is none."""

    input: Input
    axes: tuple[Axis, ...] = ()
    sizes: list[int | None] = field(default_factory=list[int | None])
    has_rank: bool = True

    @property
    def is_static(self) -> bool:
        return self.has_rank and None not in self.sizes

    @property
    def unbound(self) -> list[Axis]:
        return [axis for axis, size in zip(self.axes, self.sizes, strict=True) if size is None]

    def __str__(self) -> str:
        pairs = zip(self.axes, self.sizes, strict=True)
        return spell_shape([axis if size is None else size for axis, size in pairs])


def _bind(declared: Input, shapes: Bindings, constant: Array | None) -> _Bound:
    """Bind one input by itself; raise CompileError where sizes or types contradict."""
    if declared.fault:
        raise _fault(declared.name, declared.fault)
    if constant is not None and _dtype(declared, constant) != declared.dtype:
        message = f"is bound to a value of type {constant.dtype}, must be {declared.dtype}"
        raise _fault(declared.name, message)
    given = _given_shapes(declared, shapes, constant)
    if not given:
        return _Bound(declared, has_rank=False)
    if len({len(shape) for shape in given.values()}) > 1:
        listed = (f"{spell_shape(shape)} by {origin}" for origin, shape in given.items())
        raise _fault(declared.name, f"has shape {', '.join(listed)}: must have one rank")
    axes = declared.axes_of(next(iter(given.values())))
    sizes = [
        _agreed(
            axis,
            {origin: shape[axis.number] for origin, shape in given.items()}
            | {f"shapes['{name}']": _size(shapes, name) for name in axis.names},
        )
        for axis in axes
    ]
    return _Bound(declared, axes, sizes)


def _dtype(declared: Input, constant: Array) -> str:
    try:
        return dtype_of(constant.dtype)
    except Unsupported as error:
        raise _fault(declared.name, f"is bound to a value: {error}") from None


def _given_shapes(declared: Input, shapes: Bindings, constant: Array | None) -> dict[str, Sizes]:
    """Return the whole shapes that an input is given, by who gives them."""
    given: dict[str, Sizes] = {} if declared.shape is None else {MODEL: declared.shape}
    if (whole := shapes.get(declared.name)) is not None:
        sizes = (whole,) if isinstance(whole, int) else tuple(whole)
        given[f"shapes['{declared.name}']"] = sizes
    if constant is not None:
        given[f"constants['{declared.name}']"] = constant.shape
    return given


def _size(shapes: Bindings, name: str) -> int | None:
    size = shapes.get(name)
    if size is None or isinstance(size, int):
        return size
    raise CompileError([Diagnostic(name, f"dimension is bound to {list(size)}, must be a size")])


def _agreed(axis: Axis, given: Mapping[str, int | str | None]) -> int | None:
    """Return the one size that an axis is given; raise CompileError for two that differ."""
    sizes = {origin: size for origin, size in given.items() if isinstance(size, int)}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{size} by {origin}" for origin, size in sizes.items())
        raise _fault(axis.input, f"has axis {axis.number} of size {listed}: must be one size")
    return next(iter(sizes.values()), None)


def _share_symbols(bound: Sequence[_Bound]) -> None:
    """Give axes without a size that of their symbol elsewhere, where all of those are equal."""
    found: dict[str, set[int]] = {}
    for each in bound:
        for axis, size in zip(each.axes, each.sizes, strict=True):
            if axis.symbol and size is not None:
                found.setdefault(axis.symbol, set()).add(size)
    for each in bound:
        for axis in each.unbound:
            if len(sizes := found.get(axis.symbol, set[int]())) == 1:
                (each.sizes[axis.number],) = sizes


# -- faults ---------------------------------------------------------------------------------------


def _unbound(bound: Sequence[_Bound]) -> list[Diagnostic]:
    """List the inputs that are not static; the last one has notes on all of their sizes."""
    faults = [
        Diagnostic(
            each.input.name,
            f"input has {f'shape {each}' if each.has_rank else 'no shape'}, must be static",
            needs=(each.input.name,),
        )
        for each in bound
    ]
    if not faults:
        return []
    axes: dict[str, list[Axis]] = {}
    for axis in (axis for each in bound for axis in each.unbound):
        axes.setdefault(axis.symbol or axis.name, []).append(axis)
    names = [*axes, *(each.input.name for each in bound if not each.has_rank)]
    named = ((axis, found) for axis, found in axes.items() if found[0].symbol)
    notes = [f"{name} is {_spell_axes(found)}" for name, found in named]
    python = ", ".join(f"'{name}': …" for name in names)
    command = " ".join(f"--shape {name}=…" for name in names)
    notes.append(f"bind {'it' if len(names) == 1 else 'them'}: shapes={{{python}}}, or {command}")
    *others, last = faults
    return [*others, Diagnostic(last.where, last.message, tuple(notes), last.needs)]


def _spell_axes(axes: Sequence[Axis]) -> str:
    return ", ".join(f"axis {axis.number} of '{axis.input}'" for axis in axes)


def _unknown(
    inputs: Sequence[Input], shapes: Bindings, constants: Mapping[str, Array]
) -> Iterator[Diagnostic]:
    """Find the names that are bound but that the model does not have."""
    names = [declared.name for declared in inputs]
    axes = [axis for declared in inputs for axis in declared.axes]
    symbols = [axis.names[-1] for axis in axes if not isinstance(axis.size, int)]
    for what, bound, listed, known in (
        ("input or dimension", shapes, [*names, *dict.fromkeys(symbols)], [a.name for a in axes]),
        ("input", constants, names, []),
    ):
        for name in sorted({*bound} - {*listed, *known}):
            close = difflib.get_close_matches(name, listed, 1)
            hint = f"did you mean '{close[0]}'" if close else f"it has: {', '.join(listed)}"
            yield Diagnostic("", f"the model has no {what} '{name}', {hint}")


def _fault(name: str, message: str) -> CompileError:
    return CompileError([Diagnostic(name, f"input {message}")])
