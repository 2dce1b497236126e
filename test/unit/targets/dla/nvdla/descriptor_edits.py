"""Loadables whose descriptors are others than recorded, for tests of faults."""

from dataclasses import replace
from typing import Any

from trivium.targets.dla.nvdla.format.dla_task import DlaTask, Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.operations import operation_stride, surface_stride
from trivium.targets.dla.nvdla.format.packed import encode


def changed(loadable: Loadable, number: int, part: str, **values: Any) -> Loadable:
    """Return a loadable in which fields of a descriptor, surface or dependency are others."""
    (task,) = dla_tasks(Tables(loadable))
    operations = list(task.operations)
    old = operations[number]
    operations[number] = replace(old, **{part: replace(getattr(old, part), **values)})
    return encoded(loadable, replace(task, operations=tuple(operations)))


def encoded(loadable: Loadable, task: DlaTask) -> Loadable:
    """Return a loadable with the descriptors of a task in its first four blobs."""
    abi, operations = task.abi, task.operations
    sizes = operation_stride(abi), surface_stride(abi)
    blobs = [
        encode(task.network, abi),
        b"".join(encode(each.descriptor, abi).ljust(sizes[0], b"\0") for each in operations),
        b"".join(encode(each.surface, abi).ljust(sizes[1], b"\0") for each in operations),
        b"".join(encode(each.dependency, abi) for each in operations),
    ]
    first = [replace(b, data=d) for b, d in zip(loadable.blobs[:4], blobs, strict=True)]
    return replace(loadable, blobs=(*first, *loadable.blobs[4:]))
