"""The `tile` dialect object and the base classes of its ops."""

from typing import Any, ClassVar

from ..core.body import check_body
from ..core.fields import Region
from ..core.mlir import ir
from ..core.op import Dialect, Op
from .types import mlir_type, need_tile, plain_type

TILE = Dialect("tile")


class TileOp(Op, dialect=TILE, abstract=True):
    """Base of all `tile` ops: their operands and results are tiles."""

    @staticmethod
    def plain_type(type_: ir.Type) -> Any:
        return need_tile("operand or result", plain_type(type_))

    @staticmethod
    def mlir_type(plain: Any) -> ir.Type:
        return mlir_type(plain)


class MemoryOp(TileOp, abstract=True):
    """Base of ops with an operand in memory."""

    @staticmethod
    def plain_type(type_: ir.Type) -> Any:
        return plain_type(type_)


class BodyOp(TileOp, abstract=True):
    """Base of ops with a body of one block, which ends in an op called `last`."""

    body: Region

    last: ClassVar[str]

    pure = False  # the body may store

    @property
    def block(self) -> ir.Block:
        """Return the block of the body."""
        return self.operation.regions[0].blocks[0]

    @property
    def end(self) -> ir.Operation:
        """Return the terminator of the body."""
        return self.block.operations[len(self.block.operations) - 1].operation

    def check_form(self) -> None:
        """Raise Invalid unless there are the fields of the class, and a body that ends as said."""
        self.check_attributes()
        self.operand_groups()
        self.result_groups()
        check_body(self.operation, self.last)
