"""The `cpu` dialect object and the base class of its ops."""

from ..core.op import Dialect, Op

CPU = Dialect("cpu")


class CpuOp(Op, dialect=CPU, abstract=True):
    """Base of all `cpu` ops: pure functions of tensors with static shapes."""
