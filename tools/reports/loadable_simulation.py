"""Run a loadable of NVDLA on the simulated hardware, and report the cost of its tasks."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...dialects.core.errors import CompileError
from ...runtime.spelling import count, spell_shape
from ...targets.dla.nvdla.configuration import Configuration
from ...targets.dla.nvdla.cpu.descriptors import EmulatorTask, decoded_tasks
from ...targets.dla.nvdla.format.dla_task import Tables
from ...targets.dla.nvdla.format.loadable import Loadable, MemoryFlags, Tensor
from ...targets.dla.nvdla.memories import bound_tensors, tensor_dtype, tensor_shape
from ...targets.dla.nvdla.simulator import require_sound, run_sound
from ...targets.dla.nvdla.timing.timeline import TaskTime, task_time
from ..feeds import Arrays
from .simulation import StepReport


@dataclass(frozen=True)
class SimulatedTask:
    """A task of a loadable, and when its operations run."""

    entry: str
    accelerator: str
    time: TaskTime

    def text(self) -> str:
        """Return a heading, and below it operations, cycles, bytes moved and the timeline."""
        operations = count(len(self.time.costs), "operation")
        heading = f"{self.entry} on {self.accelerator}: {operations}"
        return "\n  ".join([heading, *self.time.text().splitlines()])

    def report(self) -> StepReport:
        """Return the numbers of the text."""
        return StepReport(self.entry, self.accelerator, (), **self.time.report.numbers())


@dataclass(frozen=True)
class EmulatedTask:
    """A task of a loadable that the runtime computes on the CPU, without cycles."""

    task: EmulatorTask

    def text(self) -> str:
        """Return a heading, and below it the operations."""
        operations = count(len(self.task.operations), "operation")
        heading = f"task {self.task.number} on the CPU: {operations}"
        return "\n  ".join([heading, *map(str, self.task.operations)])


@dataclass(frozen=True)
class LoadableRun:
    """The outputs of a loadable by their names, and its tasks in the order in which they run."""

    outputs: Arrays
    tasks: tuple[SimulatedTask | EmulatedTask, ...]

    def reports(self) -> tuple[StepReport, ...]:
        """Return the numbers of the tasks for NVDLA."""
        return tuple(each.report() for each in self.tasks if isinstance(each, SimulatedTask))

    def text(self) -> str:
        """Return the outputs, a line each, and the texts of all tasks."""
        lines = [_line(name, array) for name, array in self.outputs.items()]
        return "\n\n".join(["\n".join(lines), *(each.text() for each in self.tasks)])


def simulate_loadable(
    loadable: Loadable, configuration: Configuration, inputs: Mapping[str, object] | None = None
) -> LoadableRun:
    """Run a loadable on inputs by the names of its tensors, random ones where None is given.

    Raises CompileError as the simulator, and for names that are not those of the inputs.
    """
    require_sound(loadable, configuration)
    tables = Tables(loadable)
    tensors = bound_tensors(tables, MemoryFlags.INPUT)
    rng = np.random.default_rng(0)
    given = {each.name: _random(each, rng) for each in tensors} if inputs is None else dict(inputs)
    names = [each.name for each in tensors]
    if set(given) != set(names):
        has, must = ", ".join(given) or "none", ", ".join(names)
        raise CompileError(f"the inputs are {has}, must be {must}")
    results = run_sound(tables, configuration, [np.asarray(given[name]) for name in names])
    outputs = [each.name for each in bound_tensors(tables, MemoryFlags.OUTPUT)]
    tasks = [
        EmulatedTask(each)
        if isinstance(each, EmulatorTask)
        else SimulatedTask(
            f"task {each.number}", configuration.name, task_time(each, configuration)
        )
        for each in decoded_tasks(tables)
    ]
    return LoadableRun(dict(zip(outputs, results, strict=True)), tuple(tasks))


def _random(tensor: Tensor, rng: np.random.Generator) -> np.ndarray:
    dtype, shape = tensor_dtype(tensor), tensor_shape(tensor)
    if dtype.kind == "f":
        return rng.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype.str)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def _line(name: str, array: np.ndarray) -> str:
    kind = f"{array.dtype} {spell_shape(array.shape)}"
    return f"{name}: {kind}, from {array.min():g} to {array.max():g}"
