"""Operands of operators of torch during an import, and their conversion to parameters of rules.

An operand is an IR value, a `Complex`, an unused weight, or a known value: a number, a size that
depends on symbols, or a list of operands.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ....dialects.core.errors import Invalid, Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import is_symbolic
from ....dialects.core.tensor import Array, is_integer
from ..core.main_function import MainFunction
from ..core.random_numbers import Draws, RandomNumbers
from ..core.sizes.found_sizes import FoundSizes
from ..core.values import number, tensor
from .node import Weight
from .registry import Complex, Slot

AXES = ("dim", "dims", "dim0", "dim1", "axis")
"""Parameters that name axes, on which the rank or the type of a result depends."""

NUMBERS = (bool, int, float, complex)
LISTS = {tuple[int, ...]: (int,), tuple[float, ...]: (int, float), tuple[str, ...]: (str,)}
"""The types of the elements of a tuple, by the annotation of the parameter."""


class Converter:
    """Make what a parameter takes of what the graph has for it.

    A weight becomes one constant, however often it is used; `names` has those of free weights, as a
    value and as an operator. `random` draws numbers; `iteration` sets what else they are of.
    """

    def __init__(self, main: MainFunction) -> None:
        self.main = main
        self.random = RandomNumbers(Draws(main))
        self.names: dict[Weight, tuple[str, str]] = {}
        self._made: dict[Weight, ir.Value | Complex] = {}

    @contextmanager
    def iteration(self, number: ir.Value) -> Generator[None]:
        """Draw numbers that are others in each iteration of a loop, whose body is built here."""
        outside = self.random
        self.random = replace(outside, iterations=(*outside.iterations, number))
        try:
            yield
        finally:
            self.random = outside

    def __call__(self, given: Any, slot: Slot, name: str) -> Any:
        """Return `given` as the first thing that the slot takes and that it can be.

        `name` is a name for a constant that may come of it. Raises Invalid when it can be none, and
        NeedsValue when it had to be known.
        """
        if Any in slot.takes:
            return given
        if isinstance(given, Weight):
            return self._weight(given, slot, name)
        if isinstance(given, Complex):
            if Complex in slot.takes:
                return given
            raise Unsupported(f"has complex numbers as '{slot.name}', must be real")
        if isinstance(given, ir.Value):
            if ir.Value in slot.takes:
                return given
            if set(slot.takes) <= {list, Complex}:
                raise Invalid(f"has {slot.name} {_spell(given)}, must be {_expected(slot)}")
            given = self._known(given, slot)
        if isinstance(given, list):
            given = self._list(cast("list[Any]", given), slot)
        if given is None and not slot.required:
            return slot.default
        made = plain(given, slot.takes)
        if made is not None:
            return made
        if ir.Value in slot.takes and is_symbolic(cast("Any", given)):
            return number(cast("Any", given))
        if ir.Value in slot.takes and isinstance(given, (np.ndarray, *NUMBERS)):
            return self.main.constant(name, as_array(given))
        raise Invalid(f"has {slot.name} {_spell(given)}, must be {_expected(slot)}")

    def _known(self, given: ir.Value, slot: Slot) -> Any:
        """Return the numbers of a value: an array, or sizes where the slot takes integers.

        Raises NeedsValue for a value that depends on inputs, Undecided for one of symbols where the
        slot must have numbers.
        """
        what = f"input '{slot.name}'"
        array = self.main.evaluate(given)
        if array is not None or not {int, tuple[int, ...]} & {*slot.takes}:
            return self.main.known(given, what)
        sizes = self._sizes(given, slot, what)
        return sizes if tensor(given).rank else sizes[0]

    def _sizes(self, given: ir.Value, slot: Slot, what: str) -> tuple[int, ...]:
        """Return the elements of a value as sizes, which may be found when the model runs."""
        if slot.name in AXES or not is_integer(tensor(given).dtype):
            return self.main.sizes(given, what)
        return FoundSizes(self.main).compute(given)

    def _weight(self, given: Weight, slot: Slot, name: str) -> Any:
        if Complex in slot.takes or given.is_complex:
            return self(self.value(given, name), slot, name)
        if ir.Value in slot.takes:
            return self.value(given, name)
        return self(given.array(), slot, name)

    def value(self, given: Any, name: str) -> ir.Value | Complex:
        """Return an operand as a value, complex numbers as their parts; Invalid for a list."""
        if isinstance(given, Weight):
            if given not in self._made:
                value, node = self.names.get(given, (name, ""))
                self._made[given] = self._constant(value, given.array(), node)
            return self._made[given]
        if isinstance(given, (ir.Value, Complex)):
            return given
        if is_symbolic(given):
            return number(given)
        if isinstance(given, (np.ndarray, *NUMBERS)):
            return self._constant(name, as_array(given))
        raise Invalid(f"has {_spell(given)} for operand '{name}', must be a tensor")

    def materialized(self, made: Any, name: str, node: str) -> Any:
        """Turn an array that a rule returns into a constant; return anything else unchanged."""
        if not isinstance(made, np.ndarray):
            return made
        return self._constant(name, cast("Array", made), node)

    def _constant(self, name: str, array: Array, node: str = "") -> ir.Value | Complex:
        if array.dtype.kind != "c":
            return self.main.constant(name, array, node)
        return Complex(self.main.constant(name, parts_of(array), node))

    def _list(self, given: list[Any], slot: Slot) -> Any:
        """Return a list as the rule takes it, or its elements, which must then be known."""
        if list in slot.takes:
            return given
        elements = [self._element(each, slot) for each in given]
        return tuple(elements)

    def _element(self, given: Any, slot: Slot) -> Any:
        if isinstance(given, ir.Value):
            given = self._known(given, slot)
        if isinstance(given, Weight):
            given = given.array()
        if not isinstance(given, np.ndarray):
            return given
        array = cast("Array", given)
        return array.reshape(()).item() if array.size == 1 else array


def plain(given: Any, takes: tuple[Any, ...]) -> Any:
    """Return a plain value as one of the kinds of Python value, or None when it is none of them."""
    if np.ndarray in map(_origin, takes) and _is_numeric(given):
        return as_array(given)
    given = _numbers(cast("Array", given)) if isinstance(given, np.ndarray) else given
    for kind in takes:
        if kind in LISTS and _all_are(given, LISTS[kind]):
            return given
        if isinstance(kind, type) and _kind_of(given) is kind:
            return given
    return _widened(given, takes)


def _numbers(array: Array) -> Any:
    """Return an array as a number, or as a tuple of all its numbers."""
    return array.item() if array.ndim == 0 else tuple(array.reshape(-1).tolist())


def _widened(given: Any, takes: tuple[Any, ...]) -> Any:
    """Return an int as a float, or a number as a tuple, where the parameter requires it."""
    type_ = _kind_of(given)
    if type_ is int and float in takes:
        return float(given)
    if isinstance(given, tuple) and len(cast("tuple[Any, ...]", given)) == 1:
        (only,) = cast("tuple[Any, ...]", given)
        return plain(only, tuple(kind for kind in takes if kind in NUMBERS))
    for kind, elements in LISTS.items():
        if kind in takes and type_ in elements:
            return (given,)
    return None


def as_array(given: Any) -> Array:
    """Return numbers as torch would take them: integers are i64, floats f32."""
    if isinstance(given, np.ndarray):
        return cast("Array", given)
    array: Array = np.array(given)
    narrow = {"f": np.float32, "c": np.complex64, "i": np.int64}.get(array.dtype.kind)
    return array if narrow is None else array.astype(narrow)


def parts_of(array: Array) -> Array:
    """Return complex numbers as real ones, with an axis for the parts at the end."""
    real = np.float64 if array.dtype == np.complex128 else np.float32
    return np.ascontiguousarray(array).view(real).reshape(*array.shape, 2)


def _is_numeric(given: Any) -> bool:
    if isinstance(given, tuple):
        return all(type(each) in NUMBERS for each in cast("tuple[Any, ...]", given))
    return isinstance(given, (np.ndarray, *NUMBERS))


def _all_are(given: Any, types: tuple[type, ...]) -> bool:
    return isinstance(given, tuple) and all(
        _kind_of(each) in types for each in cast("tuple[Any, ...]", given)
    )


def _kind_of(given: Any) -> type[Any]:
    """Return the Python type of a value; sizes that depend on symbols are ints."""
    return int if is_symbolic(given) else cast("type[Any]", type(given))


def _origin(kind: Any) -> Any:
    return getattr(kind, "__origin__", kind)


def _spell(given: Any) -> str:
    if isinstance(given, (Complex, ir.Value, Weight)):
        return "a tensor"
    return f"'{given}'" if isinstance(given, str) else str(given)


def _expected(slot: Slot) -> str:
    spelled = {
        bool: "a bool",
        int: "an integer",
        float: "a number",
        str: "a word",
        list: "a list of tensors",
        ir.Value: "a tensor",
        Complex: "a complex tensor",
        tuple[int, ...]: "integers",
        tuple[float, ...]: "numbers",
        tuple[str, ...]: "words",
    }
    return " or ".join(dict.fromkeys(spelled.get(kind, "numbers") for kind in slot.takes))
