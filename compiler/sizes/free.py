"""Refuse modules whose sizes are free, where static ones are needed."""

from collections.abc import Sequence

from ...dialects.core.attributes import tensor_of
from ...dialects.core.data_dependent import DataDependentOp
from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.location import describe
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, declared, ops, sources
from ...dialects.core.sizes.binding import symbols_in
from ...dialects.core.symbol_table import symbols_of_function
from ...dialects.core.tensor import Shape
from ...targets.core import Target


def check_targets(module: Module, targets: Sequence[Target], advises_exact: bool = False) -> None:
    """Raise CompileError for a module with symbols and a target that needs to know all sizes.

    With `advises_exact`, the error tells that a package may have programs for several sizes.
    """
    for target in targets:
        if not target.takes_symbols:
            reason = f"target '{target.name}' compiles models of exact sizes"
            need_static(module, reason, advises_exact)
        if not target.takes_found_sizes:
            _need_no_found_sizes(module, f"target '{target.name}' needs all sizes before a run")


def need_static(module: Module, reason: str = "", advises_exact: bool = False) -> None:
    """Raise CompileError with the inputs of symbolic sizes, and how to bind these.

    `reason` is what needs static sizes, where that is not clear. With `advises_exact`, programs for
    several sets of sizes are another way. Where no input has symbolic sizes, the error has the ops
    that find sizes when the model runs.
    """
    inputs = _inputs(module)
    free = {name: shape for name, shape in inputs.items() if symbols_in(shape)}
    if not free:
        _need_no_found_sizes(module, reason)
        return
    faults = [
        Diagnostic(
            name, f"input has shape {'x'.join(map(str, shape))}, must be static", (), (name,)
        )
        for name, shape in free.items()
    ]
    symbols = list(symbols_of_function(module.main))
    notes = [reason] if reason else []
    notes += [f"{symbol} is {_places(symbol, free)}" for symbol in symbols]
    python = ", ".join(f"'{symbol}': …" for symbol in symbols)
    command = " ".join(f"--shape {symbol}=…" for symbol in symbols)
    which = "it" if len(symbols) == 1 else "them"
    notes.append(f"bind {which}: shapes={{{python}}}, or {command}")
    if advises_exact:
        sizes = ",".join(f"{symbol}=…" for symbol in symbols)
        notes.append(
            f"or name all sizes that it runs at: exact=[{{{python}}}, …], or --exact {sizes}"
        )
    last = faults.pop()
    raise CompileError([*faults, Diagnostic(last.where, last.message, tuple(notes), last.needs)])


def _need_no_found_sizes(module: Module, reason: str) -> None:
    """Raise CompileError with the ops that find sizes, and the inputs on which these depend."""
    arguments = module.main_block.arguments
    names: dict[ir.Value, str] = dict(zip(arguments, _inputs(module), strict=True))
    faults: list[Diagnostic] = []
    for op in ops(module.operation):
        if not isinstance(op, DataDependentOp) or not op.defined:
            continue
        found_of = sources(op.operation.operands, names)
        listed = ", ".join(found_of) or "none"
        message = f"'{op.op_name}' op finds a size, which depends on inputs: {listed}"
        notes = [reason] if reason else []
        notes += [f"fix it when compiling: constants={{'{name}': …}}" for name in found_of[:1]]
        faults.append(Diagnostic(describe(op.location), message, tuple(notes), found_of))
    if faults:
        raise CompileError(faults)


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
