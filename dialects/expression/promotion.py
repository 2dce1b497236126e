"""The element types of expressions, by the rules of torch.

Source: torch, "Tensor Attributes", type promotion; checked against torch itself by the tests.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.errors import Invalid, Unsupported
from ..core.sizes.atoms import is_symbolic
from ..core.tensor import DTYPES, Tensor
from .functions import FUNCTIONS, Function

Number = bool | int | float
"""A number of Python: a literal, the size of an axis, or a result of such numbers alone."""

PNNX_DTYPES = ("f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "ui8", "i1")
"""The element types that tensors of PNNX have, complex ones aside."""

DEFAULT_FLOAT = "f32"
"""The type that a number of Python takes where it makes a float of integers."""

_KINDS = {"bool": "bool", "int": "int", "uint": "int", "float": "float"}
_RANKS = ("bool", "int", "float")
_WORDS = {"bool": "bools", "int": "integers", "float": "floats"}


class Signature(NamedTuple):
    """The element types that a function computes in, and that its result has."""

    operands: str
    result: str


def signature(function: Function, arguments: Sequence[Any]) -> Signature:
    """Return the element types of a function of tensor types and numbers.

    Of numbers alone, floats are f64. Raises Invalid for arguments that the function does not take,
    Unsupported for complex ones.
    """
    for argument in arguments:
        _check(function, argument)
    numbers_only = not any(isinstance(a, Tensor) for a in arguments)
    default = "f64" if numbers_only else DEFAULT_FLOAT
    common = promote(arguments, default)
    kind = kind_of(common)
    # Bools are never subtracted, not even from numbers.
    kinds = [kind, *(kind_of(promote([a])) for a in arguments if function.name == "sub")]
    for found in kinds:
        if found not in function.takes:
            words = " or ".join(_WORDS[k] for k in function.takes)
            raise Invalid(f"'{function.name}' takes {_WORDS[found]}, must be {words}")
    _check_integers(function, kind, arguments[-1])
    if function.makes == "float":
        common = common if kind == "float" else default
    elif function.makes:
        made = default if function.makes == "f32" else function.makes
        return Signature(common, made)
    elif function.name == "square" and kind == "bool":
        common = "i64"
    return Signature(common, common)


def simplified(function: Function, arguments: Sequence[Any]) -> tuple[Function, Sequence[Any]]:
    """Return the function that torch computes: roots for two powers, which differ from them.

    Of -0 and -inf, the power 0.5 would be 0 and inf, the root is -0 and NaN. In f16, where torch
    has the power, these are roots, too.
    """
    if function.name == "pow" and isinstance(arguments[1], float) and abs(arguments[1]) == 0.5:
        return FUNCTIONS["sqrt" if arguments[1] > 0 else "rsqrt"], arguments[:1]
    return function, arguments


def promote(values: Sequence[Any], default: str = DEFAULT_FLOAT) -> str:
    """Return the element type that tensor types and numbers have in common.

    Tensors with axes come first, then those without, then numbers: a later category counts only
    when it is of a higher kind, of bools, integers and floats. `default` is that of a float number.
    """
    with_axes, without, numbers = "", "", ""
    for value in values:
        if not isinstance(value, Tensor):
            numbers = _joined(numbers, number_dtype(value, default))
        elif value.shape:
            with_axes = _joined(with_axes, value.dtype)
        else:
            without = _joined(without, value.dtype)
    return _over(with_axes, _over(without, numbers))


def number_dtype(value: Any, default: str = DEFAULT_FLOAT) -> str:
    """Return the element type of a number of Python, or of a size that depends on a run."""
    if isinstance(value, bool):
        return "i1"
    return "i64" if isinstance(value, int) or is_symbolic(value) else default


def is_number(value: Any) -> bool:
    """Return whether a value is a number of Python, or a size that depends on a run."""
    return isinstance(value, bool | int | float) or is_symbolic(value)


def kind_of(dtype: str) -> str:
    """Return "bool", "int" or "float"."""
    return _KINDS[DTYPES[dtype].kind]


def _over(higher: str, lower: str) -> str:
    """Return the type of the higher category, unless the lower one is of a higher kind."""
    if not higher or not lower:
        return higher or lower
    if _RANKS.index(kind_of(lower)) > _RANKS.index(kind_of(higher)):
        return lower
    return higher


def _joined(a: str, b: str) -> str:
    """Return the least type with the values of both; integers fit any float."""
    if not a or not b or a == b:
        return a or b
    ranks = [_RANKS.index(kind_of(dtype)) for dtype in (a, b)]
    if ranks[0] != ranks[1]:
        return a if ranks[0] > ranks[1] else b
    small, large = sorted((a, b), key=lambda dtype: DTYPES[dtype].bits)
    if DTYPES[small].bits < DTYPES[large].bits:
        return large
    return "f32" if kind_of(a) == "float" else "i16"  # f16 and bf16, or i8 and ui8


def _check(function: Function, argument: Any) -> None:
    if isinstance(argument, complex):
        spelled = str(argument).strip("()")
        raise Unsupported(f"'{function.name}' takes {spelled}, tri has no complex element types")
    if isinstance(argument, Tensor):
        if argument.dtype not in PNNX_DTYPES:
            known = ", ".join(PNNX_DTYPES)
            raise Invalid(f"'{function.name}' takes {argument}, must have one of {known}")
    elif not is_number(argument):
        raise Invalid(f"'{function.name}' takes {argument}, must be a tensor or a number")


def _check_integers(function: Function, kind: str, last: Any) -> None:
    """Raise Invalid for a function of integers and a number that torch refuses."""
    if kind != "int" or isinstance(last, Tensor):
        return
    if function.name in ("floor_divide", "fmod", "remainder") and last == 0:
        raise Invalid(f"'{function.name}' divides integers by zero")
    if function.name == "pow" and last < 0:
        raise Invalid(f"'pow' raises integers to the power {last}, must not be negative")
