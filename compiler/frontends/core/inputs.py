"""What goes into a model: the static types of its inputs, and values that are bound to them."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.tensor import Array, Tensor, dtype_of

Bindings = Mapping[str, int | Sequence[int]]
"""Sizes for symbolic dimensions: by the dimension's name, or a whole shape by the input's name."""

Sizes = tuple[int | str | None, ...]


@dataclass(frozen=True)
class Input:
    """Describe one input as the model declares it.

    A size is a number, the name of a symbol, or None for any; a shape of None may be any at all.
    `fault`, if not empty, says why the input cannot be had: `is not a tensor`.
    """

    name: str
    dtype: str
    shape: Sizes | None
    fault: str = ""

    @property
    def sizes(self) -> tuple[int | str, ...]:
        """Return the declared sizes; one without a name is called `input.axis`."""
        declared = self.shape or ()
        return tuple(f"{self.name}.{i}" if d is None else d for i, d in enumerate(declared))


def input_types(
    inputs: Sequence[Input], shapes: Bindings, constants: Mapping[str, Array]
) -> dict[str, Tensor]:
    """Return the static type of each input, those bound to a value included.

    Raises CompileError that lists all dimensions left unbound, all inputs of types that Trivium
    does not have, and all bindings that fit no input.
    """
    faults = list(_unknown(inputs, shapes, constants))
    types: dict[str, Tensor] = {}
    for declared in inputs:
        try:
            types[declared.name] = _input_type(declared, shapes, constants.get(declared.name))
        except CompileError as error:
            faults += error.diagnostics
    if faults:
        raise CompileError(faults)
    return types


def _input_type(declared: Input, shapes: Bindings, constant: Array | None) -> Tensor:
    if declared.fault:
        raise CompileError([Diagnostic(declared.name, f"input {declared.fault}")])
    bound = {declared.name: constant.shape} if constant is not None else shapes
    shape = _bound_shape(declared, bound)
    if constant is not None and dtype_of(constant.dtype) != declared.dtype:
        message = f"input is bound to a value of type {constant.dtype}, must be {declared.dtype}"
        raise CompileError([Diagnostic(declared.name, message)])
    if unbound := [size for size in shape if isinstance(size, str)]:
        message = f"input has shape {_spell(shape)}, must be static"
        note = f"bind it: shapes={{'{unbound[0]}': …}}, or --shape {unbound[0]}=…"
        raise CompileError([Diagnostic(declared.name, message, (note,), (declared.name,))])
    return Tensor(tuple(size for size in shape if isinstance(size, int)), declared.dtype)


def _bound_shape(declared: Input, bindings: Bindings) -> tuple[int | str, ...]:
    """Return an input's shape, with bound symbols replaced by sizes; unbound ones stay names.

    A whole shape that is bound must have the rank that the model declares, and its sizes.
    """
    sizes = declared.sizes
    if declared.name not in bindings:
        return tuple(_size(bindings, d) if isinstance(d, str) else d for d in sizes)
    whole = bindings[declared.name]
    shape = (whole,) if isinstance(whole, int) else tuple(whole)
    pairs = zip(sizes, shape, strict=False)
    fits = len(sizes) == len(shape) and all(isinstance(d, str) or d == s for d, s in pairs)
    if declared.shape is not None and not fits:
        message = f"input is bound to shape {_spell(shape)}, the model declares {_spell(sizes)}"
        raise CompileError([Diagnostic(declared.name, message)])
    return shape


def _size(bindings: Bindings, symbol: str) -> int | str:
    size = bindings.get(symbol, symbol)
    if isinstance(size, (int, str)):
        return size
    raise CompileError([Diagnostic(symbol, f"dimension is bound to {list(size)}, must be a size")])


def _unknown(
    inputs: Sequence[Input], shapes: Bindings, constants: Mapping[str, Array]
) -> Iterator[Diagnostic]:
    """Find the names that are bound but that the model does not have."""
    names = [declared.name for declared in inputs]
    symbols = [d for declared in inputs for d in declared.sizes if isinstance(d, str)]
    for what, bound, known in (
        ("input or dimension", shapes, [*names, *symbols]),
        ("input", constants, names),
    ):
        for name in sorted(set(bound) - set(known)):
            close = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean '{close[0]}'" if close else f"it has: {', '.join(known)}"
            message = f"the model has no {what} '{name}', {hint}"
            yield Diagnostic("", message)


def _spell(shape: Sequence[int | str]) -> str:
    return "x".join(map(str, shape)) or "scalar"
