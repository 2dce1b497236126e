"""Tables of resizing that a kernel of their own makes, for axes whose sizes depend on symbols."""

from collections.abc import Sequence

from .....dialects import tri
from .....dialects.core.sizes.dim import highest
from .....dialects.core.tensor import Tensor
from .....dialects.tri.image.interpolation import Axis
from ....kernels.conversion import convert
from ....kernels.lower import resize
from ....kernels.lower.resample import WIDE, Resampling
from ...kernels.buffer import Argument, Buffer
from ...kernels.builder import KernelBuilder
from ...kernels.spread import in_a_row
from ...kernels.value import Value, full, scalar
from ..elementwise import FUNCTIONS

Taps = resize.Taps[Buffer]


def computed_taps(
    op: tri.Resize, axes: Sequence[Axis], dtype: str, kernel: KernelBuilder
) -> list[Taps]:
    """Add a prior kernel that makes the tables of some axes; `dtype` is that of weights."""
    if not axes:
        return []
    first = kernel.prior_kernel("taps")
    with first:
        index = in_a_row(first, highest(*(axis.new_size for axis in axes)))
        made = [_tables(op, axis, dtype, first, index) for axis in axes]
    return [_imported(taps, kernel) for taps in made]


def _tables(
    op: tri.Resize, axis: Axis, dtype: str, kernel: KernelBuilder, index: Value
) -> resize.Taps[Argument]:
    """Emit the code of the tables of an axis, of new elements at an index each."""
    found = Resampling(op, axis, full(axis.size, WIDE), full(axis.new_size, WIDE), FUNCTIONS)
    where = found.coordinate(index.cast(WIDE))
    numbers, weights = found.taps(where)

    def table(rows: Sequence[Value], dtype: str, name: str) -> Argument:
        made = kernel.intermediate(Tensor((len(rows), axis.new_size), dtype), name)
        for row, number in enumerate(rows):
            made.store(convert(number, dtype), [scalar(row), index])
        return made

    places = table(numbers, "i32", "places")
    factors = table(weights, dtype, "weights") if weights else None
    outside = None
    if found.crops:
        outside = kernel.intermediate(Tensor((axis.new_size,), "i32"), "outside")
        outside.store(found.outside(where).cast("i32"), [index])
    return resize.Taps(found.count, places, factors, outside)


def _imported(taps: resize.Taps[Argument], kernel: KernelBuilder) -> Taps:
    """Let a kernel read tables that an earlier one makes."""
    places, factors, outside = (
        table and kernel.import_buffer(table) for table in (taps.places, taps.weights, taps.outside)
    )
    return resize.Taps(taps.count, places, factors, outside)
