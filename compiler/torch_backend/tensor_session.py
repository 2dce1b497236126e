"""Run a session on tensors: without a copy, at the least cost per call."""

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch._C._dynamo import guards

from ...runtime.plans.address_run import AddressRun
from ...runtime.session import Session
from ...runtime.sizes.values import Shapes
from ..frontends.exported.torch_weights import array_of
from .arrays import dtype_of, tensor_of

MOST_SHAPES = 64
"""For how many shapes of the inputs a run is kept; each holds the sizes of all its kernels."""

# What the code of Inductor calls: a third of the time of torch.empty_strided.
_guards: Any = guards
empty: Callable[[Sequence[int], Sequence[int], torch.dtype], torch.Tensor]
empty = _guards._empty_strided_cpu
_Outputs = tuple[tuple[tuple[int, ...], tuple[int, ...], torch.dtype], ...]


class TensorRun(NamedTuple):
    """Hold what runs each clone of a session at some shapes, and what the outputs are then."""

    clones: list[Callable[[Sequence[int]], bool]]
    outputs: _Outputs


class TensorSession:
    """Call a session from any thread; one that finds it running gets a clone."""

    def __init__(self, session: Session) -> None:
        self._clones = [session]
        self._names = [port.name for port in session.inputs]
        self._dtypes = [dtype_of(port.dtype) for port in session.outputs]
        self._runs: dict[Shapes, TensorRun] = {}
        self._lock = threading.Lock()
        self._by_address = True
        self._static: Any = None
        if not session.symbols:
            self._static = tuple(port.shape for port in session.inputs)

    def __call__(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Return new tensors for the outputs, in order; the inputs are those of the session.

        Raises RunError where their sizes do not fit.
        """
        shapes: Any = self._static or tuple([each.shape for each in inputs])
        run = self._runs.get(shapes) or self._prepare(shapes)
        if run is None:
            return self._run_arrays(inputs)
        # Memory that is not contiguous is copied; the list keeps the copies until the end.
        read = [each if each.is_contiguous() else each.contiguous() for each in inputs]
        made = [empty(*each) for each in run.outputs]
        addresses = [each.data_ptr() for each in read]
        addresses += [each.data_ptr() for each in made]
        for run_clone in run.clones:
            if run_clone(addresses):
                return made
        self._run_on_another(shapes, run, addresses)
        return made

    def static_run(self) -> TensorRun | None:
        """Return the only run that there is; None where sizes change, or arrays are needed."""
        return None if self._static is None else self._prepare(self._static)

    def _prepare(self, shapes: Shapes) -> TensorRun | None:
        """Return the run at some shapes; None where the session must have arrays."""
        if not self._by_address:
            return None
        with self._lock:
            found = self._clones[0].address_run(shapes)
            if found is None:
                self._by_address = False
                return None
            if len(self._runs) == MOST_SHAPES:
                self._runs.clear()
            run = TensorRun([found.run], self._outputs(found))
            self._runs[shapes] = run
            return run

    def _outputs(self, found: AddressRun) -> _Outputs:
        pairs = zip(found.outputs, self._dtypes, strict=True)
        return tuple((shape, _strides(shape), dtype) for shape, dtype in pairs)

    def _run_on_another(self, shapes: Shapes, run: TensorRun, addresses: Sequence[int]) -> None:
        done = False
        while not done:
            with self._lock:
                if len(run.clones) == len(self._clones):
                    self._clones.append(self._clones[0].clone())
                found = self._clones[len(run.clones)].address_run(shapes)
                assert found is not None
                run.clones.append(found.run)
            done = found.run(addresses)

    def _run_arrays(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        feeds = dict(zip(self._names, map(array_of, inputs), strict=True))
        with self._lock:
            made = self._clones[0].run(feeds)
        return [tensor_of(each) for each in made.values()]


def _strides(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
