"""How the own op of acme is cut into tiles."""

from trivium.targets.dla.schedule.tile_vector import tile_by_value
from trivium.targets.dla.schedule.tiler import Tiler, tiles

from .dialect import LeakyRelu, LeakyReluTile


@tiles(LeakyRelu)
def tile_leaky_relu(op: LeakyRelu, tiler: Tiler) -> None:
    """Write tiles that take from sram what there is; each needs no other one."""
    tile_by_value(op, LeakyReluTile, tiler, op.attributes)
