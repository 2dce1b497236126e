"""Run a package."""

import os
import threading
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import RunError
from .host import Ops
from .manifest import FIRST_PORT, Manifest, Port
from .memory import Bases
from .package import Package
from .program import Program, link
from .slots import Slot, overlap
from .team import checked_threads

_INSTALLED: Mapping[str, Ops] = MappingProxyType({})


class Session:
    """Run a package, one call at a time; `clone` it to run in several threads."""

    def __init__(
        self,
        package: Package,
        dialects: Mapping[str, Ops] = _INSTALLED,
        *,
        threads: int | None = None,
    ) -> None:
        """Make `package` ready; `dialects` adds to, or replaces, those installed.

        A run takes up to `threads` threads, as many as there are cores if that is None. All
        sessions of the process share them: while one of them runs on several, others run on the
        thread that called them. Results are the same, bit by bit, with any number.
        """
        self._start(link(package, dialects), checked_threads(threads))

    def _start(self, program: Program, threads: int) -> None:
        manifest = program.package.manifest
        first_output = FIRST_PORT + len(manifest.inputs)
        self._program = program
        self._threads = threads
        self._bases = Bases(manifest, program.weights)
        self._inputs = [Slot.of(port, FIRST_PORT + i) for i, port in enumerate(manifest.inputs)]
        self._outputs = [Slot.of(port, first_output + i) for i, port in enumerate(manifest.outputs)]
        self._steps = [bind(self._bases, threads) for bind in program.steps]
        # An output that is a constant, an input or another output lies elsewhere.
        self._copies = [
            (slot.name, port.buffer)
            for slot, port in zip(self._outputs, manifest.outputs, strict=True)
            if manifest.buffers[port.buffer].base != slot.base
        ]
        self._busy = threading.Lock()

    @property
    def manifest(self) -> Manifest:
        """Return the description of the package."""
        return self._program.package.manifest

    @property
    def threads(self) -> int:
        """Return on how many threads the session runs at most."""
        return self._threads

    @property
    def machine(self) -> str:
        """Return the name of the machine whose native code runs; empty where there is none."""
        return self._program.machine

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Return what goes in, in order."""
        return self.manifest.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Return what comes out, in order."""
        return self.manifest.outputs

    def run(
        self,
        feeds: Mapping[str, ArrayLike],
        outputs: Mapping[str, NDArray[Any]] | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Compute all outputs from all inputs; those given in `outputs` are written in place."""
        if not self._busy.acquire(blocking=False):
            raise RunError("the session is running in another thread: give each thread a clone()")
        try:
            return self._run(feeds, outputs or {})
        finally:
            self._bases.release()
            self._busy.release()

    def __call__(self, *arrays: ArrayLike) -> NDArray[Any] | tuple[NDArray[Any], ...]:
        """Compute from inputs in order; returns the output, or a tuple of several."""
        if len(arrays) != len(self._inputs):
            names = _quote(slot.name for slot in self._inputs)
            raise RunError(f"got {len(arrays)} inputs, must get {len(self._inputs)}: {names}")
        feeds = {slot.name: array for slot, array in zip(self._inputs, arrays, strict=True)}
        results = tuple(self.run(feeds).values())
        return results[0] if len(results) == 1 else results

    def clone(self) -> "Session":
        """Return a session with memory of its own that shares package, weights and code."""
        twin = Session.__new__(Session)
        twin._start(self._program, self._threads)
        return twin

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the package to `path`."""
        self._program.package.save(path)

    def _run(
        self, feeds: Mapping[str, object], given: Mapping[str, object]
    ) -> dict[str, NDArray[Any]]:
        arrays = self._take(feeds)
        results = (
            self._adopt(given, arrays) if given else {s.name: s.create() for s in self._outputs}
        )
        for slot in self._outputs:
            self._bases.bind(slot.base, results[slot.name])
        for step in self._steps:
            step()
        for name, buffer in self._copies:
            source = self._bases.view(buffer)
            # Complex numbers lie in buffers as pairs of real ones.
            np.copyto(results[name].reshape(-1).view(source.dtype).reshape(source.shape), source)
        return results

    def _take(self, feeds: Mapping[str, object]) -> list[NDArray[Any]]:
        if len(feeds) != len(self._inputs) or any(s.name not in feeds for s in self._inputs):
            raise _wrong_names(feeds, self._inputs)
        arrays: list[NDArray[Any]] = []
        for slot in self._inputs:
            array = slot.take(feeds[slot.name])
            self._bases.bind(slot.base, array)
            arrays.append(array)
        return arrays

    def _adopt(
        self, given: Mapping[str, object], inputs: list[NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        names = [slot.name for slot in self._outputs]
        for name in given:
            if name not in names:
                raise RunError(f"no output is named '{name}', there are {_quote(names)}")
        results: dict[str, NDArray[Any]] = {}
        for slot in self._outputs:
            array = slot.adopt(given[slot.name]) if slot.name in given else slot.create()
            if overlap(array, [*inputs, *results.values()]):
                raise RunError(f"output '{slot.name}' shares memory with an input or an output")
            results[slot.name] = array
        return results


def _wrong_names(feeds: object, slots: list[Slot]) -> RunError:
    names = [slot.name for slot in slots]
    if not isinstance(feeds, Mapping):
        return RunError(f"got one {type(feeds).__name__}, must get arrays by name: {_quote(names)}")
    feeds = cast("Mapping[str, object]", feeds)
    unknown = [name for name in feeds if name not in names]
    missing = [name for name in names if name not in feeds]
    parts = [f"no input is named {_quote(unknown)}"] if unknown else []
    parts += [f"input {_quote(missing)} is missing"] if missing else []
    return RunError(f"{' and '.join(parts)}; the inputs are {_quote(names)}")


def _quote(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"
