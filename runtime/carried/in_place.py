"""Inputs that a run updates in place: the array of an input becomes its new value."""

from collections.abc import Callable, Collection, Iterable, Sequence
from ctypes import Array, c_void_p
from typing import Any, TypeAlias

from numpy.typing import NDArray

from ..slots import Slot

Span: TypeAlias = tuple[int, int, bool, str]
"""Where an array begins and ends, whether a run writes to it, and the name of its port."""

OverlapTest: TypeAlias = Callable[[Sequence[NDArray[Any]], "Array[c_void_p]"], bool]
"""Returns whether arrays overlap that must not, given the arrays and the addresses of all bases."""


def overlapping(spans: Iterable[Span]) -> tuple[str, str] | None:
    """Return two ports that share memory of which a run writes to one; None where none do."""
    end = written_end = 0
    name = written_name = ""
    for start, stop, is_written, own in sorted(spans):
        if start == stop:
            continue
        if start < written_end:
            return written_name, own
        if is_written and start < end:
            return name, own
        if stop > end:
            end, name = stop, own
        if is_written:
            written_end, written_name = stop, own
    return None


def overlap_test(inputs: Sequence[Slot], updated: Collection[str]) -> OverlapTest | None:
    """Return the test of inputs that are fed; None where none of them is `updated`."""
    if not any(slot.name in updated for slot in inputs):
        return None
    ports = [(slot.base, slot.name in updated, slot.name) for slot in inputs]

    def overlaps(arrays: Sequence[NDArray[Any]], addresses: "Array[c_void_p]") -> bool:
        spans: list[Span] = []
        for base, is_written, name in ports:
            start: int = addresses[base] or 0
            spans.append((start, start + arrays[base].nbytes, is_written, name))
        return overlapping(spans) is not None

    return overlaps
