"""Bind the sizes of a model's inputs: what the model declares, and what the user gives."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ....dialects.core.errors import CompileError, Diagnostic, Unsupported
from ....dialects.core.sizes.symbols import Range
from ....dialects.core.tensor import Array, Bindings, Tensor, dtype_of
from .inputs import Axis, Input, Sizes, spell_shape
from .symbols import Symbols, identifiers, labelled, labels

MODEL = "the model"


@dataclass(frozen=True)
class InputTypes:
    """Hold the type of each input, and the ranges of the symbols in them."""

    types: dict[str, Tensor]
    ranges: dict[str, Range]


def input_types(
    inputs: Sequence[Input], shapes: Bindings, constants: Mapping[str, Array]
) -> InputTypes:
    """Return the type of each input, those bound to a value included.

    An axis that nothing binds takes the size that its symbol has on other axes; if there is none,
    its size is a symbol. Raises CompileError that lists all inputs of unknown rank, all bindings
    that contradict one another or the model, all inputs of types that Trivium does not have, and
    all bindings that fit no input.
    """
    named = labels(inputs, shapes)
    faults: list[Diagnostic] = []
    ranked: list[_Bound] = []
    for declared in inputs:
        try:
            ranked.append(_ranked(declared, shapes, constants.get(declared.name), named))
        except CompileError as error:
            faults += error.diagnostics
    names = identifiers([axis for each in ranked for axis in each.axes])
    faults = [*_unknown(inputs, ranked, names, shapes, constants), *faults]
    bound: list[_Bound] = []
    for each in ranked:
        try:
            bound.append(_bind(each, shapes, names))
        except CompileError as error:
            faults += error.diagnostics
    found = _sizes_by_symbol(bound)
    _share_symbols(bound, found)
    faults += _without_rank([each.input.name for each in bound if not each.has_rank])
    if faults:
        raise CompileError(faults)
    return _types(bound, names, found)


@dataclass(frozen=True)
class _Bound:
    """Hold the size found for each axis of an input, None where there is none.

    `given` are whole shapes by who gives them, `ranges` the ranges by axis that the user gives.
    """

    input: Input
    given: Mapping[str, Sizes]
    axes: tuple[Axis, ...] = ()
    sizes: list[int | None] = field(default_factory=list[int | None])
    ranges: list[Range | None] = field(default_factory=list[Range | None])

    @property
    def has_rank(self) -> bool:
        return bool(self.given)

    @property
    def unbound(self) -> list[Axis]:
        return [axis for axis, size in zip(self.axes, self.sizes, strict=True) if size is None]


def _ranked(
    declared: Input, shapes: Bindings, constant: Array | None, named: Mapping[str, str]
) -> _Bound:
    """Find the axes of an input; raise CompileError where ranks or types contradict."""
    if declared.fault:
        raise _fault(declared.name, declared.fault)
    if constant is not None and _dtype(declared, constant) != declared.dtype:
        message = f"is bound to a value of type {constant.dtype}, must be {declared.dtype}"
        raise _fault(declared.name, message)
    given = _given_shapes(declared, shapes, constant)
    if not given:
        return _Bound(declared, {})
    if len({len(shape) for shape in given.values()}) > 1:
        listed = (f"{spell_shape(shape)} by {origin}" for origin, shape in given.items())
        raise _fault(declared.name, f"has shape {', '.join(listed)}: must have one rank")
    axes = declared.axes_of(next(iter(given.values())))
    return _Bound(declared, given, labelled(axes, named, shapes))


def _bind(ranked: _Bound, shapes: Bindings, names: Mapping[str, str]) -> _Bound:
    """Bind one input by itself; raise CompileError where sizes contradict."""
    bound = replace(ranked, sizes=[], ranges=[])
    for axis in ranked.axes:
        by_name = {name: _size(shapes, name) for name in (*axis.names, names.get(axis.key, ""))}
        given = {origin: shape[axis.number] for origin, shape in ranked.given.items()}
        given |= {f"shapes['{n}']": s for n, s in by_name.items() if isinstance(s, int)}
        ranges = [each for each in by_name.values() if isinstance(each, Range)]
        bound.sizes.append(_agreed(axis, given))
        bound.ranges.append(_range(axis, ranges, bound.sizes[-1]))
    return bound


def _range(axis: Axis, ranges: Sequence[Range], size: int | None) -> Range | None:
    """Return the one range that an axis is given; raise CompileError for a size out of it."""
    if len({*ranges}) > 1:
        listed = " and ".join(map(str, ranges))
        raise _fault(axis.input, f"has axis {axis.number} of ranges {listed}: must be one range")
    for each in ranges:
        if size is not None and (fault := each.fault(size)):
            raise _fault(axis.input, f"has axis {axis.number} of size {size}, must be {fault}")
    return next(iter(ranges), None)


def _types(
    bound: Sequence[_Bound], names: Mapping[str, str], found: Mapping[str, set[int]]
) -> InputTypes:
    """Make symbols of the axes that have no size."""
    symbols = Symbols(names)
    ranges = {
        axis.key: range
        for each in bound
        for axis, range in zip(each.axes, each.ranges, strict=True)
        if range is not None
    }
    for symbol, sizes in found.items():
        symbols.known(symbol, sizes)
    for each in bound:
        for axis in each.unbound:
            symbols.free(axis, len(each.axes), ranges.get(axis.key))
    types = {
        each.input.name: Tensor(
            tuple(
                symbols.size(axis) if size is None else size
                for axis, size in zip(each.axes, each.sizes, strict=True)
            ),
            each.input.dtype,
        )
        for each in bound
    }
    return InputTypes(types, symbols.ranges)


def _dtype(declared: Input, constant: Array) -> str:
    try:
        return dtype_of(constant.dtype)
    except Unsupported as error:
        raise _fault(declared.name, f"is bound to a value: {error}") from None


def _given_shapes(declared: Input, shapes: Bindings, constant: Array | None) -> dict[str, Sizes]:
    """Return the whole shapes that an input is given, by who gives them."""
    given: dict[str, Sizes] = {} if declared.shape is None else {MODEL: declared.shape}
    whole = shapes.get(declared.name)
    if whole is not None and not isinstance(whole, Range):
        sizes = (whole,) if isinstance(whole, int) else tuple(whole)
        given[f"shapes['{declared.name}']"] = sizes
    if constant is not None:
        given[f"constants['{declared.name}']"] = constant.shape
    return given


def _size(shapes: Bindings, name: str) -> int | Range | None:
    size = shapes.get(name)
    if size is None or isinstance(size, int | Range):
        return size
    raise CompileError([Diagnostic(name, f"dimension is bound to {list(size)}, must be a size")])


def _agreed(axis: Axis, given: Mapping[str, int | str | None]) -> int | None:
    """Return the one size that an axis is given; raise CompileError for two that differ."""
    sizes = {origin: size for origin, size in given.items() if isinstance(size, int)}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{size} by {origin}" for origin, size in sizes.items())
        raise _fault(axis.input, f"has axis {axis.number} of size {listed}: must be one size")
    return next(iter(sizes.values()), None)


def _sizes_by_symbol(bound: Sequence[_Bound]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for each in bound:
        for axis, size in zip(each.axes, each.sizes, strict=True):
            if axis.symbol and size is not None:
                found.setdefault(axis.symbol, set()).add(size)
    return found


def _share_symbols(bound: Sequence[_Bound], found: Mapping[str, set[int]]) -> None:
    """Give axes without a size that of their symbol elsewhere, where all of those are equal."""
    for each in bound:
        for axis in each.unbound:
            if len(sizes := found.get(axis.symbol, set[int]())) == 1:
                (each.sizes[axis.number],) = sizes


# -- faults ---------------------------------------------------------------------------------------


def _without_rank(names: Sequence[str]) -> list[Diagnostic]:
    """List the inputs of unknown rank; the last one has a note on how to give them shapes."""
    message = "input has no shape, must have a rank"
    faults = [Diagnostic(name, message, needs=(name,)) for name in names]
    if not faults:
        return []
    python = ", ".join(f"'{name}': (…)" for name in names)
    command = " ".join(f"--shape {name}=…" for name in names)
    note = f"bind {'it' if len(names) == 1 else 'them'}: shapes={{{python}}}, or {command}"
    *others, last = faults
    return [*others, replace(last, notes=(note,))]


def _unknown(
    inputs: Sequence[Input],
    ranked: Sequence[_Bound],
    named: Mapping[str, str],
    shapes: Bindings,
    constants: Mapping[str, Array],
) -> Iterator[Diagnostic]:
    """Find the names that are bound but that the model does not have."""
    names = [declared.name for declared in inputs]
    axes = [axis for declared in inputs for axis in declared.axes]
    axes += [axis for each in ranked for axis in each.axes]
    symbols = [axis.names[-1] for axis in axes if not isinstance(axis.size, int)]
    known = {*named.values(), *(name for axis in axes for name in axis.names)}
    for what, bound, listed, also in (
        ("input or dimension", shapes, [*names, *dict.fromkeys(symbols)], known),
        ("input", constants, names, set[str]()),
    ):
        for name in sorted({*bound} - {*listed} - also):
            close = difflib.get_close_matches(name, listed, 1)
            hint = f"did you mean '{close[0]}'" if close else f"it has: {', '.join(listed)}"
            yield Diagnostic("", f"the model has no {what} '{name}', {hint}")


def _fault(name: str, message: str) -> CompileError:
    return CompileError([Diagnostic(name, f"input {message}")])
