"""Fit a convolution into CBUF, the buffer of convolutions: its data and its weights have banks.

In the order of preference: all data and all weights; all data and some groups of kernels, which
follow one another; some rows of data at a time; some columns of these. Two groups of kernels let
one be loaded while the other is used.
"""

from dataclasses import dataclass
from math import gcd, prod

from .....dialects.core.attributes import tensor_of
from .....dialects.core.tensor import Shape
from ..configuration import Configuration
from ..dialect.convolution import Conv
from ..dialect.dialect import precision_of
from ..format.network import Precision
from ..surfaces import WEIGHT_UNIT, entries_per_slice, winograd_entries
from .pixel_convs import pixel_sizes

INT8 = Precision.INT8


@dataclass(frozen=True)
class Fit:
    """How many rows of the result are computed at a time, and the banks for that.

    Where whole rows do not fit, `columns` are those of a part, which then has a fit of its own.
    """

    rows: int
    data_banks: int
    weight_banks: int
    columns: int | None = None


@dataclass(frozen=True)
class ConvSizes:
    """The sizes of a convolution: x [C, H, W], weights [K, C, R, S], those of the result [H', W'].

    `reach` is the rows and columns of a window, dilated. `padded` are the weights as they are
    stored, `entries` is what a row of data occupies, which may be an image of pixels;
    `precision` is that of data and weights. `winograd` is computed as a whole, its `x` is padded.
    """

    x: Shape
    w: Shape
    out: Shape
    strides: Shape
    reach: Shape
    padded: Shape
    entries: int
    is_pixels: bool
    precision: Precision = INT8
    winograd: bool = False


def conv_sizes(op: Conv, configuration: Configuration) -> ConvSizes:
    """Return what an op needs in CBUF."""
    x, w = tensor_of(op.x.type).shape, tensor_of(op.w.type).shape
    reach = tuple((n - 1) * by + 1 for n, by in zip(w[2:], op.dilations, strict=True))
    precision = precision_of(tensor_of(op.x.type).dtype)
    if op.winograd:
        return winograd_sizes(x, w, op.pads, configuration, precision)
    if op.form is None:
        padded = padded_weights(w, configuration, precision)
        entries = entries_per_slice(x[3], padded[1], configuration, precision)
    else:
        found = pixel_sizes(op, op.form, configuration)
        padded, entries = found.weights, found.entries
    out, is_pixels = tensor_of(op.y.type).shape[2:], op.form is not None
    return ConvSizes(x[1:], w, out, op.strides, reach, padded, entries, is_pixels, precision)


def winograd_sizes(
    x: Shape, w: Shape, pads: Shape, configuration: Configuration, precision: Precision
) -> ConvSizes:
    """Return what a Winograd convolution needs: x [N, C, H, W], transformed w [K, C, 4, 4]."""
    height, width = x[2] + pads[0] + pads[2], x[3] + pads[1] + pads[3]
    atom = configuration.atom_elements(precision)
    padded = (w[0], -(-w[1] // atom) * atom, *w[2:])
    entries = winograd_entries(width, padded[1], configuration, precision)
    image, out = (x[1], height, width), (height - w[2], width - w[3])
    return ConvSizes(image, w, out, (1, 1), w[2:], padded, entries, False, precision, winograd=True)


def padded_weights(
    shape: Shape, configuration: Configuration, precision: Precision = INT8
) -> Shape:
    """Return the sizes [K, C, R, S] of weights, which are a whole number of units of 128 bytes.

    Added are channels and kernels that fill an atom, which is in memory anyway, and at last a
    column. The vendor's model of nv_small gives wrong results after a convolution whose weights
    end within a unit.
    """
    kernels, channels, rows, columns = shape
    atom = configuration.atom_elements(precision)
    more_channels, more_kernels = (-(-n // atom) * atom for n in (channels, kernels))
    size = rows * more_channels * more_kernels * precision.bytes
    step = WEIGHT_UNIT // gcd(size, WEIGHT_UNIT)
    tried = (
        shape,
        (kernels, more_channels, rows, columns),
        (more_kernels, channels, rows, columns),
        (more_kernels, more_channels, rows, columns),
    )
    whole = (each for each in tried if _bytes(each, precision) % WEIGHT_UNIT == 0)
    return next(whole, (more_kernels, more_channels, rows, -(-columns // step) * step))


def fit(sizes: ConvSizes, configuration: Configuration) -> Fit | None:
    """Return the banks for a convolution, and its rows at a time; None where nothing fits."""
    height, space = sizes.x[1], _BankSpace(configuration, sizes.entries)
    weights = [
        space.weights(size) for size in _portions(sizes.padded, configuration, sizes.precision)
    ]
    least, window = space.data(height), space.data(min(sizes.reach[0], height))
    for banks in weights:
        if least + banks <= configuration.banks:
            rest = configuration.banks - least
            return Fit(sizes.out[0], least, min(weights[0], rest))
        if sizes.winograd:
            continue
        data = configuration.banks - banks
        # Parts of the data with all weights come before all of the data with few weights.
        if window <= data and banks in weights[:2]:
            return Fit(_rows(space.rows(data), sizes), data, banks)
    if sizes.winograd:
        return None
    if window + weights[-1] <= configuration.banks:
        data = configuration.banks - weights[-1]
        return Fit(_rows(space.rows(data), sizes), data, weights[-1])
    # Rows of pixels begin at multiples of 32 bytes, which parts of them would not.
    return None if sizes.is_pixels else _fit_columns(sizes, weights[-1], configuration)


def _fit_columns(sizes: ConvSizes, weights: int, configuration: Configuration) -> Fit | None:
    """Return as many columns of a row of windows as fit beside a group of kernels, evenly divided.

    Parts have two columns at least: the line of a single pixel must end with it.
    """
    data = configuration.banks - weights
    for parts in range(2, sizes.out[1] // 2 + 1):
        columns = -(-sizes.out[1] // parts)
        width = min((columns - 1) * sizes.strides[1] + sizes.reach[1], sizes.x[2])
        entries = entries_per_slice(width, sizes.padded[1], configuration, sizes.precision)
        space = _BankSpace(configuration, entries)
        if space.data(min(sizes.reach[0], sizes.x[1])) <= data:
            return Fit(1, data, weights, columns)
    return None


def _bytes(shape: Shape, precision: Precision) -> int:
    return prod(shape) * precision.bytes


def _portions(shape: Shape, configuration: Configuration, precision: Precision) -> list[int]:
    """Return the bytes of all weights, of two groups of kernels, and of one."""
    group = configuration.kernel_group(precision)
    counts = (min(count, shape[0]) for count in (shape[0], 2 * group, group))
    return [_bytes((count, *shape[1:]), precision) for count in counts]


@dataclass(frozen=True)
class _BankSpace:
    configuration: Configuration
    entries: int

    def data(self, rows: int) -> int:
        """Return the banks for rows of data."""
        return -(-self.entries * rows // self.configuration.bank_entries)

    def rows(self, banks: int) -> int:
        """Return the rows of data that banks hold."""
        return banks * self.configuration.bank_entries // self.entries

    def weights(self, size: int) -> int:
        """Return the banks for bytes of weights."""
        units = -(-size // WEIGHT_UNIT) * WEIGHT_UNIT
        return -(-units // self.configuration.bank_bytes)


def _rows(data: int, sizes: ConvSizes) -> int:
    """Return how many rows of a result need some rows of data."""
    return min((data - sizes.reach[0]) // sizes.strides[0] + 1, sizes.out[0])
