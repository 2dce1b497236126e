"""Cost model: cycles of engines, as far as the description has their costs."""

from collections.abc import Mapping

from ....dialects.dla.buffers import BufferOp
from ..layout.memory_layout import MemoryLayout


def transfer_cycles(layout: MemoryLayout, cls: type[BufferOp], packets: int, size: int) -> int:
    """Return the cycles in which packets of a class move `size` bytes in total."""
    costs = engine_costs(layout, cls)
    return packets * costs["latency"] + size // costs["bytes_per_cycle"]


def vector_cycles(layout: MemoryLayout, cls: type[BufferOp], size: int) -> int:
    """Return the cycles of one packet over `size` values; 0 for an engine without lanes."""
    costs = engine_costs(layout, cls)
    return costs["overhead"] + size // costs["lanes"] if "lanes" in costs else 0


def engine_costs(layout: MemoryLayout, cls: type[BufferOp]) -> Mapping[str, int]:
    """Return the costs of the engine that runs packets of a class."""
    return layout.description.costs(cls.packet)


def with_traffic(cycles: int, transfers: int) -> int:
    """Return the objective of scheduling: cycles, plus 3/2 of the cycles of all DRAM transfers.

    A smaller weight trades much traffic for small gains in time, a larger one costs time.
    """
    return cycles + 3 * transfers // 2
