"""What goes into a model: the static types of its inputs, and values that are bound to them."""

import difflib
from collections.abc import Iterator, Mapping, Sequence

import onnx

from ....dialects.core.errors import CompileError, Diagnostic, Unsupported
from ....dialects.core.tensor import Array, Tensor, dtype_of
from .values import element_type

Bindings = Mapping[str, int | Sequence[int]]
"""Sizes for symbolic dimensions: by the dimension's name, or a whole shape by the input's name."""


def model_inputs(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """List the inputs that a caller gives, in order: those that no initializer gives."""
    given = {tensor.name for tensor in graph.initializer}
    given |= {tensor.values.name for tensor in graph.sparse_initializer}
    return [value for value in graph.input if value.name not in given]


def input_types(
    inputs: Sequence[onnx.ValueInfoProto], shapes: Bindings, constants: Mapping[str, Array]
) -> dict[str, Tensor]:
    """Return the static type of each input, those bound to a value included.

    Raises CompileError that lists all dimensions left unbound, all inputs of types that Trivium
    does not have, and all bindings that fit no input.
    """
    faults = list(_unknown(inputs, shapes, constants))
    types: dict[str, Tensor] = {}
    for value in inputs:
        try:
            types[value.name] = _input_type(value, shapes, constants.get(value.name))
        except CompileError as error:
            faults += error.diagnostics
        except Unsupported as error:
            faults.append(Diagnostic(value.name, f"input {error}"))
    if faults:
        raise CompileError(faults)
    return types


def _input_type(value: onnx.ValueInfoProto, shapes: Bindings, constant: Array | None) -> Tensor:
    if value.type.WhichOneof("value") != "tensor_type":
        raise CompileError([Diagnostic(value.name, "input is not a tensor")])
    dtype = element_type(value.type.tensor_type.elem_type)
    shape = _bound_shape(value, {value.name: constant.shape} if constant is not None else shapes)
    if constant is not None and dtype_of(constant.dtype) != dtype:
        message = f"input is bound to a value of type {constant.dtype}, must be {dtype}"
        raise CompileError([Diagnostic(value.name, message)])
    if unbound := [size for size in shape if isinstance(size, str)]:
        message = f"input has shape {_spell(shape)}, must be static"
        note = f"bind it: shapes={{'{unbound[0]}': …}}, or --shape {unbound[0]}=…"
        raise CompileError([Diagnostic(value.name, message, (note,), (value.name,))])
    return Tensor(tuple(size for size in shape if isinstance(size, int)), dtype)


def _bound_shape(value: onnx.ValueInfoProto, bindings: Bindings) -> tuple[int | str, ...]:
    """Return an input's shape, with bound symbols replaced by sizes; unbound ones stay names.

    A whole shape that is bound must have the rank that the model declares, and its sizes.
    """
    declared = _declared_shape(value)
    if value.name not in bindings:
        return tuple(_size(bindings, d) if isinstance(d, str) else d for d in declared)
    whole = bindings[value.name]
    shape = (whole,) if isinstance(whole, int) else tuple(whole)
    known = value.type.tensor_type.HasField("shape")
    pairs = zip(declared, shape, strict=False)
    fits = len(declared) == len(shape) and all(isinstance(d, str) or d == s for d, s in pairs)
    if known and not fits:
        message = f"input is bound to shape {_spell(shape)}, the model declares {_spell(declared)}"
        raise CompileError([Diagnostic(value.name, message)])
    return shape


def _declared_shape(value: onnx.ValueInfoProto) -> tuple[int | str, ...]:
    """Return the shape that the model declares; a size without a name is called `input.axis`."""
    return tuple(
        d.dim_value if d.WhichOneof("value") == "dim_value" else d.dim_param or f"{value.name}.{i}"
        for i, d in enumerate(value.type.tensor_type.shape.dim)
    )


def _size(bindings: Bindings, symbol: str) -> int | str:
    size = bindings.get(symbol, symbol)
    if isinstance(size, (int, str)):
        return size
    raise CompileError([Diagnostic(symbol, f"dimension is bound to {list(size)}, must be a size")])


def _unknown(
    inputs: Sequence[onnx.ValueInfoProto], shapes: Bindings, constants: Mapping[str, Array]
) -> Iterator[Diagnostic]:
    """Find the names that are bound but that the model does not have."""
    names = [value.name for value in inputs]
    symbols = [d for value in inputs for d in _declared_shape(value) if isinstance(d, str)]
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
