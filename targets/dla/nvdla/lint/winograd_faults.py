"""Find the faults of Winograd convolutions, whose images are whole tiles of 4x4 pixels."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..configuration import Configuration
from ..format.dla_task import DlaTask
from ..format.network import Precision
from ..format.operations import ConvOperation, ConvSurface, SdpOperation
from ..pixels import FEATURE
from ..surfaces import winograd_entries


def winograd_faults(
    operation: ConvOperation, surface: ConvSurface, configuration: Configuration
) -> Iterator[str]:
    """Yield the faults of a convolution in a mode other than direct, in words."""
    if operation.mode > 1 or operation.data_format != FEATURE:
        yield f"has mode {operation.mode}, must be 0, or 1 for feature data"
        return
    if not configuration.winograd:
        yield f"{configuration.name} has no Winograd"
    if not (operation.stride_x and operation.stride_y):
        yield "has stride 0, must be 1 or more"
        return
    source, size = surface.source, Precision(operation.input_precision).bytes
    down = operation.pad_top + source.height + operation.pad_bottom
    across = operation.pad_left + source.width + operation.pad_right
    stated = operation.height_csc * operation.stride_y, operation.width_csc * operation.stride_x
    if (down, across) != stated or operation.height_csc % 4 or operation.width_csc % 4:
        has = f"{operation.width_csc}x{operation.height_csc}"
        yield f"has phases of {has} pixels, must be multiples of 4 and the padded image by strides"
    if operation.height_cmac % 4 or operation.width_cmac % 4:
        yield f"has output {operation.width_cmac}x{operation.height_cmac}, must be multiples of 4"
    if operation.height_cmac + 2 > operation.height_csc or (
        operation.width_cmac + 2 > operation.width_csc
    ):
        yield "has output that reaches behind its input"
    elements = configuration.atom // size
    channels = -(-source.channels // elements) * elements
    channels *= operation.stride_x * operation.stride_y
    if (operation.channels_csc, operation.kernel_channels) != (channels, channels):
        has = f"{operation.channels_csc} and {operation.kernel_channels}"
        yield f"has {has} channels of data and kernels, must be {channels}"
    if (operation.kernel_height, operation.kernel_width) != (4, 4):
        yield f"has kernels of {operation.kernel_width}x{operation.kernel_height}, must be 4x4"
    kernel = 16 * channels * size
    if operation.bytes_per_kernel != kernel:
        yield f"has {operation.bytes_per_kernel} bytes for each kernel, must be {kernel}"
    precision = Precision(operation.input_precision)
    entries = winograd_entries(operation.width_csc, channels, configuration, precision)
    if operation.entries_per_slice != entries:
        yield f"has {operation.entries_per_slice} entries per row in CBUF, must be {entries}"


def mode_faults(task: DlaTask, chains: Sequence[Sequence[int]]) -> Iterator[tuple[str, str]]:
    """Yield the operations of SDP that are in another mode than what feeds them, and this in words.

    Results of Winograd convolutions come tile by tile, and SDP stores them in their places.
    """
    for chain in chains:
        for fed_by, number in pairwise(chain):
            before, operation = task.operations[fed_by], task.operations[number]
            conv, sdp = before.descriptor, operation.descriptor
            if not (isinstance(conv, ConvOperation) and isinstance(sdp, SdpOperation)):
                continue
            if conv.mode != sdp.conv_mode:
                message = f"has mode {sdp.conv_mode} of convolutions, {before} has {conv.mode}"
                yield str(operation), message
