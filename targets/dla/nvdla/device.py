"""A simulated NVDLA with a loadable: the counterpart of a driver."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....dialects.core.errors import CompileError, Diagnostic
from ..core.ports import PortValues
from ..core.simulator import Report
from .choice import NAME, only_configuration
from .configuration import Configuration
from .cpu.descriptors import EmulatorOperation, decoded_tasks
from .format.dla_task import Operation, Tables, dla_tasks
from .format.loadable import Loadable, MemoryFlags, Tensor
from .format.operations import ENGINE_TYPES, ConvOperation
from .lint.linter import lint
from .memories import bound_tensors, tensor_shape
from .simulator import run
from .timing.timeline import in_sequence, task_time

EMULATOR = "EMU"
"""What counts as the engine of operations on the CPU."""


@dataclass
class NvdlaDevice:
    """Run a loadable for each image, or for each batch of as many as it is made for."""

    configuration: Configuration
    loadable: Loadable
    name: str = NAME

    def __post_init__(self) -> None:
        tables = Tables(self.loadable)
        self.inputs = bound_tensors(tables, MemoryFlags.INPUT)
        self.outputs = bound_tensors(tables, MemoryFlags.OUTPUT)

    @property
    def input_shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of inputs, for one image."""
        return [_shape(each) for each in self.inputs]

    @property
    def output_shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of outputs, for one image."""
        return [_shape(each) for each in self.outputs]

    @staticmethod
    def takes(shapes: Sequence[tuple[int, ...]], ports: Sequence[tuple[int, ...]]) -> bool:
        """Report whether arrays of some shapes fit ports, but for the number of images."""
        return [shape[1:] for shape in shapes] == [port[1:] for port in ports]

    def run(self, inputs: Sequence[PortValues]) -> list[PortValues]:
        """Return outputs i8 or f16 [N, C, H, W] for inputs of such kinds, in the order of binding.

        Raises CompileError as `simulator.run`.
        """
        counts = {len(each) / port.n for each, port in zip(inputs, self.inputs, strict=True)}
        if len(counts) > 1 or any(count % 1 for count in counts):
            images = sorted({len(each) for each in inputs})
            raise CompileError(f"inputs have {images} images, must have as many for each run")
        results = [
            run(
                self.loadable,
                self.configuration,
                [
                    each[number * port.n :][: port.n].reshape(tensor_shape(port))
                    for each, port in zip(inputs, self.inputs, strict=True)
                ],
            )
            for number in range(int(counts.pop()) if counts else 1)
        ]
        shapes = [(-1, *shape[1:]) for shape in self.output_shapes]
        found = zip(zip(*results, strict=True), shapes, strict=True)
        return [np.stack(images).reshape(shape) for images, shape in found]

    def faults(self) -> list[tuple[str, str]]:
        """Return where each fault is that is found without running the loadable, and what it is."""
        found = lint(self.loadable, self.configuration)
        return [(each.where, each.message) for each in found]

    @property
    def operations(self) -> Counter[str]:
        """Count the operations of each engine, and of the emulator on the CPU, for an image."""
        tasks = decoded_tasks(Tables(self.loadable))
        return Counter(_engine(each) for task in tasks for each in task.operations)

    @property
    def winograd(self) -> int:
        """Return how many convolutions are computed by Winograd's method, for an image."""
        made = (
            op.descriptor for task in dla_tasks(Tables(self.loadable)) for op in task.operations
        )
        return sum(isinstance(each, ConvOperation) and each.mode == 1 for each in made)

    def report(self) -> Report:
        """Return what engines run for an image, and when; the CPU takes no cycles of theirs.

        Raises CompileError for a configuration without rates.
        """
        tasks = dla_tasks(Tables(self.loadable))
        return in_sequence(task_time(each, self.configuration).report for each in tasks)


def _engine(operation: Operation | EmulatorOperation) -> str:
    if isinstance(operation, EmulatorOperation):
        return EMULATOR
    return ENGINE_TYPES[operation.engine].name


def _shape(tensor: Tensor) -> tuple[int, ...]:
    return (tensor.n, tensor.c, tensor.h, tensor.w)


def open_device(description: bytes | str, data: bytes, file: str = "loadable") -> NvdlaDevice:
    """Return a simulated NVDLA of the configuration that a TOML text describes.

    Raises CompileError for another text, and with the offset for a loadable that is none, or has
    tensors that do not exist.
    """
    text = description.decode() if isinstance(description, bytes) else description
    loadable = Loadable.read(data, file)
    try:
        return NvdlaDevice(only_configuration(text, f"the description of '{file}'"), loadable)
    except KeyError as missing:
        message = f"binds tensor {missing}, which does not exist"
        raise CompileError([Diagnostic(file, message)]) from None
