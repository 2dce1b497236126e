"""Packages as contenders: kernels alone, and whole models as replays."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ....runtime.errors import RunError
from ....runtime.gpu.device import Device
from ....runtime.gpu.handles import Graph, Stream
from ....runtime.gpu.part import GpuPart
from ....runtime.gpu.step import GpuStep
from ....runtime.gpu.trial import Trial
from ....runtime.package import Package
from ....runtime.session import Session
from .measure import Contender

Array = np.ndarray[Any, Any]

NAME = "trivium"


class Product:
    """Run the one kernel of a package again and again, in buffers full of random numbers."""

    def __init__(
        self, package: Package, device: Device, runs: int, stream: Callable[[], int]
    ) -> None:
        steps = [step for step in package.manifest.steps if isinstance(step, GpuStep)]
        launches = [launch for step in steps for launch in step.launches]
        if len(launches) != 1:
            raise RunError(f"the package launches {len(launches)} kernels, must launch one")
        (launch,) = launches
        code = device.choose(package.manifest.part(GpuPart).codes)
        kernel = next(k for k in code.kernels if k.symbol == launch.kernel)
        self._device, self._torch_stream = device, stream
        with device:
            self._stream = Stream(device)
            self._trial = Trial(package, launch, device, self._stream)
            self._bound = self._trial.prepare(kernel)
            self._graph: Graph = self._stream.capture(lambda: self._enqueue(runs))
        self.runs = runs
        self.setting = kernel.setting

    def contender(self) -> Contender:
        """Return what launches the runs in PyTorch's stream."""
        return Contender(NAME, self._launch, self.runs)

    def close(self) -> None:
        """Free all that it has on the GPU."""
        with self._device:
            self._graph.close()
            self._trial.__exit__()
            self._stream.close()

    def _enqueue(self, runs: int) -> None:
        for _ in range(runs):
            self._bound.enqueue(self._stream)

    def _launch(self) -> None:
        with self._device:
            arguments = (self._graph.value, self._torch_stream())
            self._device.driver.call("cuGraphLaunch", *arguments)


def outputs(session: Session, inputs: tuple[Array, ...]) -> Array:
    """Run a package once; return its first output, in f32."""
    feeds = {port.name: array for port, array in zip(session.inputs, inputs, strict=True)}
    first = next(iter(session.run(feeds).values()))
    return np.asarray(first, np.float32)


def replayed(session: Session, stream: Callable[[], int]) -> Contender:
    """Return what launches a whole run of a package in PyTorch's stream."""
    replay = session.replay()
    number = stream()
    return Contender(NAME, lambda: replay.launch(number))


def error_of(found: Array, wanted: Array) -> float:
    """Return the largest difference, relative to the largest number."""
    if found.shape != wanted.shape:
        raise RunError(f"the output has shape {found.shape}, PyTorch's has {wanted.shape}")
    apart = np.abs(found.astype(np.float64) - wanted).max()
    return float(apart / np.abs(wanted).max())
