"""Choose how sessions of a package get memory for the values of a run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..contents import PROCESS
from ..errors import RunError
from .liveness import find_liveness
from .one_by_one import MemoryChoice
from .strategies import STATIC, check_ranges, check_strategy
from .strategy import Allocator, Allocators

if TYPE_CHECKING:
    from ..package import Package


def choice_of_memory(
    package: "Package", memory: str, allocator: Allocators | None
) -> MemoryChoice | None:
    """Return the choice of a strategy by its name; None for the static plan.

    Allocators are by memory space, one alone is for that of the process; without a strategy it is
    used by `plain`. Raises RunError for other names, for memory that the package does not have, and
    where it cannot do its calls one by one.
    """
    from ..observe.calls import CallTable
    from .sources import CheckedAllocator

    check_strategy(memory)
    manifest = package.manifest
    allocators: Mapping[str, Allocator] = {}
    if allocator is not None:
        memory = "plain" if memory == STATIC else memory
        allocators = allocator if isinstance(allocator, Mapping) else {PROCESS: allocator}
        check_ranges(memory)
    spaces = (PROCESS, *(space.name for space in manifest.spaces))
    for name, each in allocators.items():
        CheckedAllocator(each)  # raises for what is none
        if name not in spaces:
            known = ", ".join(f"'{space}'" for space in spaces)
            raise RunError(f"an allocator is for memory '{name}', must be for {known}")
    if memory == STATIC or manifest.only_exact:  # programs for exact sizes choose for themselves
        return None
    return MemoryChoice(find_liveness(manifest, CallTable(package)), memory, allocators)
