"""Print loops and branches. What they carry is in variables that each trip assigns."""

import math
from collections.abc import Mapping, Sequence

from ....dialects.core.mlir import ir
from ..kernels.index import ROLLED
from .print_calls import print_assembly
from .print_conversions import CONVERSIONS
from .print_memory import MEMORY
from .print_numbers import NUMBERS
from .print_vectors import VECTORS
from .printer import Print, Printer, is_mask, words

UNROLLED = 64
"""The most ops of the body of a loop that carries values, of which two trips are one."""

FEW_TRIPS = 3
"""Compilers make straight code of so few trips, even where their loads do not fit in registers."""


def _for(printer: Printer, op: ir.Operation) -> None:
    low, high, step, *initial = op.operands
    block = op.regions[0].blocks[0]
    index, *carried = block.arguments
    for result, argument, first in zip(op.results, carried, initial, strict=True):
        printer.declare(result, "c", _given(printer, first, result))
        printer.bind(argument, *printer.pieces(result))
    name = printer.new_name("j")
    printer.bind(index, name)
    bounds = [printer.name(each) for each in (low, high, step)]
    if initial and printer.loads_ahead and _trips(bounds) <= FEW_TRIPS:
        printer.emit("UNROLL_NEVER")
    elif initial and _is_unrolled(op, block):
        printer.emit("UNROLL_TWICE")
    printer.emit(f"for (i64 {name} = {bounds[0]}; {name} < {bounds[1]}; {name} += {bounds[2]}) {{")
    _body(printer, block, op.results)
    printer.emit("}")


def _trips(bounds: Sequence[str]) -> float:
    """Return how many trips a loop makes, infinitely many if its bounds are no numbers."""
    if not all(bound.isdecimal() for bound in bounds):
        return math.inf
    return len(range(*map(int, bounds)))


def _is_unrolled(loop: ir.Operation, block: ir.Block) -> bool:
    """Return whether a loop is worth unrolling: one inside of which there is none, and short."""
    if ROLLED in loop.attributes:
        return False
    body = [each.operation for each in block.operations]
    return len(body) <= UNROLLED and not any(len(each.regions) for each in body)


def _given(printer: Printer, value: ir.Value, result: ir.Value) -> list[str]:
    """Return a value as what a variable for a result holds: masks get its width."""
    vectors = printer.vectors(result)
    return printer.mask(value, vectors) if is_mask(result) else [*printer.pieces(value)]


def _body(printer: Printer, block: ir.Block, results: Sequence[ir.Value]) -> None:
    printer.indent(1)
    for each in block.operations:
        op = each.operation
        if op.name == "scf.yield":
            _assign(printer, results, op.operands)
        else:
            printer.print_op(op)
    printer.indent(-1)


def _assign(printer: Printer, results: Sequence[ir.Value], values: Sequence[ir.Value]) -> None:
    """Assign all results at once: what another one is assigned before is copied first."""
    moves: list[tuple[str, str, str]] = []
    for result, value in zip(results, values, strict=True):
        given = _given(printer, value, result)
        types = printer.type_names(result)
        moves += zip(printer.pieces(result), given, types, strict=True)
    moves = [move for move in moves if move[0] != move[1]]
    changed = {target for target, _, _ in moves}
    fresh: list[tuple[str, str]] = []
    for target, given, type_ in moves:
        if changed & {*words(given)}:
            given = printer.variable(type_, given)
        fresh.append((target, given))
    for target, given in fresh:
        printer.emit(f"{target} = {given};")


def _if(printer: Printer, op: ir.Operation) -> None:
    for result in op.results:
        printer.declare(result, "c")
    printer.emit(f"if ({printer.name(op.operands[0])}) {{")
    _body(printer, op.regions[0].blocks[0], op.results)
    others = [*op.regions[1].blocks]
    if others and len([*others[0].operations]) > (0 if op.results else 1):
        printer.emit("} else {")
        _body(printer, others[0], op.results)
    printer.emit("}")


def _while(printer: Printer, op: ir.Operation) -> None:
    """Print a loop that tests first; what the test passes on is assigned before the body."""
    test, body = (region.blocks[0] for region in op.regions)
    for argument, first in zip(test.arguments, op.operands, strict=True):
        printer.declare(argument, "c", _given(printer, first, argument))
    for result, argument in zip(op.results, body.arguments, strict=True):
        printer.declare(result, "c", _zeros(printer, result))
        printer.bind(argument, *printer.pieces(result))
    printer.emit("for (;;) {")
    printer.indent(1)
    for each in test.operations:
        inner = each.operation
        if inner.name == "scf.condition":
            _assign(printer, op.results, [*inner.operands][1:])
            printer.emit(f"if (!({printer.name(inner.operands[0])})) break;")
        else:
            printer.print_op(inner)
    printer.indent(-1)
    _body(printer, body, test.arguments)
    printer.emit("}")


def _zeros(printer: Printer, value: ir.Value) -> list[str]:
    names = printer.type_names(value)
    vectors = printer.vectors(value)
    return [f"({n}){{0}}" if v.lanes > 1 else "0" for n, v in zip(names, vectors, strict=True)]


def _nothing(printer: Printer, op: ir.Operation) -> None:
    """Print nothing: a function returns at its end."""


TABLE: Mapping[str, Print] = {
    **NUMBERS,
    **CONVERSIONS,
    **MEMORY,
    **VECTORS,
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "func.return": _nothing,
    "llvm.inline_asm": print_assembly,
}
"""All ops that kernels consist of, and how they are printed."""
