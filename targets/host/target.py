"""The host target: the numpy reference of every op, for whatever no other target takes."""

from collections.abc import Sequence

from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...passes.pipeline import Instrumentation
from ..code import Code
from ..core import Progress, Target
from ..options import Options
from .code import HostCode


class HostTarget(Target):
    """Accept every op that has a `reference`; nothing is compiled for it."""

    prepares = True

    def kernel_refusal(self, members: Sequence[Op]) -> str | None:
        return f"{self.name} runs one op at a time"

    def refusal(self, op: Op) -> str | None:
        if type(op).reference is Op.reference:
            return f"{self.name} has no reference for {op.op_name}"
        return None

    def compile(
        self,
        module: Module,
        options: Options,
        progress: Progress,
        hooks: Sequence[Instrumentation] = (),
    ) -> Code:
        return HostCode()


HOST = HostTarget("host")
