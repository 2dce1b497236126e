"""`GPU`: the target, with which lowerings and limits register."""

from ..core import Target

GPU = Target("gpu")
