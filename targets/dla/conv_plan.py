"""Choose the tiles of a convolution by what they cost, in cycles of the description."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...dialects.core.errors import Unsupported
from ...dialects.dla.window_tiles import TABLE_BYTES
from .blocks import halves
from .layout import Layout
from .spans import most_taken
from .tiler import even, parts
from .windows import extent


@dataclass(frozen=True)
class ConvShape:
    """Describe a convolution to be tiled: sizes, and what has to be loaded and stored."""

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

    def taken(self, rows: int, columns: int) -> tuple[int, int]:
        """Return how many rows and columns of the image so many of the result need, at most."""
        extents = tuple(map(extent, self.kernel, self.dilations))
        return most_taken((rows, columns), self.strides, extents, self.size)


@dataclass(frozen=True)
class ConvPlan:
    """Say how a convolution is cut: a tile of the result, and channels summed at once.

    With `filters_outside` weights are loaded once and images again for each part of the filters,
    otherwise the other way round. `keep` is how many chunks of weights stay. Where there is room
    for it, the window of the next tile is loaded `ahead`.
    """

    rows: int
    columns: int
    filters: int
    channels: int
    filters_outside: bool
    keep: int
    ahead: bool


def plan_conv(shape: ConvShape, layout: Layout, room: int, weights: int) -> ConvPlan:
    """Return the cheapest plan for so much room in sram, and chunks of so many bytes of weights.

    Raises Unsupported when there is none.
    """
    best = min(
        _plans(shape, layout, room, weights),
        key=lambda plan: (_cycles(plan, shape, layout), -plan.rows, -plan.filters, -plan.channels),
        default=None,
    )
    if best is None:
        sums = layout.capacity("accumulator")
        raise Unsupported(
            f"has no tile that fits into {room} bytes of sram, {weights} of weights and {sums} of "
            "the accumulator"
        )
    return best


def _plans(shape: ConvShape, layout: Layout, room: int, weights: int) -> Iterator[ConvPlan]:
    for filters in halves(shape.filters, layout.grain):
        depths = [1] if shape.depthwise else list(halves(shape.channels, layout.grain))
        for channels in depths:
            if (size := chunk_bytes(shape, layout, filters, channels)) > weights:
                continue
            around = _depth(shape, channels)
            chunks = len(parts(shape.filters, filters)) * around
            for rows, columns, ahead in dict.fromkeys(_tiles(shape, layout, filters, room)):
                # Weights go around inside; they are loaded once if there is room for all.
                stay = chunks if chunks * size <= weights else 1
                yield ConvPlan(rows, columns, filters, channels, False, stay, ahead)
                if around * size <= weights:
                    yield ConvPlan(rows, columns, filters, channels, True, around, ahead)


def _tiles(
    shape: ConvShape, layout: Layout, filters: int, room: int
) -> Iterator[tuple[int, int, bool]]:
    """Yield rows and columns of tiles, and whether one more of its windows fits, to run ahead.

    Narrower tiles are tried only when whole rows do not fit.
    """
    for columns in halves(shape.out[1]):
        found = False
        for ahead in (True, False):
            rows = _rows(shape, layout, columns, filters, room, ahead)
            for count in (rows, even(shape.out[0], max(rows // 2, 1))) if rows else ():
                yield count, columns, ahead
                found = True
        if found:
            return


def chunk_bytes(shape: ConvShape, layout: Layout, filters: int, channels: int) -> int:
    """Return how many bytes the weights of so many filters and channels take, with their table."""
    padded = layout.description.padded(filters)
    kernel = layout.aligned(shape.taps * channels * padded)
    return kernel + layout.aligned(TABLE_BYTES * padded)


def _depth(shape: ConvShape, channels: int) -> int:
    return 1 if shape.depthwise else len(parts(shape.channels, channels))


def _rows(
    shape: ConvShape, layout: Layout, columns: int, filters: int, room: int, ahead: bool
) -> int:
    """Return the most rows of a tile that fit, of about the same size; 0 if not even one does."""
    sums = layout.capacity("accumulator") // (4 * columns * layout.description.padded(filters))
    most = 0
    for rows in range(1, min(sums, shape.out[0]) + 1):
        source, result = tile_bytes(shape, layout, rows, columns, filters)
        if source * (1 + ahead) + result * 2 > room:
            break
        most = rows
    return even(shape.out[0], most) if most else 0


def tile_bytes(
    shape: ConvShape, layout: Layout, rows: int, columns: int, filters: int
) -> tuple[int, int]:
    """Return how many bytes of sram the window that a tile needs takes, and the tile itself."""
    taken = shape.taken(rows, columns)
    width = filters if shape.depthwise else shape.channels
    source = taken[0] * taken[1] * layout.padded(width) if shape.loads else 0
    return source, rows * columns * layout.padded(filters) if shape.stores else 0


def _cycles(plan: ConvPlan, shape: ConvShape, layout: Layout) -> int:
    """Estimate how long the engines take: the longest one, and a part of what dram moves."""
    costs = {name: layout.description.costs(name) for name in ("load", "load_weights", "store")}
    tiles = shape.images * -(-shape.out[0] // plan.rows) * -(-shape.out[1] // plan.columns)
    groups, depth = len(parts(shape.filters, plan.filters)), _depth(shape, plan.channels)
    size = chunk_bytes(shape, layout, plan.filters, plan.channels)
    source, result = tile_bytes(shape, layout, plan.rows, plan.columns, plan.filters)
    chunks = groups * depth
    once = plan.filters_outside or plan.keep == chunks
    again = shape.depthwise or (plan.filters_outside and tiles > 1)
    weights = _moved(costs["load_weights"], chunks if once else chunks * tiles, size)
    images = _moved(costs["load"], tiles * (groups if again else 1) * shape.loads, source)
    store = _moved(costs["store"], tiles * groups * shape.stores, result)
    mac = _mac_cycles(plan, shape, layout, tiles * chunks)
    longest = max(images * plan.ahead + weights, store, mac)
    return longest + images * (not plan.ahead) + (images + weights + store) // 4


def _moved(costs: Mapping[str, int], packets: int, size: int) -> int:
    """Return for how many cycles an engine moves packets of a size."""
    return packets * (costs["latency"] + size // costs["bytes_per_cycle"])


def _mac_cycles(plan: ConvPlan, shape: ConvShape, layout: Layout, packets: int) -> int:
    cost = layout.description.costs("conv")
    channels = 1 if shape.depthwise else -(-plan.channels // cost["rows"])
    steps = channels * -(-plan.filters // cost["columns"]) * shape.taps
    return packets * (cost["overhead"] + steps * plan.rows * plan.columns)
