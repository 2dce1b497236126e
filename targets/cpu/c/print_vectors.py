"""Print ops that move lanes: broadcasts, shuffles, reductions, masks of the first lanes."""

import re
from collections.abc import Mapping, Sequence

from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir
from .attributes import attribute, extreme_of, whole_numbers
from .lanes import regrouped, shuffled
from .printer import Print, Printer
from .spelling import Vector, element_of, initializer, lanes_of


def _broadcast(printer: Printer, op: ir.Operation) -> None:
    source, result = op.operands[0], op.results[0]
    if lanes_of(source.type) != 1:
        raise Unsupported("repeats a vector of several lanes, which is not printed as C")
    x = printer.lane(source, 0)
    condition = element_of(result.type) == "i1"
    lines = [
        f"splat_{vector.name}({f'-({vector.element})({x})' if condition else x})"
        if vector.lanes > 1
        else x
        for vector in printer.vectors(result)
    ]
    printer.define(result, *lines)


def _shuffle(printer: Printer, op: ir.Operation) -> None:
    a, b = op.operands
    lanes = whole_numbers(op, "mask")
    _chosen(printer, op.results[0], [a, b], lanes)


def _chosen(
    printer: Printer, result: ir.Value, sources: Sequence[ir.Value], lanes: Sequence[int]
) -> None:
    """Define a vector of lanes of others, counted through all of them."""
    every = [
        (piece, vector)
        for source in sources
        for piece, vector in zip(printer.pieces(source), printer.vectors(source), strict=True)
    ]
    pieces, vectors = [each[0] for each in every], [each[1] for each in every]
    places = printer.places(result)
    wanted = ((vector, [lanes[n] for n in numbers]) for vector, numbers in places)
    printer.define(result, *(_lanes(pieces, vectors, vector, own) for vector, own in wanted))


def _lanes(
    pieces: Sequence[str], vectors: Sequence[Vector], wanted: Vector, lanes: Sequence[int]
) -> str:
    """Spell one vector of lanes of several pieces: a shuffle where they are of one or two."""
    starts = [sum(v.lanes for v in vectors[:n]) for n in range(len(vectors))]
    owners = [max(n for n, start in enumerate(starts) if start <= max(lane, 0)) for lane in lanes]
    used = sorted({*owners})
    sizes = {vectors[n].lanes for n in used}
    if wanted.lanes > 1 and len(used) <= 2 and len(sizes) == 1 and sizes != {1}:
        (size,) = sizes
        places = [
            used.index(owner) * size + max(lane, 0) - starts[owner]
            for owner, lane in zip(owners, lanes, strict=True)
        ]
        return shuffled([pieces[n] for n in used], places)
    spelled = [
        pieces[owner]
        if vectors[owner].lanes == 1
        else f"{pieces[owner]}[{max(lane, 0) - starts[owner]}]"
        for owner, lane in zip(owners, lanes, strict=True)
    ]
    return initializer(wanted, spelled)


def _deinterleave(printer: Printer, op: ir.Operation) -> None:
    for first, result in enumerate(op.results):
        lanes = range(first, 2 * lanes_of(result.type), 2)
        _chosen(printer, result, [op.operands[0]], lanes)


def _interleave(printer: Printer, op: ir.Operation) -> None:
    count = lanes_of(op.operands[0].type)
    lanes = [lane for n in range(count) for lane in (n, count + n)]
    _chosen(printer, op.results[0], op.operands, lanes)


def _slice(printer: Printer, op: ir.Operation) -> None:
    first = attribute(op, "offsets")[0].value
    lanes = range(first, first + lanes_of(op.results[0].type))
    _chosen(printer, op.results[0], [op.operands[0]], lanes)


def _extract(printer: Printer, op: ir.Operation) -> None:
    if lanes_of(op.results[0].type) != 1 or len(op.operands) > 1:
        raise Unsupported("takes a lane that is not known, which is not printed as C")
    position = whole_numbers(op, "static_position")
    lane = position[0] if position else 0
    x = printer.lane(op.operands[0], lane)
    printer.define(op.results[0], f"{x} != 0" if element_of(op.results[0].type) == "i1" else x)


def _from_elements(printer: Printer, op: ir.Operation) -> None:
    printer.define_lanes(op.results[0], [printer.name(value) for value in op.operands])


def _insert(printer: Printer, op: ir.Operation) -> None:
    x, into = op.operands[0], op.operands[1]
    (place,) = whole_numbers(op, "static_position")
    if len(op.operands) > 2 or lanes_of(x.type) != 1:
        raise Unsupported("sets a lane that is not known, which is not printed as C")
    lanes = [printer.lane(into, lane) for lane in range(lanes_of(into.type))]
    lanes[place] = printer.lane(x, 0)
    printer.define_lanes(op.results[0], lanes)


def _step(printer: Printer, op: ir.Operation) -> None:
    result = op.results[0]
    printer.define_lanes(result, [str(lane) for lane in range(lanes_of(result.type))])


