"""Select what the emulator of the runtime computes on the CPU, in a task of the same loadable."""

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.op import Op
from .....dialects.core.tensor import normalize_axis
from .....passes.rewriting import NoMatch
from ..dialect.emulated import Power, Softmax
from ..dialect.moves import CHANNELS
from .selection import NvdlaSelection, image_of, image_shape


def select_softmax(op: tri.Softmax, selection: NvdlaSelection) -> None:
    """Select a softmax over the channels of images of one pixel, of which rows are some."""
    shape = tensor_of(op.x.type).shape
    pixels = image_shape(shape)[2:]
    if normalize_axis(op.axis, len(shape)) != CHANNELS or pixels != (1, 1):
        has = f"axis {op.axis} of {'x'.join(map(str, shape))}"
        raise NoMatch(
            f"{selection.description.name} has a softmax over channels of one pixel, not {has}"
        )
    with selection.place():
        y = selection.build(Softmax, image_of(op.x)).y
    selection.replaced(y, ())


EXPONENTS: dict[type[Op], float] = {tri.Sqrt: 0.5, tri.Rsqrt: -0.5, tri.Reciprocal: -1.0}
"""The power that an op computes."""


def select_power(op: tri.Sqrt | tri.Rsqrt | tri.Reciprocal, selection: NvdlaSelection) -> None:
    """Select an op that is a power of its operand."""
    _select_power(op, op.x, EXPONENTS[type(op)], selection)


def select_pow(op: tri.Pow, selection: NvdlaSelection) -> None:
    """Select a power whose exponent is one constant."""
    exponents = selection.constant(op.b, "exponents")
    if exponents.size != 1 or tensor_of(op.a.type).shape != tensor_of(op.y.type).shape:
        raise NoMatch(f"{selection.description.name} has one exponent for all elements")
    _select_power(op, op.a, float(exponents.reshape(())), selection)


def _select_power(op: Op, x: ir.Value, exponent: float, selection: NvdlaSelection) -> None:
    with selection.place():
        # -0 is what no number changes by: +0 would make +0 of -0, whose reciprocal is another.
        y = selection.build(Power, image_of(x), power=exponent, shift=-0.0).y
    selection.replaced(y, ())
