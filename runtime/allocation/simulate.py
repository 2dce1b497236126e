"""Find what each memory strategy would do in a run, without memory and without a run."""

from ..contents import ARENA
from ..frozen import Frozen
from ..package import Package
from ..plans.buffers import BuffersAt
from ..sizes.values import Values
from .liveness import LiveValues, find_liveness
from .one_by_one import AllocatingRun
from .sources import SimulatedMemory
from .strategies import STRATEGIES, Plain
from .strategy import MemoryUse


class StrategyUse(Frozen):
    """Hold what strategies do in one run, in the memory of the process.

    `lower_bound_bytes` is the most that values take at a time, each in whole cache lines. What
    `stays_in_arena`, steps with bodies and their values, is in the static plan alone, of
    `static_bytes`.
    """

    static_bytes: int
    lower_bound_bytes: int
    stays_in_arena: bool
    uses: tuple[MemoryUse, ...]


class _NoBases:
    def bind_address(self, base: int, address: int, size: int) -> None:
        pass

    def unbind(self, base: int) -> None:
        pass


def compare_strategies(package: Package) -> StrategyUse:
    """Return what strategies do in a run of a package, at the likely sizes of its symbols.

    Raises RunError where memory cannot but be static.
    """
    from ..observe.calls import CallTable

    manifest = package.manifest
    values = manifest.likely_values
    live = find_liveness(manifest, CallTable(package))
    uses = [simulate(live, values, name) for name in STRATEGIES]
    bound = next(use.peak_bytes for use in uses if use.strategy == Plain.name)
    static = values.arenas.get(ARENA, manifest.memory.arena_bytes)
    return StrategyUse(static, bound, live.uses_arena, tuple(uses))


def simulate(live: LiveValues, values: Values, name: str) -> MemoryUse:
    """Return what a strategy does in a first run at some sizes."""
    strategy = STRATEGIES[name](SimulatedMemory())
    sizes = live.sizes(BuffersAt(live.manifest, values), values)
    units = [(unit.allocated, _nothing, unit.freed) for unit in live.units]
    AllocatingRun(strategy, _NoBases(), 0, sizes, units, ())()
    return strategy.use


def _nothing() -> None:
    """Stand for a call."""
