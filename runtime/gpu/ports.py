"""Let the arrays of a run be on a GPU."""

from itertools import chain
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import RunError
from ..manifest import ABSENT, ARENA, FIRST_PORT, ON_GPU, PREPARED, WEIGHTS, Manifest
from ..memory import Place
from ..slots import Slot
from .array import DeviceArray
from .exchange import Borrowed, borrow
from .workspace import Workspace


class DevicePorts:
    """Take what a caller has on a GPU; what the host works on gets an array there meanwhile.

    A run is `with` this around it.
    """

    def __init__(self, workspace: Workspace, manifest: Manifest) -> None:
        self.workspace = workspace
        self._host = _worked_on_by_host(manifest)
        self._uploads: list[tuple[Borrowed, NDArray[Any]]] = []

    def take(self, slot: Slot, value: object) -> NDArray[Any] | Borrowed:
        """Return what the steps read of an input."""
        borrowed = self._borrow("input", slot, value)
        if slot.base not in self._host:
            return borrowed
        array = slot.create()
        self._copy(array, borrowed)
        self.workspace.synchronize()
        return array

    def adopt(self, slot: Slot, value: object) -> NDArray[Any] | Borrowed:
        """Return what the steps write of an output."""
        borrowed = self._borrow("output", slot, value)
        if not borrowed.writable:
            raise RunError(f"output '{slot.name}' must be writable")
        if slot.base not in self._host:
            return borrowed
        array = slot.create()
        self._uploads.append((borrowed, array))
        return array

    def create(self, slot: Slot) -> DeviceArray:
        """Return a fresh array on the GPU for an input or an output."""
        what = f"an array for '{slot.name}'"
        return DeviceArray(self.workspace.stream, slot.shape, slot.dtype.name, what)

    def finish(self) -> None:
        """Bring outputs that the host has written to where the caller wants them, and wait."""
        uploads, self._uploads = self._uploads, []
        if uploads:
            self.workspace.synchronize()
        for borrowed, array in uploads:
            self._copy(borrowed, array)
        self.workspace.synchronize()

    def __enter__(self) -> "DevicePorts":
        self.workspace.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._uploads = []
        self.workspace.__exit__(kind, error, traceback)

    def check_alone(self, manifest: Manifest) -> None:
        """Raise RunError unless a run takes place on the GPU alone."""
        for step in manifest.steps:
            if step.kind not in ON_GPU:
                what = step.op or f"'{step.symbol or step.entry}'"
                where = "an accelerator" if step.kind == "dla" else "the host"
                raise _not_alone(f"{what} of {', '.join(step.nodes)} runs on {where}")
        copied = [(*step.operands, *step.results) for step in manifest.steps if step.kind == "copy"]
        for index in (*chain(*copied), *(port.buffer for port in manifest.outputs)):
            if manifest.buffers[index].base in (ARENA, WEIGHTS, PREPARED):
                raise _not_alone(f"'{manifest.buffers[index].name}' is in the memory of the host")

    def _borrow(self, role: str, slot: Slot, value: object) -> Borrowed:
        borrowed = borrow(value, self.workspace.stream, f"{role} '{slot.name}'")
        slot.check(role, borrowed.shape, borrowed.dtype)
        if not borrowed.contiguous:
            raise RunError(f"{role} '{slot.name}' has gaps or another order: make it contiguous")
        return borrowed

    def _copy(self, target: NDArray[Any] | Borrowed, source: NDArray[Any] | Borrowed) -> None:
        self.workspace.copy(_place(target), _place(source), source.nbytes)


def _not_alone(reason: str) -> RunError:
    return RunError(f"there is no graph of the whole package, for {reason}: use run")


def _place(array: NDArray[Any] | Borrowed) -> Place:
    if isinstance(array, np.ndarray):
        return Place(array.ctypes.data, False)
    return Place(array.address, True)


def _worked_on_by_host(manifest: Manifest) -> frozenset[int]:
    """Return the bases of inputs and outputs that steps other than copies read or write."""
    ports = len(manifest.inputs) + len(manifest.outputs)
    if any(step.kind == "cpu" for step in manifest.steps):
        # Native code does not say what it works on.
        return frozenset(range(FIRST_PORT, FIRST_PORT + ports))
    indices = [
        index
        for step in manifest.steps
        if step.kind in ("host", "dla")
        for index in (*step.operands, *step.results)
        if index != ABSENT
    ]
    return frozenset(manifest.buffers[index].base for index in indices)
