"""The target acme: special are its description, its packets and its op."""

from trivium.dialects import tri
from trivium.targets.dla.accelerator import Accelerator

from . import tiling
from .selection import select_leaky_relu

__all__ = ["TARGET", "tiling"]

TARGET = Accelerator("acme", {tri.Gather: (select_leaky_relu,)})
