"""Refuse modules whose sizes are free, where static ones are needed."""

from ..dialects.core.attributes import tensor_of
from ..dialects.core.errors import CompileError, Diagnostic
from ..dialects.core.module import Module, declared
from ..dialects.core.sizes.binding import symbols_in
from ..dialects.core.symbol_table import symbols_of_function
from ..dialects.core.tensor import Shape


def need_static(module: Module) -> None:
    """Raise CompileError with the inputs of symbolic sizes, and how to bind these."""
    inputs = _inputs(module)
    free = {name: shape for name, shape in inputs.items() if symbols_in(shape)}
    if not free:
        return
    faults = [
        Diagnostic(
            name, f"input has shape {'x'.join(map(str, shape))}, must be static", (), (name,)
        )
        for name, shape in free.items()
    ]
    symbols = list(symbols_of_function(module.main))
    notes = [f"{symbol} is {_places(symbol, free)}" for symbol in symbols]
    python = ", ".join(f"'{symbol}': …" for symbol in symbols)
    command = " ".join(f"--shape {symbol}=…" for symbol in symbols)
    which = "it" if len(symbols) == 1 else "them"
    notes.append(f"bind {which}: shapes={{{python}}}, or {command}")
    last = faults.pop()
    raise CompileError([*faults, Diagnostic(last.where, last.message, tuple(notes), last.needs)])


def _inputs(module: Module) -> dict[str, Shape]:
    arguments = module.main_block.arguments
    names = declared(module.main, "inputs", len(arguments))
    shapes = [tensor_of(value.type).shape for value in arguments]
    return dict(zip(names, shapes, strict=True))


def _places(symbol: str, inputs: dict[str, Shape]) -> str:
    return ", ".join(
        f"axis {axis} of '{name}'"
        for name, shape in inputs.items()
        for axis, size in enumerate(shape)
        if str(size) == symbol
    )
