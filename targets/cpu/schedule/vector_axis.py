"""The choice of the lanes of a convolution's vectors: outputs of a pixel, or pixels."""

import math

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import Machine
from ....passes.rewriting import NoMatch
from .tiles import Tile, choose_tile

GAIN = 1.05
"""The ratio by which vectors across outputs must be fuller than across pixels, for one tap.

Results are transposed; windows of several taps are read in place, which makes up for that.
"""


def output_tile(op: tri.Conv, sums: str, machine: Machine) -> Tile:
    """Return the tile with vectors across outputs, for sums of a type on a machine.

    Raises NoMatch if vectors across pixels are fuller, or the op has no kernel for them.
    """
    y, w = tensor_of(op.y.type).likely, tensor_of(op.w.type)
    outputs, _, *kernel = w.shape
    pixels = math.prod(y.shape[2:])
    if op.group != 1 or len(kernel) > 2:
        raise NoMatch("has groups or a third dimension")
    if not w.size or not y.size:
        raise NoMatch("is empty")
    tile = choose_tile(machine, sums, pixels, outputs)
    gain = GAIN if math.prod(kernel) == 1 else 1
    if _filled(outputs, tile.lanes) < gain * _filled(pixels, tile.lanes):
        raise NoMatch(f"vectors of {pixels} pixels are as full as those of {outputs} outputs")
    return tile


def _filled(count: int, lanes: int) -> float:
    return count / (-(-count // lanes) * lanes)
