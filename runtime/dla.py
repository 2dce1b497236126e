"""Run steps of accelerators: by the driver that the caller gives, else on the simulated machine."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .errors import PackageError, RunError
from .manifest import DESCRIPTION, Step
from .memory import Bases
from .package import Package

Values = NDArray[np.int8]


class Driver(Protocol):
    """Run the command stream of one container.

    Sessions that share a program share its drivers, too: clones call `run` from several threads.
    """

    def run(self, inputs: Sequence[Values], /) -> Sequence[Values]:
        """Return the outputs [N, H, W, C] for inputs, all in the order of the container's ports."""
        ...


# How to make a driver ready, given the text of the description and the bytes of a container.
OpenDriver = Callable[[bytes, bytes], Driver]

Drivers = Mapping[str, OpenDriver]
"""How to open drivers, by the name of an accelerator."""


def open_driver(step: Step, package: Package, drivers: Drivers) -> Driver:
    """Return what runs a step: one of `drivers`, or else the simulated machine."""
    description, data = bytes(package.entries[DESCRIPTION]), bytes(package.entries[step.entry])
    if step.accelerator in drivers:
        return drivers[step.accelerator](description, data)
    try:
        registry = import_module("..targets.dla.registry", __package__)
        errors = import_module("..dialects.core.errors", __package__)
    except ModuleNotFoundError as error:
        raise RunError(
            f"nodes {', '.join(step.nodes) or '(none)'} need the accelerator "
            f"'{step.accelerator}', but module '{error.name}' is not installed: install what "
            "compiled the package, or give a driver"
        ) from None
    try:
        device = registry.open_device(description, data, step.entry)
    except errors.CompileError as error:
        raise PackageError(_line(error)) from None
    _check_ports(step, package, device)
    return _Simulated(step, device, errors.CompileError)


class _Simulated:
    """A simulated machine whose faults are errors of a run."""

    def __init__(self, step: Step, device: Any, fault: type[Exception]) -> None:
        self.step = step
        self.device = device
        self.fault = fault

    def run(self, inputs: Sequence[Values], /) -> Sequence[Values]:
        try:
            return self.device.run(inputs)
        except self.fault as error:
            raise RunError(f"'{self.step.entry}' cannot run: {_line(error)}") from None


def _check_ports(step: Step, package: Package, device: Any) -> None:
    container = device.container
    name = device.instructions.description.name
    if name != step.accelerator:
        raise PackageError(f"'{step.entry}' is for '{name}', its step for '{step.accelerator}'")
    buffers = package.manifest.buffers
    for kind, indices, ports in (
        ("operands", step.operands, container.inputs),
        ("results", step.results, container.outputs),
    ):
        shapes, needed = [buffers[i].shape for i in indices], [port.shape for port in ports]
        if shapes != needed:
            raise PackageError(
                f"'{step.entry}' has ports of shapes {needed}, the {kind} of its step have {shapes}"
            )


def bind(step: Step, driver: Driver, bases: Bases) -> Callable[[], None]:
    """Return the function that does `step` on `bases`."""
    return partial(_run, step, driver, bases)


def _run(step: Step, driver: Driver, bases: Bases) -> None:
    operands = [bases.view(index) for index in step.operands]
    for operand in operands:
        operand.flags.writeable = False
    try:
        values = driver.run(operands)
    except RunError:
        raise
    except Exception as error:
        error.add_note(f"in step '{step.entry}' of {', '.join(step.nodes)}")
        raise
    given = [f"{array.dtype}{list(array.shape)}" for array in map(np.asarray, values)]
    targets = [bases.view(index) for index in step.results]
    needed = [f"{array.dtype}{list(array.shape)}" for array in targets]
    if given != needed:
        raise RunError(f"the driver for '{step.entry}' gave {given}, must give {needed}")
    for target, value in zip(targets, values, strict=True):
        np.copyto(target, value)


def _line(error: Exception) -> str:
    """Return what an error says in one line."""
    return "; ".join(str(error).splitlines())
