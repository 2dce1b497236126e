"""The target acme: special are its description, its packets and its op."""

from trivium.targets.dla.accelerator import Accelerator

from . import selection, tiling

__all__ = ["TARGET", "selection", "tiling"]

TARGET = Accelerator("acme")
