"""Steps of accelerators: run by the driver of the caller, or by the simulator."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ..contents import ABSENT, Contents
from ..errors import PackageError, RunError
from ..kinds import LEFT_OUT
from ..loader import Loader
from ..memory import Bases
from ..sizes.values import spelled_sizes
from ..step import Bind, Step
from .part import DESCRIPTION

Values = NDArray[np.int8] | NDArray[np.float16]

_RANK = 4
DTYPES = ("int8", "float16")
"""The types of what programs take and give."""


class Driver(Protocol):
    """Run the command stream of one container.

    Sessions that share a program share its drivers, too: clones call `run` from several threads.
    """

    def run(self, inputs: Sequence[Values], /) -> Sequence[Values]:
        """Return the outputs [N, H, W, C] for inputs, all in the order of the container's ports."""
        ...


# How to make a driver ready, given the text of the description, the bytes of a container, and the
# exact sizes that the program to run is for: none where the container has one for all runs.
OpenDriver = Callable[[bytes, bytes, Mapping[str, int]], Driver]

Drivers = Mapping[str, OpenDriver]
"""The functions that open drivers, by the name of an accelerator."""


def open_driver(step: "DlaStep", loader: Loader) -> Driver:
    """Return what runs a step: a driver of the user, or else the simulator."""
    drivers: Drivers = loader.options.get("drivers", {})
    description, data = bytes(loader.entries[DESCRIPTION]), bytes(loader.entries[step.entry])
    if step.accelerator in drivers:
        return drivers[step.accelerator](description, data, step.sizes)
    try:
        registry = import_module("...targets.dla.registry", __package__)
        errors = import_module("...dialects.core.errors", __package__)
    except ModuleNotFoundError as error:
        raise RunError(
            f"nodes {', '.join(step.nodes) or '(none)'} need the accelerator "
            f"'{step.accelerator}', but module '{error.name}' is not installed: install what "
            "compiled the package, or give a driver"
        ) from None
    try:
        device = registry.open_simulated(
            step.accelerator, description, data, step.entry, sizes=step.sizes
        )
    except errors.CompileError as error:
        raise PackageError(_line(error)) from None
    _check_ports(step, loader.contents, device)
    return _Simulated(step, device, errors.CompileError)


class _Simulated:
    """A simulated machine whose faults are errors of a run."""

    def __init__(self, step: "DlaStep", device: Any, fault: type[Exception]) -> None:
        self.step = step
        self.device = device
        self.fault = fault

    def run(self, inputs: Sequence[Values], /) -> Sequence[Values]:
        try:
            return self.device.run(inputs)
        except self.fault as error:
            raise RunError(f"'{self.step.entry}' cannot run: {_line(error)}") from None


def _check_ports(step: "DlaStep", contents: Contents, device: Any) -> None:
    if device.name != step.accelerator:
        raise PackageError(
            f"'{step.entry}' is for '{device.name}', its step for '{step.accelerator}'"
        )
    buffers = contents.buffers
    for kind, indices, needed in (
        ("operands", step.operands, device.input_shapes),
        ("results", step.results, device.output_shapes),
    ):
        shapes = [buffers[i].shape for i in indices]
        if not device.takes(shapes, needed):
            raise PackageError(
                f"'{step.entry}' has ports of shapes {needed}, the {kind} of its step have {shapes}"
            )


@dataclass(frozen=True, kw_only=True)
class DlaStep(Step):
    """Run a program of the container `entry` on `accelerator`, on i8 or f16 of 4 axes.

    A container that several programs of a package share has one for each of their exact `sizes`.
    """

    kind: ClassVar[str] = "dla"

    entry: str
    accelerator: str
    sizes: Mapping[str, int] = field(default_factory=dict[str, int], metadata=LEFT_OUT)

    def check(self, contents: Contents, where: str) -> None:
        stored = {entry.name for entry in contents.entries}
        if self.entry not in stored:
            raise PackageError(f"'{where}.entry' is '{self.entry}', which is not stored")
        if DESCRIPTION not in stored:
            raise PackageError(f"'{where}.kind' is 'dla', but the package has no '{DESCRIPTION}'")
        if not self.accelerator:
            raise PackageError(f"'{where}.accelerator' is empty, must name an accelerator")
        for kind, indices in (("operands", self.operands), ("results", self.results)):
            for i, index in enumerate(indices):
                buffer = None if index == ABSENT else contents.buffers[index]
                if buffer is None or buffer.dtype not in DTYPES or len(buffer.shape) != _RANK:
                    found = f"{buffer.dtype}{list(buffer.shape)}" if buffer else "absent"
                    raise PackageError(
                        f"'{where}.{kind}[{i}]' is {found}, must be {' or '.join(DTYPES)} of 4 axes"
                    )
        super().check(contents, where)

    def load(self, loader: Loader) -> Bind:
        driver = open_driver(self, loader)
        return lambda state: partial(_run, self, driver, state.bases)

    def operation(self, contents: Contents) -> str:
        sizes = f" for {spelled_sizes(self.sizes)}" if self.sizes else ""
        return f"{self.entry}{sizes} on {self.accelerator}"

    @property
    def target(self) -> str:
        return self.accelerator

    @classmethod
    def summary(cls, steps: Sequence[Step]) -> str:
        names = " and ".join(dict.fromkeys(step.target for step in steps))
        return f"{len(steps)} program{'s' * (len(steps) != 1)} on {names}"


def _run(step: "DlaStep", driver: Driver, bases: Bases) -> None:
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
    """Return the message of an error in one line."""
    return "; ".join(str(error).splitlines())
