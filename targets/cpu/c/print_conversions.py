"""Print constants and conversions between element types, and reinterpretations of bits."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir
from .attributes import attribute, elements_of
from .lanes import regrouped
from .printer import Print, Printer, is_mask
from .spelling import BYTES, Vector, cut, element_of, lanes_of, literal


def _convert(
    printer: Printer, op: ir.Operation, unsigned: bool = False, to_unsigned: bool = False
) -> None:
    """Convert lanes to another element type, in pieces whose wider side fits in a register.

    With `unsigned`, integers that are converted are unsigned; with `to_unsigned`, the results are.
    """
    source, result = op.operands[0], op.results[0]
    if is_mask(source):
        _convert_mask(printer, source, result, unsigned)
        return
    have, want = element_of(source.type), element_of(result.type)
    sizes = cut(lanes_of(source.type), printer.most_lanes(max(BYTES[have], BYTES[want])))
    pieces: list[str] = []
    for lanes, x in zip(sizes, printer.regrouped(source, sizes), strict=True):
        narrow, wide = Vector(lanes, have), Vector(lanes, want)
        x = f"({narrow.unsigned.name}){x}" if unsigned and have[0] == "i" else x
        made = wide.unsigned if to_unsigned else wide
        text = f"__builtin_convertvector({x}, {made.name})" if lanes > 1 else f"({made.name}){x}"
        pieces.append(f"({wide.name}){text}" if to_unsigned else text)
    vectors = [Vector(lanes, want) for lanes in sizes]
    wanted = [each.lanes for each in printer.vectors(result)]
    if wanted != [*sizes]:
        pieces = [printer.variable(v.name, text) for v, text in zip(vectors, pieces, strict=True)]
    printer.define(result, *regrouped(pieces, vectors, wanted))


def _convert_mask(printer: Printer, source: ir.Value, result: ir.Value, unsigned: bool) -> None:
    vectors = printer.vectors(result)
    lines: list[str] = []
    for vector, mask in zip(vectors, printer.mask(source, vectors), strict=True):
        if vector.lanes == 1:
            lines.append(f"({vector.name}){mask}" if unsigned else f"-({vector.name}){mask}")
            continue
        lanes = f"({mask} & 1)" if unsigned else mask
        is_float = vector.is_float
        lines.append(f"__builtin_convertvector({lanes}, {vector.name})" if is_float else lanes)
    printer.define(result, *lines)


def _to_condition(printer: Printer, op: ir.Operation) -> None:
    """Print a truncation; that to a condition is the lowest bit."""
    if not is_mask(op.results[0]):
        _convert(printer, op)
        return
    vectors = printer.vectors(op.results[0])
    sizes = [each.lanes for each in printer.vectors(op.operands[0])]
    pieces = printer.regrouped(op.operands[0], [each.lanes for each in vectors])
    if len(sizes) != len(vectors) or vectors[0].lanes > 1:
        raise Unsupported(f"is computed by '{op.name}' to conditions, which is not printed as C")
    printer.define(op.results[0], *(f"({x} & 1) != 0" for x in pieces))


def _bitcast(printer: Printer, op: ir.Operation) -> None:
    """Reinterpret bits; a vector may get lanes of another width."""
    source, result = op.operands[0], op.results[0]
    have, want = printer.vectors(source), printer.vectors(result)
    if have[0].lanes == 1 and have[0].bits != want[0].bits:
        _bitcast_lanes(printer, source, result)
        return
    if [each.bytes for each in have] != [each.bytes for each in want]:
        raise Unsupported(
            f"is computed by '{op.name}' of unequal pieces, which is not printed as C"
        )
    printer.define(
        result,
        *(
            _reinterpreted(x, a, b)
            for x, a, b in zip(printer.pieces(source), have, want, strict=True)
        ),
    )


def _reinterpreted(x: str, have: Vector, want: Vector) -> str:
    if want.lanes > 1:
        return f"({want.name}){x}"
    return x if have.element == want.element else f"bits_{want.name}_of_{have.name}({x})"


def _bitcast_lanes(printer: Printer, source: ir.Value, result: ir.Value) -> None:
    """Reinterpret scalars that were lanes as scalars of another width: low bytes come first."""
    have, want = (Vector(1, element_of(value.type)) for value in (source, result))
    count, lanes = lanes_of(source.type), lanes_of(result.type)
    bits = [_whole(printer.lane(source, lane), have) for lane in range(count)]
    lines: list[str] = []
    for lane in range(lanes):
        if lanes > count:
            parts = lanes // count
            text = f"{bits[lane // parts]} >> {want.bits * (lane % parts)}"
        else:
            parts, wide = count // lanes, want.unsigned.name
            of_lane = bits[lane * parts : (lane + 1) * parts]
            terms = (f"({wide}){x} << {have.bits * n}" for n, x in enumerate(of_lane))
            text = " | ".join(f"({term})" for term in terms)
        whole = f"({want.unsigned.name})({text})"
        is_float = want.is_float
        lines.append(
            f"bits_{want.name}_of_{want.unsigned.name}({whole})"
            if is_float
            else f"({want.name}){whole}"
        )
    printer.define(result, *lines)


def _whole(x: str, have: Vector) -> str:
    """Return the bits of a scalar as an unsigned number."""
    unsigned = have.unsigned.name
    return f"bits_{unsigned}_of_{have.name}({x})" if have.is_float else f"({unsigned}){x}"


def _constant(printer: Printer, op: ir.Operation) -> None:
    result, value = op.results[0], attribute(op, "value")
    element = element_of(result.type)
    if not isinstance(result.type, ir.VectorType):
        printer.bind(result, _scalar(literal(value.value, element), element))
        if str(result.type) == "index":
            printer.affine[result] = "", value.value
        return
    numbers = elements_of(value, lanes_of(result.type))
    is_scalar = printer.vectors(result)[0].lanes == 1
    spelled = (
        _condition(n, is_scalar) if element == "i1" else literal(n, element) for n in numbers
    )
    printer.define_lanes(result, [*spelled])


def _scalar(text: str, element: str) -> str:
    """Spell a scalar so that it has its type and binds stronger than operators."""
    if text.startswith("-") or element in ("i8", "i16"):
        return f"({text})" if element not in ("i8", "i16") else f"(({element}){text})"
    return text


def _condition(number: Any, is_scalar: bool) -> str:
    if is_scalar:
        return "true" if number else "false"
    return "-1" if number else "0"


def _casts_index(printer: Printer, op: ir.Operation, unsigned: bool = False) -> None:
    """Print a cast from or to indices; one of 64 bits is the number itself."""
    if element_of(op.operands[0].type) == element_of(op.results[0].type) == "i64":
        printer.bind(op.results[0], *printer.pieces(op.operands[0]))
        if op.operands[0] in printer.affine:
            printer.affine[op.results[0]] = printer.affine[op.operands[0]]
        return
    _convert(printer, op, unsigned)


def _half(printer: Printer, op: ir.Operation, function: str) -> None:
    """Convert between f16, which is its bits here, and f32; other floats as any number."""
    source, result = op.operands[0], op.results[0]
    if "f16" not in (element_of(source.type), element_of(result.type)):
        _convert(printer, op)
        return
    sizes = [each.lanes for each in printer.vectors(result)]
    narrow = printer.regrouped(source, sizes)
    if function == "truncate_half":
        sizes = [each.lanes for each in printer.vectors(source)]
        if sizes != [each.lanes for each in printer.vectors(result)]:
            raise Unsupported("rounds unequal pieces to f16, which is not printed as C")
        narrow = [*printer.pieces(source)]
    names = (Vector(n, "f32").name for n in sizes)
    printer.define(result, *(f"{function}_{n}({x})" for n, x in zip(names, narrow, strict=True)))


CONVERSIONS: Mapping[str, Print] = {
    "arith.sitofp": _convert,
    "arith.uitofp": partial(_convert, unsigned=True),
    "arith.fptosi": _convert,
    "arith.fptoui": partial(_convert, to_unsigned=True),
    "arith.extsi": _convert,
    "arith.extui": partial(_convert, unsigned=True),
    "arith.trunci": _to_condition,
    "arith.index_cast": _casts_index,
    "arith.index_castui": partial(_casts_index, unsigned=True),
    "arith.bitcast": _bitcast,
    "vector.bitcast": _bitcast,
    "arith.constant": _constant,
    "arith.extf": partial(_half, function="extend_half"),
    "arith.truncf": partial(_half, function="truncate_half"),
}
"""The ops that make numbers of other types, and how they are printed."""
