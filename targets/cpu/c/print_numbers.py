"""Print arithmetic, comparisons and choices: ops of `arith` and `math`, lane by lane.

No line relies on how a compiler contracts expressions: products that are added in one step are
calls of `fma_…`. Integers wrap around; indices do not overflow.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir
from .attributes import attribute, defining_op, extreme_of, has_flag
from .print_calls import print_intrinsic
from .printer import Print, Printer, is_mask
from .spelling import literal, selected

SIGNS: Mapping[str, str] = {"add": "+", "sub": "-", "mul": "*", "div": "/"}

# -- lane by lane ---------------------------------------------------------------------------------


def _call(printer: Printer, op: ir.Operation, function: str) -> None:
    """Call a function of the names of the lanes: `fma_v16f32(…)`."""
    result = op.results[0]
    vectors = printer.vectors(result)
    printer.define(
        result,
        *(
            f"{function}_{vector.name}({', '.join(operands)})"
            for vector, operands in zip(vectors, printer.operands(op), strict=True)
        ),
    )


def _float(printer: Printer, op: ir.Operation, sign: str) -> None:
    if sign in "+-" and (fused := _fused(printer, op, sign)):
        printer.define(op.results[0], *fused)
        return
    printer.define(op.results[0], *(f"{a} {sign} {b}" for a, b in printer.operands(op)))


def _fused(printer: Printer, op: ir.Operation, sign: str) -> list[str]:
    """Return the sum or difference of a product and a number in one step, where LLVM fuses them.

    LLVM fuses where both allow it, and where nothing else reads the product.
    """
    if not printer.fuses or not has_flag(op, "contract"):
        return []
    first, second = op.operands
    products = {each: given for each in (first, second) if (given := _contracted(op, each))}
    if not products:
        return []
    product = next(iter(printer.ranks.order(products) if sign == "+" else products))
    other = second if product == first else first
    minus_a, minus_c = ("", "") if sign == "+" else ("", "-") if product == first else ("-", "")
    sides = (printer.pieces(value) for value in (*products[product], other))
    vectors = printer.vectors(op.results[0])
    return [
        f"fma_{vector.name}({minus_a}{a}, {b}, {minus_c}{c})"
        for vector, a, b, c in zip(vectors, *sides, strict=True)
    ]


def _contracted(op: ir.Operation, value: ir.Value) -> Sequence[ir.Value] | None:
    """Return the factors of a product in the same block that only one op reads, and may fuse."""
    product = defining_op(value)
    if product is None or product.name != "arith.mulf" or not has_flag(product, "contract"):
        return None
    if product.block != op.block or len([*value.uses]) > 1:
        return None
    return [*product.operands]


def _extreme(printer: Printer, op: ir.Operation, name: str) -> None:
    _call(printer, op, extreme_of(op, name))


def _negate(printer: Printer, op: ir.Operation) -> None:
    printer.define(op.results[0], *(f"-{x}" for (x,) in printer.operands(op)))


def _integer(printer: Printer, op: ir.Operation, function: str) -> None:
    """Print sums and products of integers; those of indices keep what is constant apart."""
    if str(op.results[0].type) == "index":
        _index(printer, op, SIGNS[function.removesuffix("i")])
    elif is_mask(op.results[0]):
        raise Unsupported(f"is computed by '{op.name}' of conditions, which is not printed as C")
    else:
        _call(printer, op, function)


def _index(printer: Printer, op: ir.Operation, sign: str) -> None:
    """Keep base and constant of an index apart: rows then differ by constants.

    GCC does not find that by itself: it keeps an offset for each row in a register or on the stack.
    """
    (a, more), (b, other) = (_affine(printer, value) for value in op.operands)
    result = op.results[0]
    if sign == "*":
        if not a:
            a, more, b, other = b, other, a, more
        if not a or b:
            printer.define(
                result, f"{printer.name(op.operands[0])} * {printer.name(op.operands[1])}"
            )
            return
        _bind_affine(printer, result, f"{a} * {literal(other, 'i64')}", more * other)
        return
    constant = more + other if sign == "+" else more - other
    if not b:
        _name_affine(printer, result, a, constant)
    elif not a and sign == "+":
        _name_affine(printer, result, b, constant)
    else:
        _bind_affine(printer, result, f"{a} {sign} {b}" if a else f"-{b}", constant)


def _affine(printer: Printer, value: ir.Value) -> tuple[str, int]:
    """Return the name and the constant whose sum an index is; the name of a constant is empty."""
    return printer.affine.get(value) or (printer.name(value), 0)


def _bind_affine(printer: Printer, value: ir.Value, base: str, constant: int) -> None:
    printer.define(value, base)
    _name_affine(printer, value, printer.name(value), constant)


def _name_affine(printer: Printer, value: ir.Value, base: str, constant: int) -> None:
    printer.affine[value] = base, constant
    if not base:
        printer.bind(value, literal(constant, "i64"))
    elif constant:
        sign = "+" if constant > 0 else "-"
        printer.bind(value, f"({base} {sign} {literal(abs(constant), 'i64')})")
    else:
        printer.bind(value, base)


def _bits(printer: Printer, op: ir.Operation, sign: str) -> None:
    """Print a function of bits; masks get the width of the result first."""
    result = op.results[0]
    vectors = printer.vectors(result)
    if is_mask(result):
        sides = [printer.mask(value, vectors) for value in op.operands]
    else:
        sides = [printer.pieces(value) for value in op.operands]
    lines = (f"{a} {sign} {b}" for a, b in zip(*sides, strict=True))
    if vectors[0].lanes == 1 and not is_mask(result):
        lines = (f"({vectors[0].name})({line})" for line in lines)
    printer.define(result, *lines)


# -- comparisons and choices ----------------------------------------------------------------------

_INTEGER_ORDERS = ("==", "!=", "<", "<=", ">", ">=", "u<", "u<=", "u>", "u>=")
_FLOAT_ORDERS: Mapping[int, str] = {
    1: "{a} == {b}",
    2: "{a} > {b}",
    3: "{a} >= {b}",
    4: "{a} < {b}",
    5: "{a} <= {b}",
    6: "({a} < {b}) | ({a} > {b})",
    7: "({a} == {a}) & ({b} == {b})",
    8: "({a} < {b}) | ({a} > {b}) | NOT",
    9: "{a} <= {b} | NOT",
    10: "{a} < {b} | NOT",
    11: "{a} >= {b} | NOT",
    12: "{a} > {b} | NOT",
    13: "{a} != {b}",
    14: "({a} != {a}) | ({b} != {b})",
}
"""Comparisons by their number in MLIR; those with NOT are true unless the rest is."""

LESS = 4
"""The number of the comparison `olt`."""


def _compare_floats(printer: Printer, op: ir.Operation) -> None:
    template = _FLOAT_ORDERS[attribute(op, "predicate").value]
    inverted, template = template.endswith("NOT"), template.removesuffix(" | NOT")
    lines: list[str] = []
    for vector, (a, b) in zip(printer.vectors(op.operands[0]), printer.operands(op), strict=True):
        text = template.format(a=a, b=b)
        if vector.lanes == 1:
            lines.append(f"!({text})" if inverted else text)
        else:
            lines.append(f"{'~' if inverted else ''}({vector.integers.name})({text})")
    printer.define(op.results[0], *lines)


def _compare_integers(printer: Printer, op: ir.Operation) -> None:
    order = _INTEGER_ORDERS[int(attribute(op, "predicate").value)]
    sign = order.removeprefix("u")
    vectors = printer.vectors(op.operands[0])
    if is_mask(op.operands[0]):
        sides = [printer.mask(value, vectors) for value in op.operands]
    else:
        sides = [printer.pieces(value) for value in op.operands]
    lines: list[str] = []
    for vector, a, b in zip(vectors, *sides, strict=True):
        if sign != order:
            a, b = (f"({vector.unsigned.name}){each}" for each in (a, b))
        text = f"{a} {sign} {b}"
        lines.append(text if vector.lanes == 1 else f"({vector.integers.name})({text})")
    printer.define(op.results[0], *lines)


def _select(printer: Printer, op: ir.Operation) -> None:
    condition, if_true, if_false = op.operands
    result = op.results[0]
    vectors = printer.vectors(result)
    if not isinstance(condition.type, ir.VectorType):
        chosen = zip(printer.pieces(if_true), printer.pieces(if_false), strict=True)
        name = printer.name(condition)
        printer.define(result, *(f"{name} ? {a} : {b}" for a, b in chosen))
        return
    compared = defining_op(condition)
    if compared is not None and (function := _chosen_extreme(op, compared)):
        x, y = compared.operands
        sides = zip(vectors, printer.pieces(x), printer.pieces(y), strict=True)
        printer.define(result, *(f"{function}_{v.name}({a}, {b})" for v, a, b in sides))
        return
    sides = [printer.pieces(each) for each in (if_true, if_false)]
    if is_mask(result):
        sides = [printer.mask(each, vectors) for each in (if_true, if_false)]
    chosen = zip(vectors, printer.mask(condition, vectors), *sides, strict=True)
    printer.define(result, *(selected(*each) for each in chosen))


def _chosen_extreme(op: ir.Operation, compared: ir.Operation) -> str:
    """Return `above` or `below` for a choice between the two floats that it compares."""
    _, if_true, if_false = op.operands
    if compared.name != "arith.cmpf" or attribute(compared, "predicate").value != LESS:
        return ""
    x, y = compared.operands
    if (if_true, if_false) == (y, x):
        return "above"
    return "below" if (if_true, if_false) == (x, y) else ""


_BINARY_CALLS = (
    *("arith.maxsi", "arith.minsi", "arith.maxui"),
    *("arith.minui", "arith.shli", "arith.shrui", "arith.shrsi", "arith.divui", "arith.remui"),
    *("arith.divsi", "arith.remsi", "arith.remf"),
)

_MATH = (
    *("sqrt", "floor", "ceil", "trunc", "roundeven", "absf", "absi", "copysign", "exp", "exp2"),
    *("expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "atan2", "erf", "erfc", "powf", "cbrt"),
    *("round",),
)


def _partials(function: Callable[..., None], names: Mapping[str, str]) -> Mapping[str, Print]:
    return {name: partial(_with, function, given) for name, given in names.items()}


def _with(function: Callable[..., None], given: str, printer: Printer, op: ir.Operation) -> None:
    function(printer, op, given)


NUMBERS: Mapping[str, Print] = {
    **_partials(_float, {f"arith.{name}f": sign for name, sign in SIGNS.items()}),
    **_partials(_integer, {f"arith.{name}i": f"{name}i" for name in ("add", "sub", "mul")}),
    **_partials(_bits, {"arith.andi": "&", "arith.ori": "|", "arith.xori": "^"}),
    **_partials(_call, {name: name.removeprefix("arith.") for name in _BINARY_CALLS}),
    **_partials(_extreme, {f"arith.{name}": name for name in ("maximumf", "minimumf")}),
    **_partials(_call, {f"math.{name}": name for name in _MATH}),
    "arith.negf": _negate,
    "arith.cmpf": _compare_floats,
    "arith.cmpi": _compare_integers,
    "arith.select": _select,
    **_partials(_call, {"math.fma": "fused", "llvm.intr.fmuladd": "fma"}),
    "llvm.call_intrinsic": print_intrinsic,
}
"""The ops of arithmetic, and how they are printed."""
