"""Find the faults of sizes: windows of convolutions and pools, and what CBUF has room for."""

from collections.abc import Iterator

from ..configuration import Configuration
from ..format.network import Precision, Storage
from ..format.operations import ConvOperation, ConvSurface, PdpOperation, TwoCubes
from ..image_weights import rows_fit
from ..pixels import FEATURE, PixelFormat, pixel_format
from ..reference.pixels import lines_at_once
from ..surfaces import WEIGHT_UNIT, bank_use, entries_per_slice, pixel_entries
from .winograd_faults import winograd_faults

LARGEST_WINDOW, MOST_SPLITS = 8, 64
"""What pools have at most: sizes and strides of windows, and parts of the width."""


def conv_faults(
    operation: ConvOperation, surface: ConvSurface, configuration: Configuration
) -> Iterator[str]:
    """Yield the faults of a direct convolution, in words."""
    banks = operation.data_banks + operation.weight_banks
    if banks > configuration.banks:
        yield f"needs {banks} banks of CBUF, {configuration.name} has {configuration.banks}"
    converter = operation.output_converter
    if converter.scale != 1 or converter.offset:
        has = f"scale {converter.scale} and offset {converter.offset}"
        yield f"has an output converter with {has}, must truncate alone"
    if not (operation.data_banks and operation.weight_banks):
        yield "has no banks of CBUF for data or for weights, must have both"
    if surface.weights.size % WEIGHT_UNIT:
        yield f"has {surface.weights.size} bytes of weights, must be a multiple of {WEIGHT_UNIT}"
    if operation.weight_format:
        yield from _compression_faults(operation, surface, configuration)
    else:
        weights = operation.bytes_per_kernel * surface.destination.channels
        if weights > surface.weights.size:
            yield f"has {surface.weights.size} bytes of weights, its kernels have {weights}"
    form = pixel_format(operation.data_format)
    if operation.data_format > FEATURE:
        yield f"has data of format {operation.data_format}, must be 0 to {FEATURE}"
    elif operation.mode:
        yield from winograd_faults(operation, surface, configuration)
    else:
        faults = () if form is None else tuple(_pixel_faults(operation, form, configuration))
        yield from faults
        if not faults:
            yield from _size_faults(operation, surface, _columns(operation, form))
            yield from _entry_faults(operation, form, configuration)


