"""The `tri` dialect object and the base class of its ops."""

from typing import ClassVar

from ..core.op import Dialect, Op

TRI = Dialect("tri")


class TriOp(Op, dialect=TRI, abstract=True):
    """Base of all `tri` ops: pure functions of tensors with static shapes.

    Two properties tell fusion what an op is. `elementwise`: each element of the result depends
    only on the elements at the same place of the operands, which broadcast. `anchor`: the op is
    a kernel by itself, and elementwise ops that follow may join it.
    """

    elementwise: ClassVar[bool] = False
    anchor: ClassVar[bool] = False
