"""The functions of expressions: the number and kinds of their arguments, and of their results."""

from dataclasses import dataclass

ANY = ("bool", "int", "float")
NUMBERS = ("int", "float")
BITS = ("bool", "int")


@dataclass(frozen=True)
class Function:
    """Describe one function.

    The arguments are brought to one element type, which must be of a kind that the function
    `takes`. The result has that type when `makes` is empty; "float" makes f32 of bools and
    integers before the function is computed; an element type is that of the result.
    """

    name: str
    arity: int
    takes: tuple[str, ...] = ANY
    makes: str = ""


FLOAT_FUNCTIONS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "exp", "expm1"),
    *("log", "log10", "log1p", "reciprocal", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh"),
)
"""The functions of one argument that are of floats."""

_UNARY = (
    *(Function(name, 1, makes="float") for name in FLOAT_FUNCTIONS),
    *(Function(name, 1, NUMBERS) for name in ("abs", "ceil", "floor", "neg", "round", "trunc")),
    *(Function(name, 1) for name in ("int", "sign", "square")),
    Function("torch.bool", 1, makes="i1"),
    Function("torch.float", 1, makes="f32"),
    Function("torch.long", 1, makes="i64"),
)
_BINARY = (
    *(Function(name, 2) for name in ("add", "mul", "max", "maximum", "min", "minimum")),
    *(Function(name, 2, makes="float") for name in ("atan2", "div")),
    *(Function(n, 2, NUMBERS) for n in ("floor_divide", "fmod", "pow", "remainder", "sub")),
    *(Function(name, 2, BITS) for name in ("and", "or", "xor")),
    *(Function(name, 2, ("int",)) for name in ("lshift", "rshift")),
    Function("logaddexp", 2, ("float",)),
)

SIZE = Function("size", 2)
"""The size of a tensor's axis, a number; with one argument, those of all axes, a list."""

FUNCTIONS = {function.name: function for function in (*_UNARY, *_BINARY, SIZE)}
"""All functions by their names."""
