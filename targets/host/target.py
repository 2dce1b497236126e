"""The host target: the numpy reference of every op, for whatever no other target takes."""

from ...dialects.core.op import Op
from ..core import Target


class HostTarget(Target):
    """Accept every op that has a `reference`; nothing is compiled for it."""

    def refusal(self, op: Op) -> str | None:
        if type(op).reference is Op.reference:
            return f"{self.name} has no reference for {op.op_name}"
        return None


HOST = HostTarget("host", fuses=False)
