"""Tables of resizing that a kernel computes itself, for axes whose sizes depend on symbols."""

from .....dialects import tri
from .....dialects.tri.image.interpolation import Axis
from ....kernels.conversion import convert
from ....kernels.lower import resize
from ....kernels.lower.resample import WIDE, Resampling
from ...kernels.buffer import Buffer
from ...kernels.builder import KernelBuilder
from ...kernels.index import IndexExpr, as_index
from ...kernels.loops import each
from ...kernels.value import Value, strict_numbers
from ..elementwise import FUNCTIONS


def computed_taps(
    op: tri.Resize, axis: Axis, dtypes: tuple[str, str], kernel: KernelBuilder
) -> resize.Taps[Buffer]:
    """Emit the code that makes the tables of an axis; `dtypes` are those of its tables.

    It is exact, so that it places new elements where the op's own arithmetic does.
    """
    made = Resampling(op, axis, _number(axis.size), _number(axis.new_size), FUNCTIONS)
    shape = (made.count, axis.new_size)
    places = kernel.scratch(shape, dtypes[0])
    factors = None if op.mode == "nearest" else kernel.scratch(shape, dtypes[1])
    outside = kernel.scratch(shape[1:], "i32") if made.crops else None

    def element(at: list[IndexExpr]) -> None:
        where = made.coordinate(_number(at[0]))
        if outside is not None:
            outside.store(made.outside(where).cast("i32"), at)
        taps, weights = made.taps(where)
        for number, tap in enumerate(taps):
            places.store(convert(tap, places.dtype), [IndexExpr(number), at[0]])
        for number, weight in enumerate(weights):
            assert factors is not None, "an interpolation has weights"
            factors.store(convert(weight, factors.dtype), [IndexExpr(number), at[0]])

    with strict_numbers():
        each((axis.new_size,), element)
    return resize.Taps(made.count, places, factors, outside)


def _number(index: IndexExpr | int) -> Value:
    return as_index(index).to_value("i64").cast(WIDE)
