"""Sizes that a model is known to run with, against the checks of its module."""

from collections.abc import Sequence

from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import CompileError, Diagnostic, Invalid
from .....dialects.core.module import Module, declared
from .....dialects.core.sizes.binding import bind_symbols, verify_checks
from .....dialects.core.sizes.dim import symbols_of
from .....dialects.core.symbol_table import checks_of
from .....dialects.core.tensor import Shape


def check_sizes(module: Module, shapes: Sequence[Shape]) -> None:
    """Raise CompileError that lists the checks which fail for the shapes of inputs.

    Shapes that the module does not take, for its sizes were bound to others, are not looked at, nor
    are checks of sizes that a run finds.
    """
    types = [tensor_of(argument.type).shape for argument in module.main_block.arguments]
    if len(types) != len(shapes):
        return
    taken = [type_[: len(shape)] for type_, shape in zip(types, shapes, strict=True)]
    try:
        sizes = bind_symbols(declared(module.main, "inputs", len(types)), taken, shapes)
    except Invalid:
        return
    faults: list[Diagnostic] = []
    for check in checks_of(module.main):
        if not symbols_of(check.expression).keys() <= sizes.keys():
            continue
        try:
            verify_checks([check], sizes)
        except Invalid as error:
            faults.append(Diagnostic(check.node, str(error).removeprefix(f"{check.node}: ")))
    if faults:
        raise CompileError(faults)
