"""Let the arrays of a run be on a GPU."""

import ctypes
from collections.abc import Sequence
from itertools import chain
from typing import Any

from numpy.typing import NDArray

from ..contents import ARENA, PREPARED, PROCESS, WEIGHTS, Contents
from ..errors import RunError
from ..memory import Place, place_of
from ..slots import Slot
from ..step import Step
from .array import SPACE, DeviceArray
from .exchange import Borrowed, borrow
from .handles import Stream


def copy_bytes(stream: Stream, target: Place, source: Place, size: int) -> None:
    """Copy bytes from either memory to either, in the order of a stream."""
    if not size:
        return
    if target.space != PROCESS:
        copy = stream.copy if source.space != PROCESS else stream.upload
    elif source.space != PROCESS:
        copy = stream.download
    else:
        stream.synchronize()
        copy = ctypes.memmove
    copy(target.address, source.address, size)


class DevicePorts:
    """Take arrays of a caller on a GPU; ports that are `in_process` get an array there."""

    def __init__(self, stream: Stream, in_process: frozenset[int]) -> None:
        self._stream = stream
        self.in_process = in_process
        self._uploads: list[tuple[Borrowed, NDArray[Any]]] = []

    def take(self, slot: Slot, value: object) -> NDArray[Any] | Borrowed:
        """Return what the steps read of an input."""
        borrowed = self._borrow("input", slot, value)
        if slot.base not in self.in_process:
            return borrowed
        array = slot.create()
        self._copy(array, borrowed)
        self._stream.synchronize()
        return array

    def adopt(self, slot: Slot, value: object) -> NDArray[Any] | Borrowed:
        """Return what the steps write of an output."""
        borrowed = self._borrow("output", slot, value)
        if not borrowed.writable:
            raise RunError(f"output '{slot.name}' must be writable")
        if slot.base not in self.in_process:
            return borrowed
        array = slot.create()
        self._uploads.append((borrowed, array))
        return array

    def create(self, slot: Slot) -> DeviceArray:
        """Return a fresh array on the GPU for an input or an output."""
        if slot.holds_text:
            raise RunError(f"'{slot.name}' has text, which no GPU holds: run it without devices")
        what = f"an array for '{slot.name}'"
        return DeviceArray(self._stream, slot.shape, slot.dtype.name, what)

    def upload(self, name: str, array: NDArray[Any]) -> DeviceArray:
        """Return a fresh array on the GPU with the numbers of an output that is not there."""
        made = DeviceArray(self._stream, array.shape, array.dtype.name, f"an array for '{name}'")
        made.write(array)
        return made

    def finish(self) -> None:
        """Copy outputs that the host has written to the arrays of the caller, and wait."""
        uploads, self._uploads = self._uploads, []
        if uploads:
            self._stream.synchronize()
        for borrowed, array in uploads:
            self._copy(borrowed, array)
        self._stream.synchronize()

    def forget(self) -> None:
        """Forget the arrays of a run that has ended."""
        self._uploads = []

    def check_alone(self, contents: Contents, steps: Sequence[Step]) -> None:
        """Raise RunError unless a run takes place on the GPU alone."""
        for step in steps:
            if step.queue(contents) != SPACE:
                where = f"of {', '.join(step.nodes)} is a step of kind '{step.kind}'"
                raise _not_alone(f"{step.operation(contents)} {where}")
        listed = [(*step.operands, *step.results) for step in steps]
        for index in (*chain(*listed), *(port.buffer for port in contents.outputs)):
            if contents.buffers[index].base in (ARENA, WEIGHTS, PREPARED):
                name = contents.buffers[index].name
                raise _not_alone(f"'{name}' is in the memory of the process")

    def _borrow(self, role: str, slot: Slot, value: object) -> Borrowed:
        borrowed = borrow(value, self._stream, f"{role} '{slot.name}'")
        slot.check(role, borrowed.shape, borrowed.dtype)
        if not borrowed.contiguous:
            raise RunError(f"{role} '{slot.name}' has gaps or another order: make it contiguous")
        return borrowed

    def _copy(self, target: NDArray[Any] | Borrowed, source: NDArray[Any] | Borrowed) -> None:
        copy_bytes(self._stream, place_of(target), place_of(source), source.nbytes)


def _not_alone(reason: str) -> RunError:
    return RunError(f"there is no graph of the whole package, for {reason}: use run")
