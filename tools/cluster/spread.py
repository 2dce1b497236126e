"""Call one function with many names on a cluster: what `trivium.quantize` takes as `spread`."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from .connection import connected

T = TypeVar("T")


def spread(function: Callable[[str], T], names: Sequence[str]) -> list[T]:
    """Call a function with each name, in one task of Ray for each CPU of the cluster.

    The function is stored once on each node. Tasks whose worker dies are run again. Returns what
    the function returns, in the order of names. Ray runs by now, or is started as `ray.init` does.
    """
    ray = connected("calling a function on a cluster")
    count = min(len(names), int(ray.cluster_resources().get("CPU", 1))) or 1
    stored, task = ray.put(function), ray.remote(max_retries=3)(call_each)
    shares = ray.get([task.remote(stored, list(names[start::count])) for start in range(count)])
    found: dict[str, T] = {}
    for start, share in enumerate(shares):
        found |= dict(zip(names[start::count], share, strict=True))
    return [found[name] for name in names]


def call_each(function: Callable[[str], T], names: Sequence[str]) -> list[T]:
    """Call a function with each name, on a worker."""
    return [function(name) for name in names]