def _compression_faults(
    operation: ConvOperation, surface: ConvSurface, configuration: Configuration
) -> Iterator[str]:
    """Yield the faults of compressed weights, whose masks have a bank of CBUF of their own."""
    if operation.weight_format > 1 or not configuration.compression:
        yield f"has weights of format {operation.weight_format}, {configuration.name} has none such"
        return
    banks = operation.data_banks + operation.weight_banks + 1
    if banks > configuration.banks:
        yield f"needs {banks} banks of CBUF, {configuration.name} has {configuration.banks}"
    mask, groups = surface.weight_mask, surface.weight_groups
    for name, cube in (("weight_mask", mask), ("weight_groups", groups)):
        if cube.storage == Storage.ON_THE_FLY:
            yield f"'{name}' is on the fly, must be in memory"
    kernels = surface.destination.channels
    bits = operation.bytes_per_kernel * kernels // _precision(operation).bytes
    if mask.size * 8 < bits or mask.size % WEIGHT_UNIT:
        yield f"has a mask of {mask.size} bytes, {bits} weights need units of {WEIGHT_UNIT} bytes"
    size = 4 * -(-kernels // configuration.kernel_group(_precision(operation)))
    if groups.size < size:
        yield f"has {groups.size} bytes for sizes of groups, must be {size}"


def _columns(operation: ConvOperation, form: PixelFormat | None) -> int:
    """Return the columns of a kernel; those of kernels for pixels are among its channels."""
    return operation.kernel_width if form is None else operation.kernel_channels // form.channels


def _precision(operation: ConvOperation) -> Precision:
    """Return the precision of products; only pixels are converted to another one."""
    is_feature = pixel_format(operation.data_format) is None
    return Precision(operation.input_precision if is_feature else operation.output_precision)


def _pixel_faults(
    operation: ConvOperation, form: PixelFormat, configuration: Configuration
) -> Iterator[str]:
    channels, lines = operation.kernel_channels, lines_at_once(operation)
    if operation.channels_csc != form.channels:
        yield f"has {operation.channels_csc} channels, pixels {form} have {form.channels}"
    if operation.input_precision != form.precision:
        yield f"has precision {operation.input_precision}, pixels {form} have {form.precision}"
    if operation.kernel_width != 1 or not channels or channels % form.channels:
        has = f"{operation.kernel_width} columns of {channels} channels"
        yield f"has kernels with {has}, must be 1 of a multiple of {form.channels}"
    if not rows_fit(lines, form.channels, channels, operation.stride_x, configuration):
        most = configuration.macs_channels
        yield f"has {lines} rows of {channels} channels at once, which need more than {most} MACs"


def _size_faults(operation: ConvOperation, surface: ConvSurface, columns: int) -> Iterator[str]:
    if not (operation.stride_x and operation.stride_y):
        yield "has stride 0, must be 1 or more"
        return
    width = output_size(
        operation.width_csc,
        operation.pad_left + operation.pad_right,
        columns,
        operation.dilation_x,
        operation.stride_x,
    )
    height = output_size(
        operation.height_csc,
        operation.pad_top + operation.pad_bottom,
        operation.kernel_height,
        operation.dilation_y,
        operation.stride_y,
    )
    if (width, height) != (operation.width_cmac, operation.height_cmac):
        stated = f"{operation.width_cmac}x{operation.height_cmac}"
        yield f"has output {stated}, its window and strides give {width}x{height}"
    source = surface.source
    sizes = operation.channels_csc, operation.height_csc, operation.width_csc
    if (source.channels, source.height, source.width) != sizes:
        yield "has another size of input than 'source'"
    kernel = operation.kernel_width * operation.kernel_height * operation.kernel_channels
    kernel *= _precision(operation).bytes
    if operation.bytes_per_kernel != kernel:
        yield f"has {operation.bytes_per_kernel} bytes for each kernel, must be {kernel}"


def _entry_faults(
    operation: ConvOperation, form: PixelFormat | None, configuration: Configuration
) -> Iterator[str]:
    precision = _precision(operation)
    width, channels = operation.width_csc, operation.channels_csc
    if form is None:
        entries = entries_per_slice(width, channels, configuration, precision)
    else:
        padded = operation.pad_left + width + operation.pad_right
        entries = pixel_entries(padded, channels, configuration, precision)
    if operation.entries_per_slice != entries:
        yield f"has {operation.entries_per_slice} entries per row in CBUF, must be {entries}"
    rows = (operation.kernel_height - 1) * operation.dilation_y + 1
    rows = min(max(rows, 1), operation.height_csc)
    needed = bank_use(configuration, entries * max(operation.batch, 1), rows, 0).data
    if operation.data_banks < needed:
        yield f"has {operation.data_banks} banks for data, a window of rows needs {needed}"


def pool_faults(operation: PdpOperation, surface: TwoCubes) -> Iterator[str]:
    """Yield the faults of a pool, in words."""
    if not (operation.stride_x and operation.stride_y):
        yield "has stride 0, must be 1 or more"
        return
    pads = operation.pad_left + operation.pad_right, operation.pad_top + operation.pad_bottom
    source, destination = surface.source, surface.destination
    kernel = operation.window_width + 1, operation.window_height + 1
    width = output_size(source.width, pads[0], kernel[0], 1, operation.stride_x)
    height = output_size(source.height, pads[1], kernel[1], 1, operation.stride_y)
    if (destination.width, destination.height) != (width, height):
        stated = f"{destination.width}x{destination.height}"
        yield f"has output {stated}, its window and strides give {width}x{height}"
    if source.channels != destination.channels:
        yield f"has {destination.channels} channels of output, {source.channels} of input"
    if max(kernel) > LARGEST_WINDOW:
        most = f"{LARGEST_WINDOW}x{LARGEST_WINDOW}"
        yield f"has a window of {kernel[0]}x{kernel[1]}, must be {most} or less"
    if max(operation.stride_x, operation.stride_y) > LARGEST_WINDOW:
        strides = f"{operation.stride_x} and {operation.stride_y}"
        yield f"has strides {strides}, must be {LARGEST_WINDOW} or less"
    yield from _split_faults(operation, surface)


def _split_faults(operation: PdpOperation, surface: TwoCubes) -> Iterator[str]:
    """Yield the faults of a pool that is computed in parts of the width."""
    splits = operation.splits
    if not 1 <= splits <= MOST_SPLITS:
        yield f"has {splits} parts of the width, must be 1 to {MOST_SPLITS}"
    elif splits > 1:
        if surface.source.storage == Storage.ON_THE_FLY:
            yield f"has {splits} parts of the width, must be 1 on the fly"
        # Columns between windows, where parts meet, may be left out.
        gap = max(operation.stride_x - operation.window_width - 1, 0)
        ends = (("input", surface.source, gap), ("output", surface.destination, 0))
        for end, cube, left_out in ends:
            first, middle, last = (
                getattr(operation, f"{end}_width_{part}") for part in ("first", "middle", "last")
            )
            total = first + middle * (splits - 2) + last
            if not cube.width - left_out * (splits - 1) <= total <= cube.width:
                yield f"has parts of {end} with {total} columns in all, must be {cube.width}"


def output_size(size: int, pads: int, kernel: int, dilation: int, stride: int) -> int:
    """Return how many windows fit along an axis."""
    return (size + pads - ((kernel - 1) * dilation + 1)) // stride + 1
