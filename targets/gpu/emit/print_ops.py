"""Print each op of the `tile` dialect in Triton's language."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....dialects import tile
from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import DTYPES, is_float
from ....dialects.tile.types import FLOAT8, Size
from .printer import PRODUCT, Printer
from .spelling import element, language_type, literal

SIGNS: Mapping[str, str] = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "div_nearest": "/",
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

STRICT: Mapping[str, str] = {"div": "tl.div_rn", "sqrt": "tl.sqrt_rn"}
"""Functions that round f32 to nearest; the others have an error of one or two units."""

NEAREST: Mapping[str, str] = {"div_nearest": "tl.div_rn"}
"""Functions of f32 that are rounded to nearest whether math is strict or not."""


INSTRUCTION_DEPTH = 32
"""How many products of 8 bits one instruction of a matrix unit sums.

Its own sums of floats have fewer bits than f32 on some GPUs: those of each instruction are added to
others in f32.
"""


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
    return f"tl.full((1,), {printer.spelling(op.x)}, {language_type(dtype)})"


def _shape(sizes: Sequence[Size]) -> str:
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"


# -- arithmetic -----------------------------------------------------------------------------------


def _unary(printer: Printer, op: tile.Unary) -> str:
    x = printer.tile_spelling(op.x)
    if op.function == "neg":
        return f"-{x}"
    if op.function == "not":
        return _inverted(x, printer.tile(op.x).dtype)
    if rounded := _rounded(printer, op.function, printer.tile(op.x).dtype):
        return f"{rounded}({x})"
    return f"tl.{op.function}({x})"


def _inverted(x: str, dtype: str) -> str:
    """Print the complement; the interpreter has none for unsigned numbers."""
    unsigned = DTYPES[dtype].kind == "uint"
    return f"{x} ^ {2 ** DTYPES[dtype].bits - 1}" if unsigned else f"~{x}"


def _binary(printer: Printer, op: tile.Binary) -> str:
    dtype = printer.tile(op.a).dtype
    a, b = _operands(printer, op.a, op.b, alone=op.function in ("max", "min"))
    if op.function in ("max", "min"):
        nans = ", propagate_nan=tl.PropagateNan.ALL" if is_float(dtype) else ""
        text = f"tl.{op.function}imum({a}, {b}{nans})"
        return f"{text}.to(tl.bfloat16)" if dtype == "bf16" else text
    if rounded := _rounded(printer, op.function, dtype):
        return f"{rounded}({a}, {b})"
    return f"{a} {SIGNS[op.function]} {b}"


def _rounded(printer: Printer, function: str, dtype: str) -> str | None:
    """Return the spelling of a function that must be rounded to nearest, else None."""
    if dtype != "f32":
        return None
    return NEAREST.get(function) or (STRICT.get(function) if printer.strict else None)


def _where(printer: Printer, op: tile.Where) -> str:
    a, b = _operands(printer, op.a, op.b, alone=True)
    return f"tl.where({printer.tile_spelling(op.condition)}, {a}, {b})"


def _operands(printer: Printer, a: ir.Value, b: ir.Value, alone: bool) -> tuple[str, str]:
    """Return two operands, at least one as a tile; `alone`, a number is an f32 if it is a float."""
    if alone and printer.tile(a).dtype == "f64":
        return printer.tile_spelling(a), printer.tile_spelling(b)
    both = {a, b} <= printer.numbers
    return printer.tile_spelling(a) if both else printer.spelling(a), printer.spelling(b)


def _cast(printer: Printer, op: tile.Cast) -> str:
    x, tile_ = printer.spelling(op.x), printer.tile(op.x)
    if op.to == "i1":
        return f"{printer.tile_spelling(op.x)} != 0"
    if op.x in printer.numbers:
        return f"tl.full((), {x}, {language_type(op.to)})"
    if not tile_.shape:  # in the interpreter, the index of a loop is a number of Python's
        return f"tl.cast({x}, {language_type(op.to)})"
    return f"{x}.to({language_type(op.to)})"


def _bit_cast(printer: Printer, op: tile.BitCast) -> str:
    return f"{printer.tile_spelling(op.x)}.to({language_type(op.to)}, bitcast=True)"


# -- combinations ---------------------------------------------------------------------------------


def _dot(printer: Printer, op: tile.Dot) -> str:
    a, b, acc = (printer.tile_spelling(value) for value in (op.a, op.b, op.acc))
    dtype = printer.tile(op.a).dtype
    if dtype == "ui8":
        raise Unsupported("multiplies matrices of ui8, which Triton does not")
    result = language_type(printer.tile(op.y).dtype)
    precision = f', input_precision="{op.precision}"' if dtype == "f32" else ""
    if dtype in FLOAT8:
        precision = f", max_num_imprecise_acc={INSTRUCTION_DEPTH}"
    return f"tl.dot({a}, {b}, {acc}{precision}, out_dtype={result})"


def _reduce(printer: Printer, op: tile.Reduce) -> str:
    x, dtype = printer.tile_spelling(op.x), printer.tile(op.x).dtype
    if op.kind == "prod":
        return f"tl.reduce({x}, {op.axis}, {PRODUCT})"
    return _back(f"tl.{op.kind}({x}, {op.axis})", "" if op.kind.startswith("arg") else dtype)


def _scan(printer: Printer, op: tile.Scan) -> str:
    reverse = ", reverse=True" if op.reverse else ""
    text = f"tl.cum{op.kind}({printer.tile_spelling(op.x)}, {op.axis}{reverse})"
    return _back(text, printer.tile(op.x).dtype)


def _back(text: str, dtype: str) -> str:
    """Cast back a result that Triton computes in a larger type."""
    if dtype == "i1":
        return f"{text} != 0"
    small = dtype and DTYPES[dtype].bits < 32
    return f"{text}.to({language_type(dtype)})" if small else text


def _transpose(printer: Printer, op: tile.Transpose) -> str:
    return f"tl.trans({printer.tile_spelling(op.x)})"


EXPRESSIONS: Mapping[type[Op], Callable[[Any, Any], str]] = {
    tile.Arange: _arange,
    tile.Binary: _binary,
    tile.BitCast: _bit_cast,
    tile.Cast: _cast,
    tile.Dot: _dot,
    tile.Expand: _expand,
    tile.Full: _full,
    tile.ProgramId: _program_id,
    tile.Reduce: _reduce,
    tile.Scan: _scan,
    tile.Transpose: _transpose,
    tile.Unary: _unary,
    tile.Where: _where,
}
"""Ops whose result is one expression; those on memory are in `print_memory.py`."""
