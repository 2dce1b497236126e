"""Where symbols are known: the inputs of a function give them, or an op that ran before does."""

from collections.abc import Iterator
from typing import NamedTuple

from .attributes import tensor_of
from .data_dependent import DataDependentOp
from .mlir import ir
from .op import Op, view
from .sizes.dim import symbols_of
from .symbol_table import SYMBOLS, checks_of


class Misplaced(NamedTuple):
    """Hold an op that uses a symbol where it is not known, or defines one again, and say so."""

    operation: ir.Operation
    fault: str


def misplaced(function: ir.Operation) -> list[Misplaced]:
    """Return what breaks the rules for symbols in a function, whose ops are valid.

    The sizes of its inputs give symbols, and so does an op whose elements decide sizes, to all that
    is below it. Each symbol is defined once.
    """
    if SYMBOLS not in function.attributes or not len(function.regions[0].blocks):
        return []
    block = function.regions[0].blocks[0]
    known = {name for argument in block.arguments for name in _symbols(argument)}
    found = list(_visit(block, known))
    anywhere = known | set(_made_in(function))
    for check in checks_of(function):
        if unknown := sorted(symbols_of(check.expression).keys() - anywhere):
            found.append(Misplaced(function, f"checks size '{unknown[0]}', which nothing defines"))
    return found


def _visit(block: ir.Block, known: set[str]) -> Iterator[Misplaced]:
    """Check the ops of a block in order, and add the symbols that they define to the known ones."""
    for operation in block.operations:
        op = view(operation)
        if op is not None:
            yield from _visit_op(op, known)


def _visit_op(op: Op, known: set[str]) -> Iterator[Misplaced]:
    for name in sorted(symbols_needed(op) - known):
        yield Misplaced(op.operation, f"depends on size '{name}', which nothing above it defines")
    for region in op.operation.regions:
        for block in region.blocks:
            yield from _visit(block, _known_inside(op, known))
    for name in _own_symbols(op):
        if name in known:
            yield Misplaced(op.operation, f"defines size '{name}', which is defined above")
        known.add(name)


def _known_inside(op: Op, known: set[str]) -> set[str]:
    """Return the symbols that bodies of an op know at first.

    What decides whether a body runs hides what is defined there.
    """
    if isinstance(op, DataDependentOp):
        return known | {symbol.name for symbol in op.defined_inside}
    return known


def symbols_needed(op: Op) -> frozenset[str]:
    """Return the names of the symbols that must be known when an op runs, not those in regions."""
    used = op.symbols_used if isinstance(op, DataDependentOp) else op.symbols
    made = frozenset(name for value in op.results for name in _symbols(value))
    return used | made.difference(symbols_defined(op))


def symbols_defined(op: Op) -> frozenset[str]:
    """Return the names of the symbols that are known when an op has run, and not before."""
    if isinstance(op, DataDependentOp):
        return frozenset(_own_symbols(op))
    inside = _inner_ops(op.operation)
    return frozenset(name for inner in inside for name in symbols_defined(inner))


def _own_symbols(op: Op) -> list[str]:
    return [symbol.name for symbol in op.defined] if isinstance(op, DataDependentOp) else []


def _made_in(operation: ir.Operation) -> Iterator[str]:
    """Yield the symbols that ops inside of an operation define, below them or in their bodies."""
    for op in _inner_ops(operation):
        if isinstance(op, DataDependentOp):
            yield from (symbol.name for symbol in (*op.defined, *op.defined_inside))
        yield from _made_in(op.operation)


def _inner_ops(operation: ir.Operation) -> list[Op]:
    blocks = [block for region in operation.regions for block in region.blocks]
    return [inner for block in blocks for each in block.operations if (inner := view(each))]


def _symbols(value: ir.Value) -> frozenset[str]:
    if isinstance(value.type, ir.RankedTensorType):
        return tensor_of(value.type).symbols
    return frozenset()
