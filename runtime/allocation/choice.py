"""Choose how sessions of a package get memory for the values of a run."""

from typing import TYPE_CHECKING

from .liveness import find_liveness
from .one_by_one import MemoryChoice
from .strategies import STATIC, check_ranges, check_strategy
from .strategy import Allocator

if TYPE_CHECKING:
    from ..package import Package


def choice_of_memory(
    package: "Package", memory: str, allocator: Allocator | None
) -> MemoryChoice | None:
    """Return the choice of a strategy by its name; None for the static plan.

    An allocator alone is used by the strategy `plain`. Raises RunError for other names, and where
    the package cannot do its calls one by one.
    """
    from ..observe.calls import CallTable
    from .sources import CheckedAllocator

    check_strategy(memory)
    if allocator is not None:
        memory = "plain" if memory == STATIC else memory
        CheckedAllocator(allocator)  # raises for what is none
        check_ranges(memory)
    manifest = package.manifest
    if memory == STATIC or manifest.only_exact:  # programs for exact sizes choose for themselves
        return None
    return MemoryChoice(find_liveness(manifest, CallTable(package)), memory, allocator)
