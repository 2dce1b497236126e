"""The GPU target: what it accepts, and how ops become kernels."""

from ..core import DEVICE_MEMORY, Target


class GpuTarget(Target):
    """Run kernels of fused ops on a GPU."""


GPU = GpuTarget("gpu", DEVICE_MEMORY)
