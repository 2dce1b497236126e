"""Print loads, stores and tables: memory is a pointer to elements, an index counts these.

A mask of the first lanes is a count. Where it is known to be one, no lane behind it is read.
"""

from collections.abc import Mapping

from ....dialects.core.mlir import ir
from .attributes import attribute, defining_op, elements_of, splat_of, whole_numbers
from .printer import Print, Printer
from .spelling import BYTES, element_of, initializer, lanes_of, literal, selected


def _at(printer: Printer, memory: ir.Value, index: ir.Value, lanes: int = 0) -> str:
    """Spell the address of an element, or of one some lanes behind it."""
    base, constant = printer.affine.get(index) or (printer.name(index), 0)
    constant += lanes
    terms = [printer.name(memory), *([base] if base else [])]
    if not constant:
        return " + ".join(terms)
    sign = "-" if constant < 0 else "+"
    return f"{' + '.join(terms)} {sign} {literal(abs(constant), 'i64')}"


def _element(printer: Printer, memory: ir.Value, index: ir.Value) -> str:
    base, constant = printer.affine.get(index) or (printer.name(index), 0)
    if not base or not constant:
        return f"{printer.name(memory)}[{base or literal(constant, 'i64')}]"
    sign = "-" if constant < 0 else "+"
    return f"{printer.name(memory)}[{base} {sign} {literal(abs(constant), 'i64')}]"


def _load(printer: Printer, op: ir.Operation) -> None:
    printer.define(op.results[0], _element(printer, *op.operands))


def _store(printer: Printer, op: ir.Operation) -> None:
    value, memory, index = op.operands
    printer.emit(f"{_element(printer, memory, index)} = {printer.name(value)};")


def _load_vector(printer: Printer, op: ir.Operation) -> None:
    memory, index = op.operands
    places = printer.places(op.results[0])
    loads = (f"load_{v.name}({_at(printer, memory, index, lanes[0])})" for v, lanes in places)
    printer.define(op.results[0], *loads)


def _store_vector(printer: Printer, op: ir.Operation) -> None:
    value, memory, index = op.operands
    for (vector, lanes), x in zip(printer.places(value), printer.pieces(value), strict=True):
        printer.emit(f"store_{vector.name}({_at(printer, memory, index, lanes[0])}, {x});")


def _count(printer: Printer, mask: ir.Value) -> tuple[str, int | None] | None:
    """Return how many first lanes a mask has: as text, and as a number if it is known."""
    op = defining_op(mask)
    if op is None:
        return None
    if op.name == "vector.constant_mask":
        (count,) = whole_numbers(op, "mask_dim_sizes")
        return str(count), count
    if op.name == "vector.create_mask":
        return printer.name(op.operands[0]), None
    if op.name == "arith.constant" and (all_ := splat_of(attribute(op, "value"))) is not None:
        count = lanes_of(mask.type) if all_ else 0
        return str(count), count
    return None


def _behind(count: tuple[str, int | None], begin: int) -> str:
    """Spell how many lanes are left for the piece that begins at a lane."""
    text, number = count
    if number is not None:
        return str(number - begin)
    return f"{text} - {begin}" if begin else text


def _load_masked(printer: Printer, op: ir.Operation) -> None:
    memory, index, mask, fill = op.operands
    count = _count(printer, mask)
    masks = [] if count else printer.mask(mask, printer.vectors(op.results[0]))
    lines: list[str] = []
    for number, (vector, lanes) in enumerate(printer.places(op.results[0])):
        at = _at(printer, memory, index, lanes[0])
        if count:
            lines.append(f"load_first_{vector.name}({at}, {_behind(count, lanes[0])})")
        else:
            lines.append(f"load_where_{vector.name}({at}, {masks[number]})")
    _filled(printer, op, mask, fill, lines)


def _store_masked(printer: Printer, op: ir.Operation) -> None:
    memory, index, mask, value = op.operands
    count = _count(printer, mask)
    masks = [] if count else printer.mask(mask, printer.vectors(value))
    pieces = printer.pieces(value)
    for number, (vector, lanes) in enumerate(printer.places(value)):
        at, x = _at(printer, memory, index, lanes[0]), pieces[number]
        if count:
            printer.emit(f"store_first_{vector.name}({at}, {_behind(count, lanes[0])}, {x});")
        else:
            printer.emit(f"store_where_{vector.name}({at}, {masks[number]}, {x});")


