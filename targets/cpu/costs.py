"""What schedules are expected to cost, when nobody has measured it.

The unit is one multiply-add of a vector. The weights are those with which the schedules of
ResNet-50 and MobileNetV2 that cost least also take the least time, or nearly so, on a machine with
AVX-512; `--tune` measures on the machine at hand.
"""

from dataclasses import dataclass

from ...dialects.core.machine import Machine
from ...dialects.cpu.winograd import TAPS, TRANSFORMS
from .candidates import candidates
from .products import Product
from .schedule import PANEL, WINOGRAD, Schedule

CACHE_BYTES = 20 << 20
"""Transformed kernels that outgrow this come from memory, which costs what the method saves."""

FEW = 16
"""With fewer channels than this, the transforms cost more than the products that they save."""

LOAD = 3.2  # a vector of a panel, or a number for all lanes
COPY = 10.0  # a vector into a panel
WINDOW = 27.0  # a vector of windows into a panel
REREAD = 0.8  # a byte of weights that the caches have lost
LINE = 3.6  # a cache line of pixels
TRANSPOSE = 47.0  # a vector of results that lie pixel by pixel
SCATTERED = 12.5  # a vector that is read from a page of its own

FAR = {32 << 10: 1.0, 256 << 10: 3.4}
"""What it costs more to load a vector of a panel that has more bytes than this."""

KEPT_BYTES = 512 << 10
"""Weights that outgrow this are not in the nearest caches when they are read again."""

PAGES = 64
"""So many pages are found at once."""

LINE_BYTES = 64


def cheapest(product: Product, machine: Machine, error: float) -> Schedule:
    """Return the schedule that is expected to take the least time."""
    possible = candidates(product, machine, error)
    fast = [s for s in possible if s.method == WINOGRAD and winograd_pays(s, product)]
    if fast:
        return max(fast)
    plain = [schedule for schedule in possible if schedule.method != WINOGRAD]
    return min(plain, key=lambda schedule: cost(schedule, product, machine))


def winograd_pays(schedule: Schedule, product: Product) -> bool:
    """Say whether Winograd's method takes less time than sums of products."""
    channels = product.depth // TAPS**2
    size = TRANSFORMS[schedule.rows].points ** 2 * product.outputs * channels * product.bits // 8
    return min(product.outputs, channels) >= FEW and size <= CACHE_BYTES


def cost(schedule: Schedule, product: Product, machine: Machine) -> float:
    """Return what sums of products cost by a schedule."""
    work = _Work.of(schedule, product, machine)
    loads = product.depth * (work.rows * work.panels + work.vectors * work.tiles)
    total = work.rows * work.vectors * product.depth + LOAD * loads
    size = product.bits // 8
    panel = schedule.vectors * machine.vector_bytes * product.depth
    for level, far in FAR.items():
        if panel > level:
            total += far * product.depth * work.vectors * work.tiles
    if not product.is_conv:
        return total
    if schedule.method == PANEL:
        lines = -(-min(schedule.rows, work.rows) * size // LINE_BYTES)
        total += LINE * lines * product.depth * work.tiles * work.panels
        return total + TRANSPOSE * work.rows * work.vectors
    weights = product.outputs * product.depth * size
    if weights > KEPT_BYTES:
        total += REREAD * weights * (work.panels - 1)
    return total + product.depth * work.vectors * _reading(work, product)


@dataclass(frozen=True)
class _Work:
    """Count the rows, the vectors of columns, and how often each is gone over."""

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


def _reading(work: _Work, product: Product) -> float:
    """Return what it costs to read a vector of pixels for the first time."""
    if product.moved:
        return WINDOW
    if work.tiles > 1:
        return COPY
    return SCATTERED if product.depth > PAGES else 0.0
