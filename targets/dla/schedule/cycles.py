"""Cycles that engines take, by the description: what choices between schedules go by."""

from collections.abc import Mapping

from ....dialects.dla.buffers import BufferOp
from ..layout.memory_layout import Layout


def moving(layout: Layout, cls: type[BufferOp], packets: int, size: int) -> int:
    """Return for how many cycles packets of a class move so many bytes together."""
    costs = engine_costs(layout, cls)
    return packets * costs["latency"] + size // costs["bytes_per_cycle"]


def streaming(layout: Layout, cls: type[BufferOp], size: int) -> int:
    """Return for how many cycles a packet goes through so many values once, 0 if that is unknown.

    Engines that have lanes do so.
    """
    costs = engine_costs(layout, cls)
    return costs["overhead"] + size // costs["lanes"] if "lanes" in costs else 0


def engine_costs(layout: Layout, cls: type[BufferOp]) -> Mapping[str, int]:
    """Return what the engine that runs packets of a class takes for them."""
    return layout.description.costs(cls.packet)


def with_traffic(cycles: int, moved: int) -> int:
    """Return what is to be as small as can be: cycles, and those that dram is busy, times 3/2.

    Less than that lets small gains in time cost much traffic, more of it costs time.
    """
    return cycles + 3 * moved // 2
