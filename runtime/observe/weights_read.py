"""The constants of a package that a run, a part of a run, or its load steps read."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..contents import ABSENT, WEIGHTS, Contents
from ..file.checked_entries import Span
from ..step import Step, all_steps
from .calls import CallTable

if TYPE_CHECKING:
    from ..package import Package
    from .selection import Selection

Spans = tuple[Span, ...] | None
"""Which bytes of the constants are read; None for all of them."""


def read_by_any(package: "Package") -> Spans:
    """Return the bytes that any step of a program reads: another program may read others."""
    return _spans(package.manifest, range(len(package.manifest.buffers)))


def read_at_load(package: "Package") -> Spans:
    """Return the bytes that the load steps read."""
    return _read(package, package.manifest.load_steps, None)


def read_by_part(package: "Package", selection: "Selection") -> Spans:
    """Return the bytes that a part of a run reads, and those of outputs that are constants."""
    steps = [package.manifest.steps[number] for number in selection.steps]
    return _read(package, steps, selection)


def _read(package: "Package", steps: Iterable[Step], selection: "Selection | None") -> Spans:
    """Return what steps read; all where native code does not list its calls."""
    calls, numbers = CallTable(package), set[int]()
    for step in all_steps(tuple(steps)):
        listed = calls.of(step)
        if not listed and not step.lists_buffers:
            return None
        skipped = () if selection is None else selection.skipped.get(id(step), ())
        numbers.update(*(c.reads for i, c in enumerate(listed) if i not in skipped))
        numbers.update(step.operands, step.taken, (use.buffer for use in step.uses()))
    if selection is not None:
        outputs = package.manifest.outputs
        numbers.update(port.buffer for port in outputs if port.name in selection.outputs)
    return _spans(package.manifest, numbers)


def _spans(contents: Contents, numbers: Iterable[int]) -> Spans:
    """Return where buffers, by their numbers, are in the constants; None if a size is no number."""
    listed = {n for n in numbers if n != ABSENT and contents.buffers[n].base == WEIGHTS}
    if listed & contents.symbolic_buffers:
        return None
    places = ((contents.buffers[n].offset, contents.buffers[n].size_bytes) for n in listed)
    return tuple(sorted((int(offset), int(offset) + size) for offset, size in places))
