"""Print the body of a kernel: a line for each op, and loops with their bodies."""

from collections.abc import Sequence

from ....dialects import tile
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from .loop_names import starts_variable
from .print_memory import load, load_block, store, store_block
from .print_ops import EXPRESSIONS
from .printer import Printer
from .spelling import element, literal


def print_block(printer: Printer, block: ir.Block) -> None:
    """Print the lines of all ops of a block."""
    for op in tile.body_ops(block):
        _print(printer, op)


def _print(printer: Printer, op: Op) -> None:
    if op.terminator or isinstance(op, tile.View):
        return
    if isinstance(op, tile.BlockSize):
        printer.number(op.y, op.block)
    elif isinstance(op, tile.SizeOf):
        printer.spellings[op.y] = printer.size(op.size)
    elif isinstance(op, tile.Full) and not op.shape:
        dtype = printer.tile(op.y).dtype
        printer.number(op.y, literal(element(op.value, dtype), dtype))
    elif isinstance(op, tile.Expand) and printer.tile(op.x).shape:
        rank = len(printer.tile(op.x).shape)
        printer.spellings[op.y] = _expanded(printer.spellings[op.x], op.axis, rank)
    elif isinstance(op, tile.ProgramId) and printer.programs:
        printer.spellings[op.y] = printer.programs[op.axis]
    elif isinstance(op, tile.For):
        _print_loop(printer, op)
    elif isinstance(op, tile.Store):
        store(printer, op)
    elif isinstance(op, tile.StoreBlock):
        store_block(printer, op)
    else:
        printer.assign(op.results[0], _expression(printer, op), _default_name(printer, op))


def _expression(printer: Printer, op: Op) -> str:
    if isinstance(op, tile.Load):
        return load(printer, op)
    if isinstance(op, tile.LoadBlock):
        return load_block(printer, op)
    return EXPRESSIONS[type(op)](printer, op)


def _expanded(word: str, axis: int, rank: int) -> str:
    places = [":"] * rank
    places.insert(axis, "None")
    return f"{word}[{', '.join(places)}]"


def _print_loop(printer: Printer, op: tile.For) -> None:
    index, *arguments = op.block.arguments
    names: list[str] = []
    for argument, value, result in zip(arguments, op.carried, op.results, strict=True):
        if starts_variable(value, op) and printer.tile_spelling(value).isidentifier():
            printer.spellings[argument] = printer.spellings[value]
        else:
            printer.assign(argument, printer.tile_spelling(value), "carried")
        names.append(printer.spellings[argument])
        printer.spellings[result] = names[-1]
    bounds = printer.listed([op.lower, op.upper, op.step])
    stages = f", num_stages={op.stages}" if op.stages else ""
    name = printer.variable(index, "i")
    printer.emit(f"for {name} in {'tl.' if stages else ''}range({bounds}{stages}):")
    printer.loops.enter(op, names)
    printer.depth += 1
    before = len(printer.lines)
    print_block(printer, op.block)
    _next_turn(printer, names, [printer.tile_spelling(value) for value in op.end.operands])
    if len(printer.lines) == before:
        printer.emit("pass")
    printer.depth -= 1


def _next_turn(printer: Printer, names: Sequence[str], values: Sequence[str]) -> None:
    changes = [(name, value) for name, value in zip(names, values, strict=True) if name != value]
    if changes:
        left, right = zip(*changes, strict=True)
        printer.emit(f"{', '.join(left)} = {', '.join(right)}")


def _default_name(printer: Printer, op: Op) -> str:
    """Return the name of a value whose location has none."""
    if isinstance(op, (tile.Load, tile.LoadBlock)):
        return printer.hint(op.memory)
    if isinstance(op, (tile.Unary, tile.Binary)):
        return op.function
    if isinstance(op, tile.Reduce):
        return op.kind
    if isinstance(op, tile.Scan):
        return f"cum{op.kind}"
    if isinstance(op, tile.Cast) and printer.spelling(op.x).isidentifier():
        return f"{printer.spelling(op.x)}_{op.to}"
    if isinstance(op, tile.Arange):
        return f"{op.block.lower()}_range"
    return op.op_name.partition(".")[2]
