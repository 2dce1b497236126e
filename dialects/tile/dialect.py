"""The `tile` dialect object and the base class of its ops."""

from typing import Any

from ..core.mlir import ir
from ..core.op import Dialect, Op
from .types import mlir_type, plain_type

TILE = Dialect("tile")


class TileOp(Op, dialect=TILE, abstract=True):
    """Base of all `tile` ops: they work on tiles, whose sizes may have names, and on memory."""

    @staticmethod
    def plain_type(type_: ir.Type) -> Any:
        return plain_type(type_)

    @staticmethod
    def mlir_type(plain: Any) -> ir.Type:
        return mlir_type(plain)
