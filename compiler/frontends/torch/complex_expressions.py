"""Expressions of complex numbers, as those of their real and imaginary parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ....dialects import tri
from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import broadcast
from ....dialects.expression import Formula, Function, Literal, evaluate, given, parse
from ..core.values import tensor
from .expressions import apply, compute
from .promotion import Operand, promote
from .registry import Complex, Value
from .views import cut, expand, reshape, shape_of

PARTS: dict[str, tuple[str, str]] = {
    "add": ("add(@0,@2)", "add(@1,@3)"),
    "cos": ("mul(cos(@0),cosh(@1))", "neg(mul(sin(@0),sinh(@1)))"),
    "cosh": ("mul(cosh(@0),cos(@1))", "mul(sinh(@0),sin(@1))"),
    "div": (
        "div(add(mul(@0,@2),mul(@1,@3)),add(square(@2),square(@3)))",
        "div(sub(mul(@1,@2),mul(@0,@3)),add(square(@2),square(@3)))",
    ),
    "exp": ("mul(exp(@0),cos(@1))", "mul(exp(@0),sin(@1))"),
    "int": ("@0", "@1"),
    "log": ("log(sqrt(add(square(@0),square(@1))))", "atan2(@1,@0)"),
    "mul": ("sub(mul(@0,@2),mul(@1,@3))", "add(mul(@0,@3),mul(@1,@2))"),
    "neg": ("neg(@0)", "neg(@1)"),
    "reciprocal": (
        "div(@0,add(square(@0),square(@1)))",
        "neg(div(@1,add(square(@0),square(@1))))",
    ),
    "sin": ("mul(sin(@0),cosh(@1))", "mul(cos(@0),sinh(@1))"),
    "sinh": ("mul(sinh(@0),cos(@1))", "mul(cosh(@0),sin(@1))"),
    "square": ("sub(square(@0),square(@1))", "mul(2,mul(@0,@1))"),
    "sub": ("sub(@0,@2)", "sub(@1,@3)"),
}
"""The parts of each function: `@0` and `@1` are those of its first argument, then the second's."""

WHOLE_POWERS = (1, 2, 3, 4)
"""The exponents of powers that are products."""

ABS = "sqrt(add(square(@0),square(@1)))"


AnyOperand = Operand | Complex | complex
"""An operand of arithmetic, real or complex."""


@dataclass(frozen=True)
class _Pair:
    """A complex number, or a tensor of them: its parts are tensors or numbers."""

    real: Any
    imaginary: Any


def apply_any(text: str, *operands: AnyOperand) -> Any:
    """Compute an expression of tensors and numbers, real or complex."""
    return compute_any(parse(text), operands)


def has_complex(formula: Formula, operands: Sequence[Any]) -> bool:
    """Return whether an expression names a complex number."""
    named = [operands[i] for i in formula.references if i < len(operands)]
    symbols = [node.symbol for root in formula.roots for node in root.postfix()]
    literals = [symbol.value for symbol in symbols if isinstance(symbol, Literal)]
    return any(isinstance(value, (Complex, complex)) for value in (*named, *literals))


def compute_any(formula: Formula, operands: Sequence[Any]) -> Any:
    """Compute an expression with one root, of real or of complex operands."""
    if has_complex(formula, operands):
        return compute_complex(formula, operands)
    return compute(formula, operands)


def compute_complex(formula: Formula, operands: Sequence[Any]) -> Complex | complex | Any:
    """Compute an expression with one root; Unsupported for a function that has no parts here."""
    (made,) = evaluate(formula, _leaves(operands), _apply)
    if not isinstance(made, _Pair):
        return made
    if isinstance(made.real, ir.Value) or isinstance(made.imaginary, ir.Value):
        return joined(made.real, made.imaginary)
    return complex(made.real, made.imaginary)


def _leaves(operands: Sequence[Any]) -> Any:
    find = given(operands)

    def leaf(symbol: Any) -> Any:
        value = find(symbol)
        if isinstance(value, complex):
            return _Pair(value.real, value.imag)
        return _Pair(*split(value)) if isinstance(value, Complex) else value

    return leaf


def _apply(function: Function, arguments: Sequence[Any]) -> Any:
    if not any(isinstance(argument, _Pair) for argument in arguments):
        places = ",".join(f"@{i}" for i in range(len(arguments)))
        return apply(f"{function.name}({places})", *arguments)
    pairs = [a if isinstance(a, _Pair) else _Pair(a, 0.0) for a in arguments]
    parts = [part for pair in pairs for part in (pair.real, pair.imaginary)]
    if function.name == "abs":
        return apply(ABS, *parts)
    if function.name == "size":
        axis = arguments[1:]
        return apply("size(@0,@1)" if axis else "size(@0)", pairs[0].real, *axis)
    if function.name == "pow" and arguments[1] in WHOLE_POWERS:
        return _power(pairs[0], int(arguments[1]))
    if function.name not in PARTS:
        raise Unsupported(f"has '{function.name}' of complex numbers, must be of real ones")
    return _Pair(*(apply(text, *parts) for text in PARTS[function.name]))


def _power(x: _Pair, exponent: int) -> _Pair:
    """Multiply a complex number by itself."""
    product = x
    for _ in range(exponent - 1):
        parts = product.real, product.imaginary, x.real, x.imaginary
        product = _Pair(*(apply(text, *parts) for text in PARTS["mul"]))
    return product


def parts_of(x: AnyOperand) -> tuple[Any, Any]:
    """Return the real and the imaginary part of an operand; that of a real one is 0."""
    if isinstance(x, Complex):
        return split(x)
    return (x.real, x.imag) if isinstance(x, complex) else (x, 0.0)


def split(x: Complex) -> tuple[Value, Value]:
    """Return the real and the imaginary part of a tensor."""
    axis, shape = len(shape_of(x)), shape_of(x)
    first, second = (reshape(cut(x.parts, axis, i, i + 1), shape) for i in (0, 1))
    return first, second


def joined(real: Any, imaginary: Any) -> Complex:
    """Return a complex tensor of its parts, tensors or numbers, which broadcast."""
    first, second = promote(real, imaginary)
    shape = broadcast(tensor(first).shape, tensor(second).shape)
    wide = [reshape(expand(part, shape), (*shape, 1)) for part in (first, second)]
    return Complex(tri.Concat.build(wide, axis=len(shape)).y)
