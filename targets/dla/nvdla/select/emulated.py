"""Select what the emulator of the runtime computes on the CPU, in a task of the same loadable."""

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.tensor import normalize_axis
from .....passes.rewriting import NoMatch
from ..dialect.emulated import Softmax
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
