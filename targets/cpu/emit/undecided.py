"""Try whether ops with symbols can be lowered, before they are placed; the cache keeps answers."""

from collections.abc import Hashable

from ....dialects import tri
from ....dialects.core.machine import LEVELS
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ...size_trial import SizeTrial, fault_of
from ..lower.group import lower_group, structure
from .kernel_cache import recall_kernel, remember_kernel, source_of


def _recalled(group: tri.Group, module: Module, same: Hashable) -> str:
    source = source_of(group, same, "undecided")
    if (found := recall_kernel(source)) is not None:
        return found.decode()
    with ir.InsertionPoint(module.ir.body):
        fault = fault_of(lambda: lower_group(group, LEVELS[-1]))
    remember_kernel(source, fault.encode())
    return fault


TRIAL = SizeTrial("cpu", structure, _recalled)