def _gather(printer: Printer, op: ir.Operation) -> None:
    memory, index, steps, mask, fill = op.operands
    at = printer.variable(f"{element_of(memory.type)} *", _at(printer, memory, index))
    count = _count(printer, mask)
    lines: list[str] = []
    for vector, numbers in printer.places(op.results[0]):
        lanes = [
            _guarded(
                f"{at}[{printer.lane(steps, lane)}]",
                _is_chosen(printer, mask, count, lane),
                literal(0, vector.element),
            )
            for lane in numbers
        ]
        lines.append(initializer(vector, lanes))
    _filled(printer, op, mask, fill, lines)


def _guarded(text: str, condition: str | bool, otherwise: str) -> str:
    if isinstance(condition, bool):
        return text if condition else otherwise
    return f"{condition} ? {text} : {otherwise}"


def _is_chosen(
    printer: Printer, mask: ir.Value, count: tuple[str, int | None] | None, lane: int
) -> str | bool:
    """Return whether a lane is chosen, as a condition where that is not known."""
    if count is None:
        return printer.lane(mask, lane)
    text, number = count
    return lane < number if number is not None else f"{lane} < {text}"


def _scatter(printer: Printer, op: ir.Operation) -> None:
    memory, index, steps, mask, value = op.operands
    count = _count(printer, mask)
    at = printer.variable(f"{element_of(memory.type)} *", _at(printer, memory, index))
    for lane in range(lanes_of(value.type)):
        line = f"{at}[{printer.lane(steps, lane)}] = {printer.lane(value, lane)};"
        chosen = _is_chosen(printer, mask, count, lane)
        if chosen is True:
            printer.emit(line)
        elif chosen is not False:
            printer.emit(f"if ({chosen}) {line}")


def _filled(
    printer: Printer, op: ir.Operation, mask: ir.Value, fill: ir.Value, lines: list[str]
) -> None:
    """Define what is loaded; lanes that are left out are 0, or are chosen from others."""
    result = op.results[0]
    vectors = printer.vectors(result)
    if _is_zero(fill):
        printer.define(result, *lines)
        return
    loaded = [printer.variable(v.name, text) for v, text in zip(vectors, lines, strict=True)]
    sides = zip(vectors, printer.mask(mask, vectors), loaded, printer.pieces(fill), strict=True)
    printer.define(result, *(selected(*each) for each in sides))


def _is_zero(fill: ir.Value) -> bool:
    op = defining_op(fill)
    if op is None or op.name != "arith.constant":
        return False
    return splat_of(attribute(op, "value")) == 0


def _prefetch(printer: Printer, op: ir.Operation) -> None:
    writes = int(attribute(op, "isWrite").value)
    locality = attribute(op, "localityHint").value
    at = _at(printer, op.operands[0], op.operands[1])
    printer.emit(f"__builtin_prefetch({at}, {writes}, {locality});")


def _table(printer: Printer, op: ir.Operation) -> None:
    printer.bind(op.results[0], printer.tables[attribute(op, "name").value])


def print_table(op: ir.Operation, name: str) -> str:
    """Return the definition of a constant table."""
    type_ = attribute(op, "type").value
    element = element_of(type_)
    (size,) = type_.shape
    numbers = elements_of(attribute(op, "initial_value"), size)
    stored = "i8" if element == "i1" else element
    assert stored in BYTES
    content = ", ".join(literal(number, stored) for number in numbers)
    return f"static const {stored} {name}[{size}] ATTRIBUTE(unused) = {{{content}}};"


MEMORY: Mapping[str, Print] = {
    "memref.load": _load,
    "memref.store": _store,
    "memref.prefetch": _prefetch,
    "memref.get_global": _table,
    "vector.load": _load_vector,
    "vector.store": _store_vector,
    "vector.maskedload": _load_masked,
    "vector.maskedstore": _store_masked,
    "vector.gather": _gather,
    "vector.scatter": _scatter,
}
"""The ops that read and write memory, and how they are printed."""
