"""Read typed values of a header by key, and gather what is wrong with them."""

import math
from typing import Any, TypeGuard

import numpy as np

from ....dialects.core.errors import Diagnostic
from .file import GgufFile, Value

HARMLESS = frozenset({"vocab_size", "rope.scaling.finetuned"})
"""Keys that tell nothing that tensors do not tell, or only how a model was trained."""

EXPERTS = "expert_count"


class Settings:
    """Read the keys of one architecture; `faults` has those that are missing or wrong."""

    def __init__(self, file: GgufFile, architecture: str) -> None:
        self.architecture = architecture
        self.faults: list[Diagnostic] = []
        self._metadata = file.metadata
        self._prefix = f"{architecture}."
        self._read: set[str] = set()

    def integer(self, key: str, default: int | None = None, least: int = 1, most: int = 0) -> int:
        """Return an integer from `least` on, up to `most` if that is not 0.

        An array of equal integers is one.
        """
        found = _only(self._value(key))
        if found is None and default is not None:
            return default
        if _is_integer(found) and least <= found <= (most or found):
            return found
        upto = f"from {least} on" if not most else f"in [{least}, {most}]"
        self._fault(key, found, f"an integer {upto}, the same for all layers")
        return least if default is None else default

    def real(self, key: str, default: float | None = None, above: float = 0.0) -> float:
        """Return a finite number that is greater than `above`."""
        found = self._value(key)
        if found is None and default is not None:
            return default
        if _is_real(found) and math.isfinite(found) and found > above:
            return float(found)
        self._fault(key, found, f"a number above {above:g}")
        return default or 1.0

    def text(self, key: str, default: str, known: tuple[str, ...]) -> str:
        """Return a text that is one of those that are known."""
        found = self._value(key)
        if found is None:
            return default
        if found not in known:
            self._fault(key, found, f"one of {', '.join(known)}")
        return str(found)

    def pattern(self, key: str, layers: int, period: int) -> tuple[bool, ...]:
        """Return for each layer whether it has a window: all but the last one of each period.

        The key has the period, or a flag for each layer.
        """
        found = self._value(key)
        if isinstance(found, np.ndarray):
            flags: list[object] = found.tolist()
            if len(flags) == layers:
                return tuple(bool(each) for each in flags)
        elif found is None or (_is_integer(found) and found >= 0):
            period = period if found is None else found
            return tuple(not period or layer % period < period - 1 for layer in range(layers))
        self._fault(key, found, f"a period, or {layers} flags")
        return (False,) * layers

    def fixed(self, key: str, value: float | bool) -> None:
        """Note a key that has another value than the one that is supported."""
        found = self._value(key)
        if found is not None and (isinstance(found, np.ndarray) or found != value):
            self._fault(key, found, f"{value}, which alone is supported")

    def refuse_others(self) -> None:
        """Note all keys of the architecture that nothing has read and that are not zero."""
        for key, value in self._metadata.items():
            name = key.removeprefix(self._prefix)
            if name == key or name in self._read or name in HARMLESS:
                continue
            if isinstance(value, int | float) and not value:
                continue
            what = f"is {_spelled(value)}, which is not supported"
            if name == EXPERTS:
                what = f"is {value}: experts of this architecture are not supported"
            self.faults.append(Diagnostic(key, f"key {what}"))

    def _value(self, key: str) -> Value | None:
        self._read.add(key)
        return self._metadata.get(self._prefix + key)

    def _fault(self, key: str, found: Value | None, must: str) -> None:
        have = "is missing" if found is None else f"is {_spelled(found)}"
        self.faults.append(Diagnostic(self._prefix + key, f"key {have}, must be {must}"))


def _is_integer(found: Value | None) -> TypeGuard[int]:
    return isinstance(found, int) and not isinstance(found, bool)


def _is_real(found: Value | None) -> TypeGuard[int | float]:
    return isinstance(found, int | float) and not isinstance(found, bool)


def _only(found: Value | None) -> Value | None:
    """Return the one element of an array of equal ones; anything else as it is."""
    if not isinstance(found, np.ndarray):
        return found
    elements: list[Any] = found.tolist()
    return elements[0] if len({*elements}) == 1 else found


def _spelled(value: Value) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    return "an array" if isinstance(value, np.ndarray) else str(value)
