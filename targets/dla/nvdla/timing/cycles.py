"""The cycles and bytes of one operation by itself, from the rates of a configuration.

An engine computes while it loads and stores: the slower of the two counts. Engines that share the
memory do not slow one another down here.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from .....dialects.core.errors import CompileError
from ..configuration import Configuration, Rates
from ..format.dla_task import Operation
from ..format.network import Cube, Precision, Storage
from ..format.operations import (
    BdmaSurface,
    CdpOperation,
    ConvOperation,
    ConvSurface,
    PdpOperation,
    SdpOperation,
    TwoCubes,
    cubes_of,
)
from ..lint.features import precisions_of
from ..pixels import pixel_format
from ..reference.bdma import transfer_bytes
from ..reference.pixels import lines_at_once
from ..reference.stages import PER_LAYER

_SPACES = {Storage.DRAM: "dram", Storage.SRAM: "sram"}


@dataclass(frozen=True)
class Cost:
    """What an operation costs: cycles of computing, and bytes by memory and direction."""

    compute: int
    bytes_moved: dict[str, int]
    memory: int

    @property
    def cycles(self) -> int:
        """Return the cycles by itself."""
        return max(self.compute, self.memory, 1)


def cost_of(operation: Operation, configuration: Configuration) -> Cost:
    """Return the cost of an operation whose descriptors have no faults.

    Raises CompileError for a configuration without rates.
    """
    rates = configuration.rates
    if rates is None:
        message = f"the configuration '{configuration.name}' has no rates, must have for times"
        raise CompileError(message)
    moved: dict[str, int] = {}
    for space, way, count in _traffic(operation):
        key = f"{space} {way}"
        moved[key] = moved.get(key, 0) + count
    memory = -(-sum(moved.values()) // rates.memory_bytes)
    return Cost(_compute(operation, configuration, rates), moved, memory)


def _compute(operation: Operation, configuration: Configuration, rates: Rates) -> int:
    descriptor, surface = operation.descriptor, operation.surface
    if isinstance(descriptor, ConvOperation) and isinstance(surface, ConvSurface):
        return conv_cycles(descriptor, surface.destination.channels, configuration)
    if isinstance(descriptor, SdpOperation):
        rate = rates.sdp_y_elements if descriptor.y.enable else rates.sdp_elements
    elif isinstance(descriptor, PdpOperation):
        rate = rates.pdp_elements
    elif isinstance(descriptor, CdpOperation):
        rate = rates.cdp_elements
    else:
        return 0
    assert not isinstance(surface, BdmaSurface)
    precision = Precision(precisions_of(descriptor)[0])
    return -(-_elements(surface.source, configuration, precision) // rate)


def conv_cycles(operation: ConvOperation, kernels: int, configuration: Configuration) -> int:
    """Return a cycle for each group of kernels, block of channels, place in a kernel and pixel.

    Rows of a kernel for pixels that are multiplied at once are one place. A Winograd convolution
    takes one for each four results and the channels that a block has at 4x4 places.
    """
    precision = Precision(operation.output_precision)
    if operation.mode:
        return _winograd_cycles(operation, kernels, configuration)
    groups = -(-kernels // configuration.kernel_group(precision))
    blocks = -(-operation.kernel_channels // configuration.macs_channels)
    places = operation.kernel_width * -(-operation.kernel_height // lines_at_once(operation))
    pixels = operation.width_cmac * operation.height_cmac
    return groups * blocks * places * pixels * operation.batch


def _winograd_cycles(operation: ConvOperation, kernels: int, configuration: Configuration) -> int:
    groups = -(-kernels // configuration.kernel_group(Precision(operation.output_precision)))
    blocks = -(-operation.kernel_channels * 16 // configuration.macs_channels)
    tiles = operation.width_cmac * operation.height_cmac // 4
    return groups * blocks * tiles


def _elements(cube: Cube, configuration: Configuration, precision: Precision) -> int:
    """Return the elements of whole atoms; the cube on the fly has the same sizes."""
    atom = configuration.atom_elements(precision)
    return -(-cube.channels // atom) * atom * cube.height * cube.width


def _traffic(operation: Operation) -> Iterator[tuple[str, str, int]]:
    """Yield memory, direction and bytes."""
    surface = operation.surface
    if isinstance(surface, BdmaSurface):
        for transfer in surface.transfers[: surface.count]:
            count = transfer_bytes(transfer)
            yield _SPACES[Storage(surface.source_type)], "read", count
            yield _SPACES[Storage(surface.destination_type)], "written", count
        return
    for name, cube in cubes_of(surface):
        if cube.storage == Storage.ON_THE_FLY or not _is_used(operation, name):
            continue
        way = "written" if name == "destination" else "read"
        yield _SPACES[Storage(cube.storage)], way, _bytes(operation, name, cube)


def _bytes(operation: Operation, name: str, cube: Cube) -> int:
    """Return the bytes of the data of a cube, without gaps; of weights and operands, its size."""
    if name not in ("source", "destination"):
        return cube.size
    descriptor = operation.descriptor
    if name == "source" and isinstance(descriptor, ConvOperation):
        form = pixel_format(descriptor.data_format)
        if form is not None:
            return cube.height * cube.width * sum(form.pixel_bytes)
    source, destination = precisions_of(descriptor)
    size = Precision(destination if name == "destination" else source).bytes
    return cube.channels * cube.height * cube.width * size


def _is_used(operation: Operation, name: str) -> bool:
    descriptor = operation.descriptor
    if not isinstance(descriptor, SdpOperation) or isinstance(operation.surface, TwoCubes):
        return True
    stage = {"x1": descriptor.x1, "x2": descriptor.x2, "y": descriptor.y}.get(name)
    return stage is None or bool(stage.enable and stage.kind and stage.mode != PER_LAYER)
