"""The `tri` dialect object and the base class of its ops."""

from ..core.op import Dialect, Op

TRI = Dialect("tri")


class TriOp(Op, dialect=TRI, abstract=True):
    """Base of all `tri` ops: pure functions of tensors with static shapes."""
