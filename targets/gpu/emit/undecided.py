"""Try whether ops with symbols become kernels of GPUs, before they are placed."""

from collections.abc import Hashable

from ....dialects import tri
from ....dialects.core.errors import CompileError
from ....dialects.core.module import Module
from ...size_trial import SizeTrial, fault_of
from ..lower.group import lower_group
from .print_kernel import print_kernel


def _fault(group: tri.Group, module: Module, same: Hashable) -> str:
    def lower() -> None:
        for kernel in lower_group(group, module.ir):
            print_kernel(kernel.op)

    try:
        return fault_of(lower)
    except CompileError as error:
        return f"cannot be printed: {error}"


TRIAL = SizeTrial("gpu", lambda group: group.operation.get_asm(), _fault)
