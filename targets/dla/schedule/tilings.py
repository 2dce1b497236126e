"""The rules for the tiles of all ops of `dla`: who looks for a rule here finds those registered."""

from . import tile_conv as tile_conv
from . import tile_vector as tile_vector
from .tiler import TILINGS as TILINGS
from .tiler import tiling_of as tiling_of
