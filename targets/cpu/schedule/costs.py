"""The cost model of schedules, for ops without measurements.

The unit is one multiply-add of a vector. The weights are those with which the schedules that cost
least also take the least time, or nearly so, in ResNet-50, MobileNetV2, Inception v3, DeepLab v3,
FCN and RegNet on a machine with AVX-512; `--tune` measures on the machine at hand.
"""

from dataclasses import dataclass

from ....dialects.core.machine import Machine
from ....dialects.cpu.winograd import TRANSFORMS
from ..layout.winograd_layout import tiles_at_a_time, winograd_layout, winograd_spans
from .candidates import candidates
from .products import Product
from .schedule import PANEL, WINOGRAD, Schedule
from .tiles import most_rows

FEW = 16
"""With fewer channels than this, transforms cost more than the products that they save."""

LOAD = 2.3  # a vector of a panel, or a number for all lanes
WIDEN = 6.0  # a vector of a panel of f16 or bf16, which is converted to f32
COPY = 23.0  # a vector into a panel
WINDOW = 37.0  # a vector of windows into a panel
REREAD = 0.51  # a byte of weights that the caches have lost
LINE = 3.9  # a cache line of pixels
TRANSPOSE = 44.0  # a vector of results stored by pixels
SCATTERED = 3.5  # a vector that is read from a page of its own
DISTANT = 5.3  # a cache line of pixels of an image that outgrows the nearest caches
ALIASED = 6.5  # a cache line of pixels whose channels are a power of two apart
TRANSFORM = 80.0  # a vector of transformed tiles of one channel, or of products of one output
FETCH = 0.16  # a byte of transformed kernels
BLOCKED_TRANSFORM = 90.0  # a vector of channels of a tile, or of its outputs

FAR = {32 << 10: 0.5, 256 << 10: 16.0}
"""The extra cost of loading a vector of a panel with more bytes than the key."""

KEPT_BYTES = 512 << 10
"""Weights that outgrow this are not in the nearest caches when they are read again."""

PAGES = 64
"""The number of pages that the TLB covers at once."""

LINE_BYTES = 64

ALIASING = 2048
"""Rows that are a multiple of these bytes apart share few sets of a cache and evict each other."""


def cheapest(product: Product, machine: Machine, error: float) -> Schedule:
    """Return the schedule with the least expected time."""
    few = min(product.outputs, product.channels) < FEW
    possible = [s for s in candidates(product, machine, error) if s.method != WINOGRAD or not few]
    return min(possible, key=lambda schedule: cost(schedule, product, machine))


def cost(schedule: Schedule, product: Product, machine: Machine) -> float:
    """Return the expected cost of a product by a schedule."""
    if schedule.method == WINOGRAD:
        winograd = _blocked_winograd_cost if product.blocked else _winograd_cost
        return winograd(schedule.rows, product, machine)
    work = _Work.of(schedule, product, machine)
    total = _contraction_cost(work, schedule, product, machine)
    size = product.bits // 8
    if not product.is_conv:
        return total
    if product.blocked:
        return total + _blocked_reading(work, product)
    if schedule.method == PANEL:
        lines = -(-min(schedule.rows, work.rows) * size // LINE_BYTES)
        each = LINE
        if product.seen * product.channels * size > KEPT_BYTES:
            each += DISTANT
        if not product.moved and product.points * size % ALIASING == 0:
            each += ALIASED
        total += each * lines * product.depth * work.tiles * work.panels
        return total + TRANSPOSE * work.rows * work.vectors
    weights = product.outputs * product.depth * size
    if weights > KEPT_BYTES:
        total += REREAD * weights * (work.panels - 1)
    return total + product.depth * work.vectors * _reading(work, product)


def _blocked_reading(work: "_Work", product: Product) -> float:
    """Return the cost of reading the pixels of a blocked image that outgrows the caches."""
    size = product.bits // 8
    if product.seen * product.channels * size <= KEPT_BYTES:
        return 0.0
    return DISTANT * product.depth * size / LINE_BYTES * work.rows * work.panels


@dataclass(frozen=True)
class _Work:
    """Count the rows, the vectors of columns, and the passes over each."""

    rows: int
    vectors: int
    tiles: int  # of rows
    panels: int  # of columns

    @staticmethod
    def of(schedule: Schedule, product: Product, machine: Machine) -> "_Work":
        across = product.is_conv and schedule.method != PANEL
        rows, columns = product.points, product.outputs
        if across:
            rows, columns = columns, rows
        vectors = -(-columns // machine.lanes(product.bits))
        unit = product.image[-1] if product.moved and not across else 1
        # Tiles are whole lines of pixels, or parts of one.
        lines = schedule.rows // unit
        tiles = -(-rows // (lines * unit)) if lines else rows // unit * -(-unit // schedule.rows)
        return _Work(rows, vectors, tiles, -(-vectors // schedule.vectors))


def _contraction_cost(work: _Work, schedule: Schedule, product: Product, machine: Machine) -> float:
    """Return the cost of the products and of loading their operands."""
    loads = product.depth * (work.rows * work.panels + work.vectors * work.tiles)
    total = work.rows * work.vectors * product.depth + LOAD * loads
    if schedule.method == PANEL and product.is_widened:
        total += WIDEN * product.depth * work.vectors * work.tiles
    panel = schedule.vectors * machine.vector_bytes * product.depth
    for level, far in FAR.items():
        if panel > level:
            total += far * product.depth * work.vectors * work.tiles
    return total


def _blocked_winograd_cost(tile: int, product: Product, machine: Machine) -> float:
    points = TRANSFORMS[tile].points ** 2
    lanes = machine.lanes(product.bits)
    rows, columns = (-(-size // tile) for size in product.image)
    tiles, outputs, channels = rows * columns, product.outputs, product.channels
    vectors = 4 if outputs >= 4 * lanes else 2
    multiplied = points * tiles * channels * (outputs // lanes)
    loads = multiplied / most_rows(machine, vectors) + multiplied / vectors
    transformed = tiles * (channels + outputs) / lanes * points / 16
    kernels = points * outputs * channels * product.bits // 8
    if kernels > KEPT_BYTES:
        kernels *= -(-tiles // tiles_at_a_time(points, channels))
    return multiplied + LOAD * loads + BLOCKED_TRANSFORM * transformed + FETCH * kernels


def _winograd_cost(tile: int, product: Product, machine: Machine) -> float:
    """Return the cost of the transforms, and of one product for each point of a tile."""
    points = TRANSFORMS[tile].points ** 2
    lanes = machine.lanes(product.bits)
    rows, columns = (-(-size // tile) for size in product.image)
    arrange = winograd_layout if product.fixed else winograd_spans
    layout = arrange(tile, rows, columns, lanes)
    panels = layout.panels
    vectors = panels * layout.vectors
    outputs, channels = product.outputs, product.channels
    tiles = -(-outputs // most_rows(machine, min(2, layout.vectors)))
    multiplied = points * vectors * outputs * channels
    loads = points * channels * panels * (outputs + layout.vectors * tiles)
    transformed = (channels + outputs) * vectors * points / 16
    kernels = points * outputs * channels * product.bits // 8
    return multiplied + LOAD * loads + TRANSFORM * transformed + FETCH * kernels


def _reading(work: _Work, product: Product) -> float:
    """Return the cost of reading a vector of pixels for the first time."""
    if product.moved:
        return WINDOW
    if work.tiles > 1:
        return COPY
    return SCATTERED if product.depth > PAGES else 0.0
