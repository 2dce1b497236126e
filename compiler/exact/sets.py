"""Check the sets of sizes that a user names for exact programs."""

from collections.abc import Iterator, Mapping, Sequence

from ...dialects.core.data_dependent import DataDependentOp
from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.location import describe
from ...dialects.core.module import Module, ops
from ...dialects.core.sizes.atoms import is_symbolic
from ...dialects.core.sizes.dim import symbol
from ...dialects.core.sizes.symbols import Range
from ...dialects.core.symbol_table import symbols_of_function

Sizes = Mapping[str, int]


def checked_sets(module: Module, sets: Sequence[Sizes]) -> tuple[Sizes, ...]:
    """Return the sets in the order of the symbols; raise CompileError that lists all faults."""
    ranges = symbols_of_function(module.main)
    ranges = {name: range for name, range in ranges.items() if is_symbolic(symbol(name, range))}
    if not ranges:
        message = "exact has sizes of symbols, the model has none: leave it out"
        raise CompileError([Diagnostic("", message)])
    found = [op for op in ops(module.operation) if isinstance(op, DataDependentOp) and op.defined]
    faults = [
        Diagnostic(
            describe(op.location),
            f"'{op.op_name}' op finds a size, with exact all sizes must be those of inputs",
        )
        for op in found
    ]
    if faults:
        raise CompileError(faults)
    for number, sizes in enumerate(sets):
        earlier = list(sets[:number])
        if sizes in earlier:
            faults.append(_fault(f"exact[{number}] is exact[{earlier.index(sizes)}] again"))
        faults += map(_fault, _faults(f"exact[{number}]", sizes, ranges))
    if faults:
        raise CompileError(faults)
    return tuple({name: sizes[name] for name in ranges} for sizes in sets)


def _faults(where: str, sizes: Sizes, ranges: Mapping[str, Range]) -> Iterator[str]:
    listed = ", ".join(ranges)
    for name in sizes:
        if name not in ranges:
            yield f"{where} has '{name}', which is no symbol of the model: it has {listed}"
    if missing := [name for name in ranges if name not in sizes]:
        yield f"{where} lacks {', '.join(missing)}, must have a size for each of {listed}"
    for name, range in ranges.items():
        if name in sizes and (fault := range.fault(sizes[name])):
            yield f"{where} has {name}={sizes[name]}, must be {fault}"


def _fault(message: str) -> Diagnostic:
    return Diagnostic("", message)
