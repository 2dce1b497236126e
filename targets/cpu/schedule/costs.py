"""The cost model of schedules, for ops without measurements.

The unit is one multiply-add of a vector. The weights are those with which the schedules that cost
least also take the least time, or nearly so, in ResNet-50, MobileNetV2, Inception v3, DeepLab v3,
FCN and RegNet on a machine with AVX-512; `--tune` measures on the machine at hand. For other cores
they are scaled by what a core does while it multiplies.
"""

import math
from dataclasses import dataclass

from ....dialects.core.machine import ZEN4, Core, Machine
from ....dialects.core.tensor import DTYPES
from ....dialects.cpu.winograd import TRANSFORMS
from ..layout.winograd_layout import tiles_at_a_time, winograd_layout, winograd_spans
from .candidates import candidates
from .products import Product
from .schedule import PANEL, WINOGRAD, Schedule
from .tiles import most_rows

FEW = 16
"""With fewer channels than this, transforms cost more than the products that they save."""

LOAD = 2.3  # a vector of a panel, or a number for all lanes
WIDEN = 6.0  # a vector of weights of f16 or bf16, or a number for all lanes, converted to f32
SPLIT = 50.0  # a cache line of a large result, half of which another panel writes
WIDEN_IMAGE = 4.0  # a vector of an image of these that is copied in f32
COPY = 23.0  # a vector into a panel
WINDOW = 37.0  # a vector of windows into a panel
STRIDED_WINDOW = 110.0  # one of windows that are further apart
REREAD = 0.51  # a byte of weights that the caches have lost
LINE = 3.9  # a cache line of pixels
TRANSPOSE = 44.0  # a vector of results stored by pixels
SCATTERED = 3.5  # a vector that is read from a page of its own
DISTANT = 5.3  # a cache line of pixels of an image that outgrows the nearest caches
ALIASED = 6.5  # a cache line of pixels whose channels are a power of two apart
TRANSFORM = 80.0  # a vector of transformed tiles of one channel, or of products of one output
FETCH = 0.16  # a byte of transformed kernels
BLOCKED_TRANSFORM = 90.0  # a vector of channels of a tile, or of its outputs

FAR = (0.5, 8.0)
"""The extra cost of loading a vector of a panel that outgrows the first cache, or a quarter of the
second one."""

PAGES = 64
"""The number of pages that the TLB covers at once."""

LINE_BYTES = 64

ALIASING = 2048
"""Rows that are a multiple of these bytes apart share few sets of a cache and evict each other."""


def kept_bytes(machine: Machine) -> int:
    """Return how many bytes of weights are in the nearest caches when they are read again."""
    return machine.core.caches[1] // 2


def loading(core: Core) -> float:
    """Return the cost of loading or moving a vector, relative to the core of the measurements."""
    return core.multiplies / core.loads * ZEN4.loads / ZEN4.multiplies


def fetching(core: Core) -> float:
    """Return the cost of a byte from memory, likewise: more multiply-adds take as long."""
    return core.multiplies / ZEN4.multiplies


def waiting(core: Core, sums: int) -> float:
    """Return the cost of a multiply-add where there are some sums: it waits for the one before."""

    def rounds(core: Core) -> float:
        return max(1.0, core.multiplies * core.latency / sums)

    return rounds(core) / rounds(ZEN4)


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
    size, kept, core = product.bits // 8, kept_bytes(machine), machine.core
    if product.is_widened:
        total += loading(core) * _conversion_cost(work, schedule, product, machine)
    if not product.is_conv:
        return total
    if product.blocked:
        return total + fetching(core) * _blocked_reading(work, product, kept)
    if schedule.method == PANEL:
        lines = -(-min(schedule.rows, work.rows) * size // LINE_BYTES)
        each = LINE
        if product.seen * product.channels * size > kept:
            each += DISTANT
        if not product.moved and product.points * size % ALIASING == 0:
            each += ALIASED
        total += fetching(core) * each * lines * product.depth * work.tiles * work.panels
        return total + loading(core) * TRANSPOSE * work.rows * work.vectors
    weights = product.outputs * product.depth * size
    if weights > kept:
        total += fetching(core) * REREAD * weights * (work.panels - 1)
    return total + loading(core) * product.depth * work.vectors * _reading(work, product)


def _conversion_cost(
    work: "_Work", schedule: Schedule, product: Product, machine: Machine
) -> float:
    """Return the cost of converting weights in each tile, and an image."""
    if not product.is_conv:
        weights = WIDEN * product.depth * work.vectors * work.tiles
        result = product.outputs * product.points * DTYPES[product.dtype].itemsize
        splits = schedule.vectors % 2 and result > kept_bytes(machine)
        return weights + (SPLIT * work.rows * work.panels if splits else 0.0)
    if schedule.method != PANEL:
        return WIDEN * product.depth * work.rows * work.panels
    image = product.seen * product.channels / machine.lanes(product.bits)
    return WIDEN * product.depth * work.vectors * work.tiles + WIDEN_IMAGE * image


def _blocked_reading(work: "_Work", product: Product, kept: int) -> float:
    """Return the cost of reading the pixels of a blocked image that outgrows the caches."""
    size = product.bits // 8
    if product.seen * product.channels * size <= kept:
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
    core, sums = machine.core, schedule.rows * schedule.vectors
    multiplied = work.rows * work.vectors * product.depth
    total = waiting(core, sums) * multiplied + loading(core) * LOAD * loads
    panel = schedule.vectors * machine.vector_bytes * product.depth
    first, second = core.caches
    for level, far in zip((first, second // 4), FAR, strict=True):
        if panel > level:
            total += fetching(core) * far * product.depth * work.vectors * work.tiles
    return total


def _blocked_winograd_cost(tile: int, product: Product, machine: Machine) -> float:
    points = TRANSFORMS[tile].points ** 2
    lanes = machine.lanes(product.bits)
    *volume, rows, columns = product.image
    planes, depth = math.prod(volume), math.prod(product.taps[:-2])
    across = -(-rows // tile) * -(-columns // tile)
    tiles, seen = across * planes, across * (planes + depth - 1)
    outputs, channels = product.outputs, product.channels
    vectors = 4 if outputs >= 4 * lanes else 2
    multiplied = points * tiles * depth * channels * (outputs // lanes)
    loads = multiplied / most_rows(machine, vectors) + multiplied / vectors
    transformed = (seen * channels + tiles * outputs) / lanes * points / 16
    kernels = points * outputs * depth * channels * product.bits // 8
    if kernels > kept_bytes(machine):
        kernels *= -(-seen // tiles_at_a_time(points, channels))
    moved = loading(machine.core) * (LOAD * loads + BLOCKED_TRANSFORM * transformed)
    return multiplied + moved + fetching(machine.core) * FETCH * kernels


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
    moved = loading(machine.core) * (LOAD * loads + TRANSFORM * transformed)
    return multiplied + moved + fetching(machine.core) * FETCH * kernels


def _reading(work: _Work, product: Product) -> float:
    """Return the cost of reading a vector of pixels for the first time."""
    if product.moved:
        return STRIDED_WINDOW if product.strided else WINDOW
    if work.tiles > 1:
        return COPY
    return SCATTERED if product.depth > PAGES else 0.0
