"""Choose the tiles of a convolution by estimated cycles."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from ....dialects import dla
from ....dialects.core.errors import Unsupported
from ....dialects.core.numerics.integers import TABLE_BYTES
from ..layout.memory_layout import MemoryLayout
from .cycles import engine_costs, transfer_cycles, with_traffic
from .halo import extent, largest_halo
from .tile_sizes import even, halves, largest, parts

Parts = Sequence[tuple[int, int]]
"""The half-open parts of a range."""


@dataclass(frozen=True)
class ConvShape:
    """Sizes of a convolution, and whether its image is loaded and its result stored."""

    images: int
    size: tuple[int, int]
    channels: int
    out: tuple[int, int]
    filters: int
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    depthwise: bool
    loads: bool
    stores: bool

    @property
    def taps(self) -> int:
        return self.kernel[0] * self.kernel[1]

    def source_size(self, rows: int, columns: int) -> tuple[int, int]:
        """Return how many source rows and columns a tile of the result reads at most."""
        extents = tuple(map(extent, self.kernel, self.dilations))
        return largest_halo((rows, columns), self.strides, extents, self.size)


@dataclass(frozen=True)
class ConvPlan:
    """Sizes of a tile of the result, channels per accumulation step, and the loop order.

    With `filters_outside`, the loop over filters is the outer one: weights are loaded once, and
    images once per part of the filters, unless they are in a `line_buffer`. Otherwise tiles are the
    outer loop. `keep` chunks of weights are resident. With `ahead`, the window of the next tile is
    prefetched.
    """

    rows: int
    columns: int
    filters: int
    channels: int
    filters_outside: bool
    keep: int
    ahead: bool
    line_buffer: bool = False


def plan_conv(shape: ConvShape, layout: MemoryLayout, sram: int, weights: int) -> ConvPlan:
    """Return the cheapest plan for `sram` free bytes of SRAM and `weights` bytes per chunk.

    Raises Unsupported if there is none.
    """
    best = min(
        _plans(shape, layout, sram, weights),
        key=lambda plan: (
            cycles_of(plan, shape, layout),
            -plan.rows,
            -plan.filters,
            -plan.channels,
        ),
        default=None,
    )
    if best is None:
        sums = layout.capacity("accumulator")
        raise Unsupported(
            f"has no tile that fits into {sram} bytes of sram, {weights} of weights and {sums} of "
            "the accumulator"
        )
    return best


def _plans(shape: ConvShape, layout: MemoryLayout, sram: int, weights: int) -> Iterator[ConvPlan]:
    for filters in halves(shape.filters, layout.grain):
        channels = _most_channels(shape, layout, filters, weights)
        if not channels:
            continue
        size, around = chunk_bytes(shape, layout, filters, channels), _depth(shape, channels)
        chunks = len(parts(shape.filters, filters)) * around
        # As the inner loop, weights are loaded once if all of them fit.
        keep = chunks if chunks * size <= weights else 1
        turns = around * size <= weights
        for rows, columns, ahead in dict.fromkeys(_tiles(shape, layout, filters, sram)):
            yield ConvPlan(rows, columns, filters, channels, False, keep, ahead)
            if turns:
                yield ConvPlan(rows, columns, filters, channels, True, around, ahead)
        for rows in _beside_line_buffer(shape, layout, filters, sram) if turns else ():
            yield ConvPlan(rows, shape.out[1], filters, channels, True, around, True, True)


def _most_channels(shape: ConvShape, layout: MemoryLayout, filters: int, weights: int) -> int:
    """Return the most channels that a chunk of weights may have, 0 if none fit."""
    depths = [1] if shape.depthwise else halves(shape.channels, layout.grain)
    fitting = (n for n in depths if chunk_bytes(shape, layout, filters, n) <= weights)
    return next(fitting, 0)


def _tiles(
    shape: ConvShape, layout: MemoryLayout, filters: int, sram: int
) -> Iterator[tuple[int, int, bool]]:
    """Yield rows and columns of tiles, and whether a second window fits, for prefetching.

    Narrower tiles are tried only if no full row fits.
    """
    for columns in halves(shape.out[1]):
        found = False
        for ahead in (True, False):

            def fits(rows: int, columns: int = columns, ahead: bool = ahead) -> bool:
                source, result = tile_footprint(shape, layout, rows, columns, filters)
                return source * (1 + ahead) + result * 2 <= sram

            for rows in _rows(shape, layout, columns, filters, fits):
                yield rows, columns, ahead
                found = True
        if found:
            return


def _beside_line_buffer(
    shape: ConvShape, layout: MemoryLayout, filters: int, sram: int
) -> Iterator[int]:
    """Yield how many rows tiles may have beside a line buffer for all images."""
    width = filters if shape.depthwise else shape.channels
    whole = shape.images * prod(shape.size) * layout.padded(width)
    if not shape.loads or whole > sram:
        return

    def fits(rows: int) -> bool:
        _, result = tile_footprint(shape, layout, rows, shape.out[1], filters)
        return whole + result * 2 <= sram

    yield from _rows(shape, layout, shape.out[1], filters, fits)


def _rows(
    shape: ConvShape, layout: MemoryLayout, columns: int, filters: int, fits: Callable[[int], bool]
) -> Iterator[int]:
    """Yield numbers of rows that fit, of equal tiles: the most, a half and a quarter of these."""
    sums = layout.capacity("accumulator") // (4 * columns * layout.description.padded(filters))
    most = largest(fits, min(sums, shape.out[0]))
    for share in (1, 2, 4) if most else ():
        yield even(shape.out[0], max(most // share, 1))


def chunk_bytes(shape: ConvShape, layout: MemoryLayout, filters: int, channels: int) -> int:
    """Return the bytes of the weights for some filters and channels, with their table."""
    padded = layout.description.padded(filters)
    kernel = layout.aligned(shape.taps * channels * padded)
    return kernel + layout.aligned(TABLE_BYTES * padded)


def _depth(shape: ConvShape, channels: int) -> int:
    return 1 if shape.depthwise else len(parts(shape.channels, channels))


def tile_footprint(
    shape: ConvShape, layout: MemoryLayout, rows: int, columns: int, filters: int
) -> tuple[int, int]:
    """Return the bytes of SRAM of the window that a tile reads, and of the tile itself."""
    source_rows, source_columns = shape.source_size(rows, columns)
    width = filters if shape.depthwise else shape.channels
    source = source_rows * source_columns * layout.padded(width) if shape.loads else 0
    return source, rows * columns * layout.padded(filters) if shape.stores else 0


def cycles_of(plan: ConvPlan, shape: ConvShape, layout: MemoryLayout) -> int:
    """Estimate the cycles of a plan, weighted with DRAM traffic (see `with_traffic`).

    Engines run in parallel, so that the slowest one counts, plus the first loads, the last store,
    and loads that are not prefetched.
    """
    rows, columns = parts(shape.out[0], plan.rows), parts(shape.out[1], plan.columns)
    tiles = shape.images * len(rows) * len(columns)
    filters = parts(shape.filters, plan.filters)
    chunks = len(filters) * _depth(shape, plan.channels)
    images = _image_cycles(plan, shape, layout, rows, columns)
    weights, first = _weight_cycles(plan, shape, layout, tiles)
    window, result = tile_footprint(shape, layout, plan.rows, plan.columns, plan.filters)
    store = last = 0
    if shape.loads:
        first += transfer_cycles(layout, dla.Load, 1, window)
    if shape.stores:
        made = shape.images * prod(shape.out) * _width(filters, layout)
        store = transfer_cycles(layout, dla.Store, tiles * len(filters), made)
        last = transfer_cycles(layout, dla.Store, 1, result)
    mac = _mac_cycles(plan, shape, layout, tiles * chunks)
    longest = max(images * plan.ahead + weights, store, mac)
    cycles = first + longest + images * (not plan.ahead) + last
    return with_traffic(cycles, images + weights + store)


def _image_cycles(
    plan: ConvPlan, shape: ConvShape, layout: MemoryLayout, rows: Parts, columns: Parts
) -> int:
    """Return the cycles of loading windows."""
    if not shape.loads:
        return 0
    filters = parts(shape.filters, plan.filters)
    around = shape.depthwise or (plan.filters_outside and not plan.line_buffer)
    count = shape.images * len(rows) * len(columns)
    times = len(filters) if around and count > 1 else 1
    read = [
        sum(shape.source_size(end - first, end - first)[axis] for first, end in cuts)
        for axis, cuts in enumerate((rows, columns))
    ]
    pixels = shape.images * prod(shape.size if plan.line_buffer else read)
    if shape.depthwise:
        size = pixels * _width(filters, layout)
    else:
        size = pixels * times * layout.padded(shape.channels)
    return transfer_cycles(layout, dla.Load, count * times, size)


def _weight_cycles(
    plan: ConvPlan, shape: ConvShape, layout: MemoryLayout, tiles: int
) -> tuple[int, int]:
    """Return the cycles of loading all weights, and of loading the first chunk."""
    filters = parts(shape.filters, plan.filters)
    chunks = len(filters) * _depth(shape, plan.channels)
    times = 1
    if plan.keep < chunks:
        times = 1 if plan.filters_outside else tiles
    depth = 1 if shape.depthwise else shape.channels
    size = _width(filters, layout) * (shape.taps * depth + TABLE_BYTES)
    chunk = transfer_cycles(layout, dla.LoadWeights, 1, size // chunks)
    return transfer_cycles(layout, dla.LoadWeights, chunks * times, size * times), chunk


def _mac_cycles(plan: ConvPlan, shape: ConvShape, layout: MemoryLayout, packets: int) -> int:
    costs = engine_costs(layout, dla.ConvTile)
    filters = _steps(shape.filters, plan.filters, costs["columns"])
    channels = 1 if shape.depthwise else _steps(shape.channels, plan.channels, costs["rows"])
    steps = filters * channels * shape.taps * shape.images * prod(shape.out)
    return packets * costs["overhead"] + steps


def _steps(total: int, step: int, lanes: int) -> int:
    """Return the engine steps of all parts of a range."""
    return sum(-(-(end - first) // lanes) for first, end in parts(total, step))


def _width(filters: Parts, layout: MemoryLayout) -> int:
    """Return the bytes of all filters of a pixel, in padded tiles."""
    return sum(layout.padded(end - first) for first, end in filters)
