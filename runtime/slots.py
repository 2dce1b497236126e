"""Accept the arrays of a caller, in place where possible, and refuse those that do not fit."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .contents import Port
from .dtypes import resolve, stored
from .errors import RunError
from .frozen import Frozen
from .memory import Bound
from .sizes.size_expressions import Size
from .strings import text_array

_LITERALS = (bool, int, float, complex, list, tuple, range)
_CONVERSION_ERRORS = (TypeError, ValueError, RuntimeError, BufferError, OverflowError)
_WHOLE = ("bool", "int", "uint")


class Slot(Frozen):
    """Know what array one input or output takes, and the base it is bound to.

    Sizes may be texts, which any size of an array fits; the plan of a run has numbers.
    """

    name: str
    base: int
    shape: tuple[Size, ...]
    dtype: np.dtype[Any]

    @staticmethod
    def of(port: Port, base: int) -> "Slot":
        """Return the slot of a port."""
        return Slot(port.name, base, port.shape, resolve(port.dtype))

    @property
    def holds_text(self) -> bool:
        """Return whether elements are strings, of which memory has handles."""
        return self.dtype == object

    def take(self, value: object) -> NDArray[Any]:
        """Return an input as an array that native code can read, copied only if it must be.

        Strings are returned as Python strings.
        """
        try:
            if self.holds_text:
                array = text_array(value)
                self.check("input", array.shape, array.dtype)
                return array
            # Exact types: a numpy float64 is a float, yet it has a type of its own.
            array = self._convert(value) if type(value) in _LITERALS else _array_of(value)
            if array.dtype == object:
                raise TypeError("it holds Python objects")
            self.check("input", array.shape, array.dtype)
            flags = array.flags
            return array if flags.c_contiguous and flags.aligned else np.array(array, order="C")
        except MemoryError:
            raise self._no_memory("a copy of input") from None
        except _CONVERSION_ERRORS as error:
            reason = str(error).partition("\n")[0]
            raise RunError(
                f"input '{self.name}' is of type {type(value).__name__}, must convert to a numpy "
                f"array: {reason}"
            ) from None

    def adopt(self, array: object, role: str = "output") -> NDArray[Any]:
        """Return an array of the caller, to be written in place: an output, or an updated input."""
        if self.holds_text:
            raise RunError(f"{role} '{self.name}' has text, which is not written in place")
        if not isinstance(array, np.ndarray):
            raise RunError(
                f"{role} '{self.name}' is of type {type(array).__name__}, must be a numpy array"
            )
        output = cast("NDArray[Any]", array)
        self.check(role, output.shape, output.dtype)
        flags = output.flags
        if not (flags.c_contiguous and flags.aligned and flags.writeable):
            raise RunError(f"{role} '{self.name}' must be contiguous, aligned and writable")
        return output

    def create(self) -> NDArray[Any]:
        """Return a fresh output, or the memory for the handles of its strings."""
        try:
            return np.empty(self.shape, stored(self.dtype.name))
        except MemoryError:
            raise self._no_memory("output") from None

    @property
    def _is_symbolic(self) -> bool:
        """Return whether a size is a text, which the arrays of a run give a number."""
        return any(type(size) is not int for size in self.shape)

    def _may_be(self, shape: tuple[int, ...]) -> bool:
        """Return whether an array of a shape fits, if symbols have the right values."""
        return len(shape) == len(self.shape) and all(
            type(size) is not int or size == given
            for size, given in zip(self.shape, shape, strict=True)
        )

    def _no_memory(self, role: str) -> RunError:
        size = "too many"
        if not self._is_symbolic:
            size = math.prod(self.shape) * self.dtype.itemsize
        return RunError(f"{role} '{self.name}' takes {size} bytes, the system has less")

    def check(self, role: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise RunError unless shape and type are those of the slot."""
        if shape != self.shape and not self._may_be(shape):
            wanted = str(self.shape).replace("'", "")
            raise RunError(f"{role} '{self.name}' has shape {shape}, must be {wanted}")
        if dtype != self.dtype:
            raise RunError(
                f"{role} '{self.name}' is {dtype}, must be {self.dtype}: convert it first"
            )

    def _convert(self, literal: object) -> NDArray[Any]:
        """Convert Python numbers, which have no type of their own, unless that changes them."""
        count = len(cast("Sequence[Any]", literal)) if isinstance(literal, Sequence) else 1
        if not self._is_symbolic and count > max(1, math.prod(self.shape)):
            raise RunError(f"input '{self.name}' has {count} rows, must have shape {self.shape}")
        try:
            given = np.asarray(literal)
            if given.size and given.dtype.kind not in _sources(self.dtype):
                raise ValueError(f"{given.dtype} does not become {self.dtype}")
            with np.errstate(over="ignore"):
                array = given.astype(self.dtype)
        except (TypeError, ValueError, OverflowError) as error:
            raise RunError(f"input '{self.name}' cannot be converted: {error}") from None
        if not _survives(given, array):
            raise RunError(f"input '{self.name}' has values that {self.dtype} does not hold")
        return array


