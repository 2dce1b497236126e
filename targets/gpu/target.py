"""The GPU target: what it accepts, and how ops become kernels."""

from ...passes.core import Pass
from ..core import DEVICE_MEMORY, Target
from ..insert_copies import InsertCopies
from ..options import DEFAULT, Options
from .choose_orders import ChooseOrders


class GpuTarget(Target):
    """Run kernels of fused ops on a GPU."""

    def placed_passes(self, opt_level: int, options: Options = DEFAULT) -> tuple[Pass, ...]:
        return (InsertCopies(), *([ChooseOrders()] if opt_level else []))


GPU = GpuTarget("gpu", DEVICE_MEMORY)
