"""Which cubes an operation uses, which are stored as feature data, and of which precision."""

from collections.abc import Iterator
from dataclasses import replace

from ..configuration import Configuration
from ..format.network import Cube, Precision
from ..format.operations import (
    CdpOperation,
    ConvOperation,
    Descriptor,
    PdpOperation,
    RubikOperation,
    SdpOperation,
    Surface,
    TwoCubes,
    cubes_of,
)
from ..pixels import FEATURE
from ..reference import rubik

_ENDS = ("source", "destination")


def precisions_of(descriptor: Descriptor) -> tuple[int, int]:
    """Return the precisions of an operation's source and destination."""
    if isinstance(descriptor, ConvOperation | CdpOperation):
        return descriptor.input_precision, descriptor.output_precision
    if isinstance(descriptor, SdpOperation):
        return descriptor.source_precision, descriptor.destination_precision
    if isinstance(descriptor, PdpOperation | RubikOperation):
        return descriptor.precision, descriptor.precision
    return 0, 0


def used_cubes(
    descriptor: Descriptor, surface: Surface, configuration: Configuration
) -> Iterator[tuple[str, Cube]]:
    """Yield the cubes that an operation uses, with their names.

    A contraction reads the channels that its result needs, as many as there are in whole atoms;
    the vendor's compiler states fewer.
    """
    for name, cube in cubes_of(surface):
        if (
            name == "source"
            and isinstance(surface, TwoCubes)
            and isinstance(descriptor, RubikOperation)
            and descriptor.mode == rubik.CONTRACT
        ):
            atom = configuration.atom_elements(Precision(descriptor.precision))
            channels = rubik.channels_read(descriptor, surface.destination.channels, atom)
            yield name, replace(cube, channels=channels)
        else:
            yield name, cube


def features_of(descriptor: Descriptor) -> set[str]:
    """Return the names of the cubes that are stored as feature data, but for operands of SDP."""
    if isinstance(descriptor, ConvOperation) and descriptor.data_format != FEATURE:
        return {"destination"}
    return {name for name in _ENDS if not is_planar(descriptor, name)}


def images_of(descriptor: Descriptor) -> tuple[int, int]:
    """Return the images of an operation's batch, and how many bytes they are apart in memory."""
    if isinstance(descriptor, ConvOperation | SdpOperation):
        return max(descriptor.batch, 1), descriptor.batch_stride
    return 1, 0


def is_planar(descriptor: Descriptor, name: str) -> bool:
    """Report whether a cube is stored in planes."""
    if not isinstance(descriptor, RubikOperation):
        return False
    return (descriptor.mode, name) in ((rubik.SPLIT, "destination"), (rubik.MERGE, "source"))
