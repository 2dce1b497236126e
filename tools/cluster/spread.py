"""Call one function with many items on a cluster: what `trivium.quantize` takes as `spread`."""

import functools
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from .connection import connected

Item = TypeVar("Item")
Found = TypeVar("Found")


def spread(function: Callable[[Item], Found], items: Sequence[Item]) -> list[Found]:
    """Call a function with each item, in one task of Ray for each CPU of the cluster.

    The function is stored once on each node, where workers map its arrays and packages, each once,
    also for a further call. Tasks whose worker dies are run again. Returns what the function
    returns, in the order of items. Ray runs by now, or is started as `ray.init` does.
    """
    ray = connected("calling a function on a cluster")
    count = min(len(items), int(ray.cluster_resources().get("CPU", 1))) or 1
    stored, task = _stored(ray, function), ray.remote(max_retries=3)(call_each)
    # A reference in a list comes as it is: the worker fetches what it refers to, once.
    tasks = [task.remote([stored], list(items[start::count])) for start in range(count)]
    found: list[Any] = [None] * len(items)
    for start, share in enumerate(ray.get(tasks)):
        found[start::count] = share
    return found


def call_each(stored: list[Any], items: Sequence[Item]) -> list[Any]:
    """Call a stored function with each item, on a worker."""
    function = fetched(stored[0])
    return [function(item) for item in items]


@functools.lru_cache(maxsize=1)
def fetched(reference: Any) -> Callable[[Any], Any]:
    """Return what a reference refers to; the one of the last call stays in the worker."""
    return import_module("ray").get(reference)


def _stored(ray: Any, function: Callable[[Any], Any]) -> Any:
    """Return a reference to a function: the same one for each call while the function is there."""
    cluster = ray.get_runtime_context().get_node_id()
    try:
        known, reference = _STORED.get(function, ("", None))
        if known != cluster:
            reference = ray.put(function)
            _STORED[function] = cluster, reference
    except TypeError:  # of what no weak reference can be made, such as a function in C
        return ray.put(function)
    return reference


_STORED: WeakKeyDictionary[Callable[[Any], Any], tuple[str, Any]] = WeakKeyDictionary()
"""Functions that are stored, each with its cluster and the reference to it there."""
