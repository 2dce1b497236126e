"""Choose the tiles of a convolution by what they cost, in cycles of the description."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...dialects.core.errors import Unsupported
from ...dialects.dla.window_tiles import TABLE_BYTES
from .blocks import halves
from .layout import Layout
from .tiler import even, parts


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
        spans = [
            (out - 1) * stride + (taps - 1) * dilation + 1
            for out, stride, taps, dilation in zip(
                (rows, columns), self.strides, self.kernel, self.dilations, strict=True
            )
        ]
        return min(spans[0], self.size[0]), min(spans[1], self.size[1])


@dataclass(frozen=True)
class ConvPlan:
    """Say how a convolution is cut: a tile of the result, and channels summed at once.

    With `filters_outside` weights are loaded once and images again for each part of the filters,
    otherwise the other way round. `keep` is how many chunks of weights stay.
    """

    rows: int
    columns: int
    filters: int
    channels: int
    filters_outside: bool
    keep: int


def plan_conv(shape: ConvShape, layout: Layout, budget: int, weights: int) -> ConvPlan:
    """Return the cheapest plan whose tiles fit into so many bytes of sram and of weights.

    Raises Unsupported when there is none.
    """
    best = min(
        _plans(shape, layout, budget, weights),
        key=lambda plan: (_cycles(plan, shape, layout), -plan.rows, -plan.filters, -plan.channels),
        default=None,
    )
    if best is None:
        raise Unsupported(
            f"has no tile that fits into {budget} bytes of sram and {weights} of weights"
        )
    return best


def _plans(shape: ConvShape, layout: Layout, budget: int, weights: int) -> Iterator[ConvPlan]:
    for filters in halves(shape.filters, layout.grain):
        depths = [1] if shape.depthwise else list(halves(shape.channels, layout.grain))
        for channels in depths:
            size = chunk_bytes(shape, layout, filters, channels)
            if size > weights:
                continue
            chunks = len(parts(shape.filters, filters)) * _depth(shape, channels)
            for columns in halves(shape.out[1]):
                rows = _rows(shape, layout, columns, filters, budget)
                if not rows:
                    continue
                for count in dict.fromkeys((rows, even(shape.out[0], max(rows // 2, 1)))):
                    # Weights go around inside; they are loaded once if there is room for all.
                    stay = chunks if chunks * size <= weights else 1
                    yield ConvPlan(count, columns, filters, channels, False, stay)
                    around = _depth(shape, channels)
                    if around * size <= weights:
                        yield ConvPlan(count, columns, filters, channels, True, around)
                break  # narrower tiles only when whole rows do not fit


def chunk_bytes(shape: ConvShape, layout: Layout, filters: int, channels: int) -> int:
    """Return how many bytes the weights of so many filters and channels take, with their table."""
    padded = layout.description.padded(filters)
    kernel = layout.aligned(shape.taps * channels * padded)
    return kernel + layout.aligned(TABLE_BYTES * padded)


def _depth(shape: ConvShape, channels: int) -> int:
    return 1 if shape.depthwise else len(parts(shape.channels, channels))


def _rows(shape: ConvShape, layout: Layout, columns: int, filters: int, budget: int) -> int:
    """Return the most rows of a tile that fit, of about the same size; 0 if not even one does."""
    sums = layout.capacity("accumulator") // (4 * columns * layout.description.padded(filters))
    most = 0
    for rows in range(1, min(sums, shape.out[0]) + 1):
        if tile_bytes(shape, layout, rows, columns, filters) > budget:
            break
        most = rows
    return even(shape.out[0], most) if most else 0


def tile_bytes(shape: ConvShape, layout: Layout, rows: int, columns: int, filters: int) -> int:
    """Return how many bytes of sram a tile takes with the window that it needs."""
    taken = shape.taken(rows, columns)
    channels = filters if shape.depthwise else shape.channels
    source = taken[0] * taken[1] * layout.padded(channels) if shape.loads else 0
    return source + (rows * columns * layout.padded(filters) if shape.stores else 0)


def _cycles(plan: ConvPlan, shape: ConvShape, layout: Layout) -> int:
    """Estimate how long the engines take: the longest one, and a part of the others."""
    engines = layout.description.engines
    tiles = shape.images * -(-shape.out[0] // plan.rows) * -(-shape.out[1] // plan.columns)
    groups, depth = len(parts(shape.filters, plan.filters)), _depth(shape, plan.channels)
    size = chunk_bytes(shape, layout, plan.filters, plan.channels)
    chunks = groups * depth
    once = plan.filters_outside or plan.keep == chunks
    loads = chunks if once else chunks * tiles
    taken = shape.taken(plan.rows, plan.columns)
    width = plan.filters if shape.depthwise else shape.channels
    source = taken[0] * taken[1] * layout.padded(width)
    again = shape.depthwise or (plan.filters_outside and tiles > 1)
    images = tiles * (groups if again else 1) * shape.loads
    cost = engines["load"].costs
    load = (loads + images) * cost["latency"]
    load += (loads * size + images * source) // cost["bytes_per_cycle"]
    cost = engines["store"].costs
    result = plan.rows * plan.columns * layout.padded(plan.filters)
    store = tiles * groups * (cost["latency"] + result // cost["bytes_per_cycle"]) * shape.stores
    mac = _mac_cycles(plan, shape, layout, tiles * groups * depth)
    every = (load, store, mac)
    return max(every) + sum(every) // 8


def _mac_cycles(plan: ConvPlan, shape: ConvShape, layout: Layout, packets: int) -> int:
    cost = layout.description.engines["mac"].costs
    channels = 1 if shape.depthwise else -(-plan.channels // cost["rows"])
    steps = channels * -(-plan.filters // cost["columns"]) * shape.taps
    return packets * (cost["overhead"] + steps * plan.rows * plan.columns)
