"""How each op of the `tile` dialect is written in Triton's language."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ....dialects import tile
from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import DTYPES, is_float
from ....dialects.tile.types import Size
from .loop_names import starts_variable
from .spelling import element, language_type, literal

if TYPE_CHECKING:
    from .printer import Printer

INT32_ELEMENTS = 2**31
"""From here on, 32 bits do not count the elements of a tensor."""

SIGNS: Mapping[str, str] = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "quotient": "//",
    "remainder": "%",
    "and": "&",
    "or": "|",
    "xor": "^",
    "shift_left": "<<",
    "shift_right": ">>",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
"""Functions of two numbers that are operators. On tiles, `//` rounds toward zero."""

PRODUCT = "_product"
HELPERS: Mapping[str, str] = {
    PRODUCT: f"@triton.jit\ndef {PRODUCT}(a, b):\n    return a * b\n",
}
"""Functions that kernels call, by name."""

STRICT: Mapping[str, str] = {"div": "tl.div_rn", "sqrt": "tl.sqrt_rn"}
"""What rounds f32 to the nearest number; the others are off by a unit or two in the last place."""


# -- constants and places -------------------------------------------------------------------------


def _arange(printer: Printer, op: tile.Arange) -> str:
    return f"tl.arange(0, {op.block})"


def _program_id(printer: Printer, op: tile.ProgramId) -> str:
    return f"tl.program_id({op.axis})"


def _full(printer: Printer, op: tile.Full) -> str:
    dtype = printer.tile(op.y).dtype
    number = literal(element(op.value, dtype), dtype)
    return f"tl.full({_shape(printer.tile(op.y).shape)}, {number}, {language_type(dtype)})"


def _expand(printer: Printer, op: tile.Expand) -> str:
    """Print the expansion of a scalar; all others need no line."""
    dtype = printer.tile(op.x).dtype
    return f"tl.full((1,), {printer.word(op.x)}, {language_type(dtype)})"


def _shape(sizes: Sequence[Size]) -> str:
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"


# -- arithmetic -----------------------------------------------------------------------------------


def _unary(printer: Printer, op: tile.Unary) -> str:
    x = printer.name(op.x)
    if op.function == "neg":
        return f"-{x}"
    if op.function == "not":
        return _inverted(x, printer.tile(op.x).dtype)
    if printer.strict and op.function in STRICT and printer.tile(op.x).dtype == "f32":
        return f"{STRICT[op.function]}({x})"
    return f"tl.{op.function}({x})"


def _inverted(x: str, dtype: str) -> str:
    """Print the complement; of unsigned numbers, the interpreter does not know it."""
    unsigned = DTYPES[dtype].kind == "uint"
    return f"{x} ^ {2 ** DTYPES[dtype].bits - 1}" if unsigned else f"~{x}"


def _binary(printer: Printer, op: tile.Binary) -> str:
    dtype = printer.tile(op.a).dtype
    a, b = _operands(printer, op.a, op.b, alone=op.function in ("max", "min"))
    if op.function in ("max", "min"):
        nans = ", propagate_nan=tl.PropagateNan.ALL" if is_float(dtype) else ""
        text = f"tl.{op.function}imum({a}, {b}{nans})"
        return f"{text}.to(tl.bfloat16)" if dtype == "bf16" else text
    if printer.strict and op.function in STRICT and dtype == "f32":
        return f"{STRICT[op.function]}({a}, {b})"
    return f"{a} {SIGNS[op.function]} {b}"


def _where(printer: Printer, op: tile.Where) -> str:
    a, b = _operands(printer, op.a, op.b, alone=True)
    return f"tl.where({printer.name(op.condition)}, {a}, {b})"


def _operands(printer: Printer, a: ir.Value, b: ir.Value, alone: bool) -> tuple[str, str]:
    """Return two operands, at least one as a tile; `alone`, a number is an f32 if it is a float."""
    if alone and printer.tile(a).dtype == "f64":
        return printer.name(a), printer.name(b)
    both = {a, b} <= printer.numbers
    return printer.name(a) if both else printer.word(a), printer.word(b)


def _cast(printer: Printer, op: tile.Cast) -> str:
    x, tile_ = printer.word(op.x), printer.tile(op.x)
    if op.to == "i1":
        return f"{printer.name(op.x)} != 0"
    if op.x in printer.numbers:
        return f"tl.full((), {x}, {language_type(op.to)})"
    if not tile_.shape:  # in the interpreter, the index of a loop is a number of Python's
        return f"tl.cast({x}, {language_type(op.to)})"
    return f"{x}.to({language_type(op.to)})"


def _bit_cast(printer: Printer, op: tile.BitCast) -> str:
    return f"{printer.name(op.x)}.to({language_type(op.to)}, bitcast=True)"


# -- combinations ---------------------------------------------------------------------------------


def _dot(printer: Printer, op: tile.Dot) -> str:
    a, b, acc = (printer.name(value) for value in (op.a, op.b, op.acc))
    dtype = printer.tile(op.a).dtype
    if dtype == "ui8":
        raise Unsupported("multiplies matrices of ui8, which Triton does not")
    result = language_type(printer.tile(op.y).dtype)
    precision = f', input_precision="{op.precision}"' if dtype == "f32" else ""
    return f"tl.dot({a}, {b}, {acc}{precision}, out_dtype={result})"


def _reduce(printer: Printer, op: tile.Reduce) -> str:
    x, dtype = printer.name(op.x), printer.tile(op.x).dtype
    if op.kind == "prod":
        return f"tl.reduce({x}, {op.axis}, {PRODUCT})"
    return _back(f"tl.{op.kind}({x}, {op.axis})", "" if op.kind.startswith("arg") else dtype)


def _scan(printer: Printer, op: tile.Scan) -> str:
    reverse = ", reverse=True" if op.reverse else ""
    text = f"tl.cum{op.kind}({printer.name(op.x)}, {op.axis}{reverse})"
    return _back(text, printer.tile(op.x).dtype)


def _back(text: str, dtype: str) -> str:
    """Cast back what Triton combines in a larger type."""
    if dtype == "i1":
        return f"{text} != 0"
    small = dtype and DTYPES[dtype].bits < 32
    return f"{text}.to({language_type(dtype)})" if small else text


def _transpose(printer: Printer, op: tile.Transpose) -> str:
    return f"tl.trans({printer.name(op.x)})"


# -- memory ---------------------------------------------------------------------------------------


def _load(printer: Printer, op: tile.Load) -> str:
    dtype = printer.memory(op.memory).dtype
    arguments = [_place(printer, op)]
    if inside := _inside(printer, op):
        pad = literal(op.pad, "i8" if dtype == "i1" else dtype)
        arguments += [f"mask={inside}", f"other={pad}"]
    text = f"tl.load({', '.join(arguments)})"
    return f"{text} != 0" if dtype == "i1" else text


def _store(printer: Printer, op: tile.Store) -> None:
    dtype = printer.tile(op.value).dtype
    value = printer.name(op.value)
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


def _load_block(printer: Printer, op: tile.LoadBlock) -> str:
    text = f"{printer.descriptor(op.memory, op.block)}.load([{_listed(printer, op.offsets)}])"
    return f"{text} != 0" if printer.memory(op.memory).dtype == "i1" else text


def _store_block(printer: Printer, op: tile.StoreBlock) -> None:
    block = [str(size) for size in printer.tile(op.value).shape]
    value = printer.name(op.value)
    if printer.tile(op.value).dtype == "i1":
        value = f"{value}.to(tl.int8)"
    descriptor = printer.descriptor(op.memory, block)
    printer.emit(f"{descriptor}.store([{_listed(printer, op.offsets)}], {value})")


def _listed(printer: Printer, values: Sequence[ir.Value]) -> str:
    return ", ".join(printer.word(value) for value in values)


def _place(printer: Printer, op: tile.Load | tile.Store) -> str:
    """Print the pointers to the elements at some indices."""
    memory = printer.memory(op.memory)
    if (most := max(memory.shape, default=0)) > INT32_ELEMENTS:
        raise Unsupported(f"has a dimension of {most} elements, indices go to {INT32_ELEMENTS}")
    large = memory.extent >= INT32_ELEMENTS
    terms = [printer.pointer(op.memory)]
    for index, stride in zip(op.indices, memory.strides, strict=True):
        word = printer.word(index)
        if index in printer.numbers and word == "0":
            continue
        if large and index not in printer.numbers:
            word = f"tl.cast({word}, tl.int64)"
        terms.append(word if stride == 1 else f"{word} * {stride}")
    return " + ".join(terms)


def _inside(printer: Printer, op: tile.Load | tile.Store) -> str:
    """Print which of some indices are in bounds; "" when nothing is to be checked."""
    checks: list[str] = []
    sizes = printer.memory(op.memory).shape
    for dim, (index, size) in enumerate(zip(op.indices, sizes, strict=True)):
        word = printer.word(index)
        if index in printer.numbers and word.isdecimal() and int(word) < size:
            continue
        checks += [f"({word} >= 0)"] if dim in op.low else []
        checks += [f"({word} < {size})"] if dim in op.high else []
    return checks[0][1:-1] if len(checks) == 1 else " & ".join(checks)


# -- loops ----------------------------------------------------------------------------------------


def _for(printer: Printer, op: tile.For) -> None:
    index, *arguments = op.block.arguments
    names: list[str] = []
    for argument, value, result in zip(arguments, op.carried, op.results, strict=True):
        if starts_variable(value, op) and printer.name(value).isidentifier():
            printer.words[argument] = printer.words[value]
        else:
            printer.assign(argument, printer.name(value), "carried")
        names.append(printer.words[argument])
        printer.words[result] = names[-1]
    bounds = _listed(printer, [op.lower, op.upper, op.step])
    stages = f", num_stages={op.stages}" if op.stages else ""
    name = printer.variable(index, "i")
    printer.emit(f"for {name} in {'tl.' if stages else ''}range({bounds}{stages}):")
    printer.loops.enter(op, names)
    printer.depth += 1
    before = len(printer.lines)
    printer.print_block(op.block)
    _next_turn(printer, names, [printer.name(value) for value in _yielded(op)])
    if len(printer.lines) == before:
        printer.emit("pass")
    printer.depth -= 1


def _next_turn(printer: Printer, names: Sequence[str], values: Sequence[str]) -> None:
    changes = [(name, value) for name, value in zip(names, values, strict=True) if name != value]
    if changes:
        left, right = zip(*changes, strict=True)
        printer.emit(f"{', '.join(left)} = {', '.join(right)}")


def _yielded(op: tile.For) -> list[ir.Value]:
    last = op.block.operations[len(op.block.operations) - 1]
    return list(last.operation.operands)


EXPRESSIONS: Mapping[type[Op], Callable[[Any, Any], str]] = {
    tile.Arange: _arange,
    tile.Binary: _binary,
    tile.BitCast: _bit_cast,
    tile.Cast: _cast,
    tile.Dot: _dot,
    tile.Expand: _expand,
    tile.Full: _full,
    tile.Load: _load,
    tile.LoadBlock: _load_block,
    tile.ProgramId: _program_id,
    tile.Reduce: _reduce,
    tile.Scan: _scan,
    tile.Transpose: _transpose,
    tile.Unary: _unary,
    tile.Where: _where,
}
STATEMENTS: Mapping[type[Op], Callable[[Any, Any], None]] = {
    tile.For: _for,
    tile.Store: _store,
    tile.StoreBlock: _store_block,
}


def default_name(printer: Printer, op: Op) -> str:
    """Return what a value without a name of its own is called."""
    if isinstance(op, (tile.Load, tile.LoadBlock)):
        return printer.hint(op.memory)
    if isinstance(op, (tile.Unary, tile.Binary)):
        return op.function
    if isinstance(op, tile.Reduce):
        return op.kind
    if isinstance(op, tile.Scan):
        return f"cum{op.kind}"
    if isinstance(op, tile.Cast) and printer.word(op.x).isidentifier():
        return f"{printer.word(op.x)}_{op.to}"
    if isinstance(op, tile.Arange):
        return f"{op.block.lower()}_range"
    return op.op_name.partition(".")[2]