def _array_of(value: object) -> NDArray[Any]:
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return np.from_dlpack(cast("Any", value))
    return np.asarray(value)


def _sources(dtype: np.dtype[Any]) -> str:
    """Return the kinds of numbers that may become `dtype`."""
    if dtype.name.startswith(_WHOLE):
        return "bui"
    return "buifc" if dtype.kind == "c" else "buif"


def _survives(given: NDArray[Any], array: NDArray[Any]) -> bool:
    if array.dtype.name.startswith(_WHOLE):
        # As Python numbers, for numpy compares int64 with uint64 by way of float64.
        return given.tolist() == array.astype(object).tolist()
    # Rounding is what a literal asks for, turning into infinity is not.
    wide = np.complex128 if array.dtype.kind == "c" else np.float64
    return bool(np.all(np.isfinite(array.astype(wide)) | ~np.isfinite(given)))


def overlap(array: Bound, others: Sequence[Bound]) -> bool:
    """Return whether a contiguous array shares memory with one of the others."""
    return any(_overlap(array, other) for other in others)


def _overlap(one: Bound, other: Bound) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.may_share_memory(one, other)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False
    first, last = sorted((one, other), key=lambda array: array.address)
    return bool(last.nbytes) and first.address + first.nbytes > last.address


def is_on_device(value: object) -> bool:
    """Return whether a caller's value is an array in the memory of a GPU."""
    if isinstance(value, np.ndarray):
        return False
    if not hasattr(value, "__dlpack_device__") and not hasattr(value, "__cuda_array_interface__"):
        return False
    from .gpu.exchange import on_device

    return on_device(value)


def shape_of(value: object) -> tuple[int, ...]:
    """Return the shape of an array, in any memory."""
    if isinstance(value, np.ndarray):
        return cast("NDArray[Any]", value).shape
    from .gpu.exchange import shape_on_device

    return shape_on_device(value)


def by_name(argument: str, given: object, slots: Sequence[Slot]) -> Mapping[str, object]:
    """Return arrays that are given by name; raise RunError for anything but a mapping."""
    if isinstance(given, Mapping):
        return cast("Mapping[str, object]", given)
    raise RunError(
        f"{argument} is of type {type(given).__name__}, must be a dictionary of arrays by name: "
        f"{quote(slot.name for slot in slots)}"
    )


def check_known(role: str, given: Mapping[str, object], slots: Sequence[Slot]) -> None:
    """Raise RunError for a name that no slot has."""
    names = [slot.name for slot in slots]
    for name in given:
        if name not in names:
            raise RunError(f"no {role} is named '{name}', there are {quote(names)}")


def wrong_names(feeds: Mapping[str, object], slots: Sequence[Slot]) -> RunError:
    """Return the error for feeds that are not those of the inputs."""
    names = [slot.name for slot in slots]
    unknown = [name for name in feeds if name not in names]
    missing = [name for name in names if name not in feeds]
    parts = [f"no input is named {quote(unknown)}"] if unknown else []
    parts += [f"input {quote(missing)} is missing"] if missing else []
    return RunError(f"{' and '.join(parts)}; the inputs are {quote(names)}")


def quote(names: Iterable[str]) -> str:
    """Spell names in a message."""
    return ", ".join(f"'{name}'" for name in names) or "none"
