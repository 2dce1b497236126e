"""Run a loadable as the runtime, the firmware and the engines do, exact to the bit.

Operations run in the order in which notifications let the firmware start them. What the functions
of `reference` do not compute is refused before anything runs.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from ....dialects.core.errors import CompileError, Diagnostic
from .configuration import Configuration
from .cpu.descriptors import EmulatorTask, decoded_tasks
from .cpu.emulator import emulate
from .format.dla_task import DlaTask, Operation, Tables
from .format.loadable import Loadable, MemoryFlags
from .format.network import Cube, Precision, Storage
from .format.operations import (
    ENGINE_TYPES,
    BdmaSurface,
    CdpOperation,
    ConvOperation,
    ConvSurface,
    Descriptor,
    Lut,
    PdpOperation,
    RubikOperation,
    SdpOperation,
    SdpSurface,
    TwoCubes,
)
from .image_weights import unpack_image_weights
from .lint.features import images_of, precisions_of, used_cubes
from .lint.firmware import is_fed, replay
from .lint.kept_contents import kept_refusals
from .lint.linter import lint
from .memories import Memories, bound_tensors
from .pixels import pixel_format
from .reference import bdma, cdp, convolution, pdp, pixels, rubik, sdp, winograd
from .reference.compressed import decompress
from .reference.lookup import table_fault
from .stage_operands import elements_of_operands, stage_operands
from .surfaces import Array, unpack_weights
from .winograd_weights import unpack_winograd_weights

Observer = Callable[[Operation, Array], None]


def run(
    loadable: Loadable,
    configuration: Configuration,
    inputs: Sequence[Array],
    observe: Observer | None = None,
) -> list[Array]:
    """Return the outputs [C, H, W] for inputs of that kind, both in the order of binding.

    Tensors of a batch are [N, C, H, W]. They are int8, int16 or float16, as their tensors are.
    `observe` is called with each operation that computes, and its result: for a convolution its
    accumulators.
    Raises CompileError with all faults that the linter finds, with all operations that are not
    simulated, and for other inputs than the loadable's.
    """
    require_sound(loadable, configuration)
    return run_sound(Tables(loadable), configuration, inputs, observe)


def run_sound(
    tables: Tables,
    configuration: Configuration,
    inputs: Sequence[Array],
    observe: Observer | None = None,
) -> list[Array]:
    """Run a loadable in which the linter finds no fault, as `run`."""
    tasks = decoded_tasks(tables)
    _require_none(_not_simulated(tasks))
    memories = Memories(tables, configuration)
    tensors = bound_tensors(tables, MemoryFlags.INPUT)
    if len(inputs) != len(tensors):
        raise CompileError(f"the loadable has {len(tensors)} inputs, {len(inputs)} are given")
    for tensor, image in zip(tensors, inputs, strict=True):
        memories.bind(tensor, image)
    for task in tasks:
        if isinstance(task, DlaTask):
            _TaskRun(task, memories, observe).run()
        else:
            _emulate(task, memories)
    return [memories.output(tensor) for tensor in bound_tensors(tables, MemoryFlags.OUTPUT)]


def require_sound(loadable: Loadable, configuration: Configuration) -> None:
    """Raise CompileError with all faults that the linter finds."""
    _require_none([(each.where, each.message) for each in lint(loadable, configuration)])


def _require_none(faults: list[tuple[str, str]]) -> None:
    if faults:
        raise CompileError([Diagnostic(where, message) for where, message in faults])


def _emulate(task: EmulatorTask, memories: Memories) -> None:
    for each in task.operations:
        source, destination = (
            memories.bytes_at(task, end.address)[end.offset :]
            for end in (each.source, each.destination)
        )
        emulate(each, source, destination)


def _not_simulated(tasks: Sequence[DlaTask | EmulatorTask]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for task in tasks:
        if isinstance(task, DlaTask):
            kept = kept_refusals(task)
            for each in task.operations:
                reason = _reason(each) or kept.get(each.number)
                if reason is not None:
                    message = f"needs {reason}, which the simulator does not compute"
                    found.append((str(each), message))
    return found


def _reason(operation: Operation) -> str | None:
    descriptor, surface = operation.descriptor, operation.surface
    if isinstance(descriptor, ConvOperation) and isinstance(surface, ConvSurface):
        if surface.destination.storage != Storage.ON_THE_FLY:
            return "a convolution without SDP"
        special = convolution.unsupported_features
        if descriptor.mode:
            special = winograd.unsupported_winograd
        elif pixel_format(descriptor.data_format) is not None:
            special = pixels.unsupported_pixels
        return special(descriptor)
    if isinstance(descriptor, SdpOperation):
        return sdp.unsupported(descriptor)
    if isinstance(descriptor, CdpOperation):
        return cdp.unsupported(descriptor)
    if isinstance(descriptor, PdpOperation) and isinstance(surface, TwoCubes):
        return pdp.unsupported(descriptor)
    if isinstance(descriptor, RubikOperation):
        return rubik.unsupported(descriptor)
    if isinstance(surface, BdmaSurface):
        return None
    return f"the engine {ENGINE_TYPES[operation.engine].name}"


def _is_split(descriptor: Descriptor) -> bool:
    return isinstance(descriptor, RubikOperation) and descriptor.mode == rubik.SPLIT


def _moved(cube: Cube, distance: int) -> Cube:
    """Return a cube that is farther on in memory."""
    if cube.storage == Storage.ON_THE_FLY:
        return cube
    return replace(cube, offset=cube.offset + distance)


class _TaskRun:
    """A task that runs, and the values that one engine hands to the next."""

    def __init__(self, task: DlaTask, memories: Memories, observe: Observer | None) -> None:
        self.task = task
        self.memories = memories
        self.observe = observe

    def run(self) -> None:
        """Run the operations; those that run as one hand their results on."""
        for chain in replay(self.task.operations, self.task.network.heads).chains:
            values: Array | None = None
            for number in chain:
                operation = self.task.operations[number]
                if isinstance(operation.surface, BdmaSurface):
                    self._copy(operation.surface)
                    continue
                try:
                    values = self._result(operation, values)
                except ValueError as error:
                    raise CompileError([Diagnostic(str(operation), str(error))]) from error
                if self.observe is not None:
                    self.observe(operation, values)

    def _copy(self, surface: BdmaSurface) -> None:
        for each in surface.transfers[: surface.count]:
            source = self.memories.bytes_at(self.task, each.source)
            bdma.copy(source, self.memories.bytes_at(self.task, each.destination), each)

    def _result(self, operation: Operation, fed: Array | None) -> Array:
        """Return the result of an operation, and store it where it is not handed on.

        Raises ValueError for cubes whose sizes do not match.
        """
        surface = operation.surface
        assert isinstance(surface, ConvSurface | SdpSurface | TwoCubes)
        images, apart = images_of(operation.descriptor)
        if images == 1:
            return self._image(operation, surface.source, surface.destination, fed)
        if fed is not None and (fed.ndim != 4 or len(fed) != images):
            raise ValueError(f"has a batch of {images}, must be that of the convolution")
        results = [
            self._image(
                operation,
                _moved(surface.source, apart * number),
                _moved(surface.destination, apart * number),
                None if fed is None else fed[number],
            )
            for number in range(images)
        ]
        return np.stack(results)

    def _image(
        self, operation: Operation, source: Cube, destination: Cube, fed: Array | None
    ) -> Array:
        """Return the result of one image, and store it where it is not handed on."""
        assert not isinstance(operation.surface, BdmaSurface)
        if is_fed(operation.surface):
            assert fed is not None, "the firmware starts no operation that nothing feeds"
            image = fed
        else:
            image = self._source(operation, source)
        result = self._computed(operation, image)
        if result.shape != (destination.channels, destination.height, destination.width):
            stated = f"{destination.channels}x{destination.height}x{destination.width}"
            shape = "x".join(map(str, result.shape))
            raise ValueError(f"'destination' is {stated}, the result is {shape}")
        _, target = precisions_of(operation.descriptor)
        if _is_split(operation.descriptor):
            self.memories.planes(self.task, destination, Precision(target))[...] = result
        elif destination.storage != Storage.ON_THE_FLY:
            self.memories.write(self.task, destination, result, Precision(target))
        return result

    def _source(self, operation: Operation, cube: Cube) -> Array:
        descriptor, surface = operation.descriptor, operation.surface
        if isinstance(descriptor, ConvOperation) and pixel_format(descriptor.data_format):
            assert isinstance(surface, ConvSurface)
            return self.memories.pixels(self.task, surface, descriptor.data_format)
        is_merge = isinstance(descriptor, RubikOperation) and descriptor.mode == rubik.MERGE
        read = self.memories.planes if is_merge else self.memories.read
        if isinstance(descriptor, RubikOperation):
            cube = dict(used_cubes(descriptor, surface, self.memories.configuration))["source"]
        return read(self.task, cube, Precision(precisions_of(descriptor)[0]))

    def _computed(self, operation: Operation, source: Array) -> Array:
        descriptor, surface = operation.descriptor, operation.surface
        if isinstance(descriptor, ConvOperation) and isinstance(surface, ConvSurface):
            weights = self._weights(descriptor, surface)
            block = self.memories.configuration.macs_channels
            if descriptor.mode:
                return winograd.convolve_winograd(source, weights, descriptor, block)
            if pixel_format(descriptor.data_format) is None:
                return convolution.convolve(source, weights, descriptor, block)
            return pixels.convolve_pixels(source, weights, descriptor, block)
        if isinstance(descriptor, SdpOperation) and isinstance(surface, SdpSurface):
            return sdp.process(
                source,
                descriptor,
                self._operands(descriptor, "x1", surface.x1, source),
                self._operands(descriptor, "x2", surface.x2, source),
                self._operands(descriptor, "y", surface.y, source),
                self._lut(descriptor.lut, descriptor.y.activation == sdp.TABLE),
            )
        if isinstance(descriptor, RubikOperation) and isinstance(surface, TwoCubes):
            if descriptor.mode != rubik.CONTRACT:
                return source
            precision = Precision(descriptor.precision)
            atom = self.memories.configuration.atom_elements(precision)
            return rubik.contract(source, descriptor, surface.destination.channels, atom)
        if isinstance(descriptor, CdpOperation):
            lut = self._lut(descriptor.lut, True)
            assert lut is not None
            return cdp.normalize(source, descriptor, lut)
        assert isinstance(descriptor, PdpOperation)
        return pdp.pool(source, descriptor)

    def _lut(self, index: int, is_used: bool) -> Lut | None:
        """Return the table of an operation that uses one."""
        if not is_used:
            return None
        if not 0 <= index < len(self.task.luts):
            raise ValueError(f"has table {index}, the task has {len(self.task.luts)}")
        lut = self.task.luts[index]
        fault = table_fault(lut)
        if fault is not None:
            raise ValueError(f"table {index} has {fault}")
        return lut

    def _weights(self, operation: ConvOperation, surface: ConvSurface) -> Array:
        shape = (
            surface.destination.channels,
            operation.kernel_channels,
            operation.kernel_height,
            operation.kernel_width,
        )
        precision = Precision(operation.output_precision)
        memory, made = (
            self.memories.bytes_of(self.task, surface.weights),
            self.memories.configuration,
        )
        stored = memory.tobytes()
        if operation.weight_format:
            mask = self.memories.bytes_of(self.task, surface.weight_mask)
            stored = decompress(memory, mask, prod(shape), precision.bytes)
        if operation.mode:
            return unpack_winograd_weights(stored, *shape[:2], made, precision)
        if pixel_format(operation.data_format) is None:
            return unpack_weights(stored, shape, made, precision)
        lines = pixels.lines_at_once(operation)
        return unpack_image_weights(stored, shape, made, precision, lines)

    def _operands(
        self, operation: SdpOperation, name: str, cube: Cube, source: Array
    ) -> sdp.Operands:
        """Return the operands of a stage; only one for the whole layer has no cube."""
        stage = getattr(operation, name)
        in_memory = stage.enable and stage.kind and stage.mode != sdp.PER_LAYER
        memory = self.memories.bytes_of(self.task, cube) if in_memory else None
        elements = elements_of_operands(operation, self.memories.configuration)
        return stage_operands(stage, cube, memory, source.shape, elements)