def _constant_mask(printer: Printer, op: ir.Operation) -> None:
    (count,) = whole_numbers(op, "mask_dim_sizes")
    result = op.results[0]
    scalar = printer.vectors(result)[0].lanes == 1
    words = ("false", "true") if scalar else ("0", "-1")
    printer.define_lanes(result, [words[lane < count] for lane in range(lanes_of(result.type))])


def _create_mask(printer: Printer, op: ir.Operation) -> None:
    """Print a mask of the first lanes, whose number is at most that of all lanes."""
    count = printer.name(op.operands[0])
    lines: list[str] = []
    for vector, numbers in printer.places(op.results[0]):
        if vector.lanes == 1:
            lines.append(f"{numbers[0]} < {count}")
        else:
            steps = initializer(vector, [str(lane) for lane in numbers])
            element = vector.element
            lines.append(f"({vector.name})({steps} < splat_{vector.name}(({element})({count})))")
    printer.define(op.results[0], *lines)


_KIND = re.compile(r"<(\w+)>")
_COMBINED: Mapping[str, str] = {
    "add": "+",
    "mul": "*",
    "and": "&",
    "or": "|",
    "xor": "^",
    "maxnumf": "maximumf",
    "minnumf": "minimumf",
}


def _reduce(printer: Printer, op: ir.Operation) -> None:
    """Combine lanes: halves by halves, or in their order where math is strict."""
    (found,) = _KIND.findall(str(attribute(op, "kind")))
    kind = _COMBINED.get(found, found)
    kind = extreme_of(op, kind) if kind in ("maximumf", "minimumf") else kind
    source = op.operands[0]
    element = element_of(source.type)
    if element == "i1":
        printer.define(op.results[0], f"{_halved(printer, source, kind)} != 0")
        return
    is_float = element in ("f32", "f64")
    given = [printer.name(value) for value in op.operands[1:]]
    if is_float and kind in "+*" and printer.strict:
        lanes = [printer.lane(source, lane) for lane in range(lanes_of(source.type))]
        total = (given or lanes)[0]
        for lane in lanes if given else lanes[1:]:
            total = printer.variable(element, _combined(kind, Vector(1, element), total, lane))
        printer.define(op.results[0], total)
        return
    total = _halved(printer, source, kind)
    if given:
        total = _combined(kind, Vector(1, element), total, given[0])
    printer.define(op.results[0], total)


def _halved(printer: Printer, source: ir.Value, kind: str) -> str:
    """Return the combination of all lanes, in as few steps as can be."""
    pieces, vectors = [*printer.pieces(source)], [*printer.vectors(source)]
    while len(pieces) > 1 and len({each.lanes for each in vectors}) == 1 and len(pieces) % 2 == 0:
        half = len(pieces) // 2
        pieces = [
            printer.variable(v.name, _combined(kind, v, a, b))
            for v, a, b in zip(vectors, pieces, pieces[half:], strict=False)
        ]
        vectors = vectors[:half]
    totals = [_across(printer, p, v, kind) for p, v in zip(pieces, vectors, strict=True)]
    one = Vector(1, vectors[0].element)
    while len(totals) > 1:
        totals = [printer.variable(one.name, _combined(kind, one, *totals[:2])), *totals[2:]]
    return totals[0]


def _across(printer: Printer, piece: str, vector: Vector, kind: str) -> str:
    while vector.lanes > 1:
        half = Vector(vector.lanes // 2, vector.element)
        sizes = [half.lanes, half.lanes]
        low, high = regrouped([piece], [vector], sizes)
        piece = printer.variable(half.name, _combined(kind, half, low, high))
        vector = half
    return piece


def _combined(kind: str, vector: Vector, a: str, b: str) -> str:
    if kind.isalnum():
        return f"{kind}_{vector.name}({a}, {b})"
    if vector.is_float or kind in "&|^":
        text = f"{a} {kind} {b}"
        return text if vector.is_float or vector.lanes > 1 else f"({vector.name})({text})"
    return f"{'addi' if kind == '+' else 'muli'}_{vector.name}({a}, {b})"


def _poison(printer: Printer, op: ir.Operation) -> None:
    result = op.results[0]
    element = "bool" if element_of(result.type) == "i1" else element_of(result.type)
    if not isinstance(result.type, ir.VectorType):
        printer.define(result, f"({element})0")
        return
    printer.define_lanes(result, ["0"] * lanes_of(result.type))


def _reshape(printer: Printer, op: ir.Operation) -> None:
    printer.bind(op.results[0], *printer.pieces(op.operands[0]))


VECTORS: Mapping[str, Print] = {
    "vector.broadcast": _broadcast,
    "vector.shuffle": _shuffle,
    "vector.deinterleave": _deinterleave,
    "vector.interleave": _interleave,
    "vector.extract_strided_slice": _slice,
    "vector.extract": _extract,
    "vector.insert": _insert,
    "vector.from_elements": _from_elements,
    "vector.step": _step,
    "vector.constant_mask": _constant_mask,
    "vector.create_mask": _create_mask,
    "vector.reduction": _reduce,
    "vector.shape_cast": _reshape,
    "ub.poison": _poison,
}
"""The ops that move lanes, and how they are printed."""
