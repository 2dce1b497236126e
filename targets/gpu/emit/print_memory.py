"""Print loads and stores of the `tile` dialect in Triton's language."""

from ....dialects import tile
from ....dialects.core.errors import Unsupported
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.tensor import DTYPES
from .printer import Printer
from .spelling import literal

INT32_ELEMENTS = 2**31
"""From here on, 32 bits do not count the elements of a tensor."""


def load(printer: Printer, op: tile.Load) -> str:
    dtype = printer.memory(op.memory).dtype
    arguments = [_place(printer, op)]
    if inside := _inside(printer, op):
        pad = literal(op.pad, "i8" if dtype == "i1" else dtype)
        arguments += [f"mask={inside}", f"other={pad}"]
    text = f"tl.load({', '.join(arguments)})"
    return f"{text} != 0" if dtype == "i1" else text


def store(printer: Printer, op: tile.Store) -> None:
    dtype = printer.tile(op.value).dtype
    value = printer.tile_spelling(op.value)
    if dtype == "i1":
        value = f"{value}.to(tl.int8)"
    arguments = [_place(printer, op), value]
    if inside := _inside(printer, op):
        arguments.append(f"mask={inside}")
    if op.accumulate and DTYPES[dtype].bits < 32 and dtype not in ("f16", "bf16"):
        raise Unsupported(f"adds to {dtype} in memory, which Triton does not")
    function = "tl.atomic_add" if op.accumulate else "tl.store"
    arguments += ['sem="relaxed"'] if op.accumulate else []
    printer.emit(f"{function}({', '.join(arguments)})")


def load_block(printer: Printer, op: tile.LoadBlock) -> str:
    text = f"{printer.descriptor(op.memory, op.block)}.load([{printer.listed(op.offsets)}])"
    return f"{text} != 0" if printer.memory(op.memory).dtype == "i1" else text


def store_block(printer: Printer, op: tile.StoreBlock) -> None:
    block = [str(size) for size in printer.tile(op.value).shape]
    value = printer.tile_spelling(op.value)
    if printer.tile(op.value).dtype == "i1":
        value = f"{value}.to(tl.int8)"
    descriptor = printer.descriptor(op.memory, block)
    printer.emit(f"{descriptor}.store([{printer.listed(op.offsets)}], {value})")


def _place(printer: Printer, op: tile.Load | tile.Store) -> str:
    """Print the pointers to the elements at some indices."""
    memory = printer.memory(op.memory)
    for size in memory.shape:
        if at_least(INT32_ELEMENTS, size) is False:
            raise Unsupported(f"has a dimension of {size} elements, indices go to {INT32_ELEMENTS}")
    large = at_least(INT32_ELEMENTS - 1, memory.extent) is not True
    terms = [printer.pointer(op.memory)]
    for index, stride in zip(op.indices, memory.strides, strict=True):
        word = printer.spelling(index)
        if index in printer.numbers and word == "0":
            continue
        if large and index not in printer.numbers:
            word = f"tl.cast({word}, tl.int64)"
        terms.append(word if stride == 1 else f"{word} * {printer.size(stride)}")
    return " + ".join(terms)


def _inside(printer: Printer, op: tile.Load | tile.Store) -> str:
    """Print which of some indices are in bounds; "" when nothing is to be checked."""
    checks: list[str] = []
    sizes = printer.memory(op.memory).shape
    for dim, (index, size) in enumerate(zip(op.indices, sizes, strict=True)):
        word = printer.spelling(index)
        number = int(word) if index in printer.numbers and word.isdecimal() else None
        if number is not None and at_least(size, number + 1) is True:
            continue
        checks += [f"({word} >= 0)"] if dim in op.low else []
        checks += [f"({word} < {printer.size(size)})"] if dim in op.high else []
    return checks[0][1:-1] if len(checks) == 1 else " & ".join(checks)
