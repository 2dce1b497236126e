"""Which cubes of an operation are stored as feature data, and of which precision."""

from ..format.operations import (
    CdpOperation,
    ConvOperation,
    Descriptor,
    PdpOperation,
    RubikOperation,
    SdpOperation,
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
