"""The host target: the numpy reference of every op, for ops that no other target takes."""

from collections.abc import Sequence

from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ..compiled import CompiledPart
from ..core import Target
from ..costs.roofline import Roofline
from ..options import CompileOptions
from .code import HostCode


class HostTarget(Target):
    """Accept every op that has a `reference`; nothing is compiled for it."""

    prepares = True
    legalizes = False
    is_last_resort = True
    takes_symbols = True
    takes_found_sizes = True
    roofline = Roofline(2e9, 2e9, 20e-6)

    def kernel_refusal(self, members: Sequence[Op]) -> str | None:
        return f"{self.name} runs one op at a time"

    def refusal(self, op: Op) -> str | None:
        if type(op).reference is Op.reference:
            return f"{self.name} has no reference for {op.op_name}"
        return None

    def compile(self, module: Module, options: CompileOptions) -> CompiledPart:
        return HostCode()


HOST = HostTarget("host")
