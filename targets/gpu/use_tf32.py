"""Let matrix units multiply f32."""

from ...dialects import tile
from ...dialects.core.module import Module, ops
from ...dialects.tile.types import plain_type
from ...passes.core import Pass


class UseTf32(Pass):
    """Round the factors of products of f32 to tf32, which matrix units multiply.

    A factor keeps 10 bits of fraction, and the range of f32; sums are in f32.

    tile.dot %a, %b, %c {precision = "ieee"}   =>   tile.dot %a, %b, %c {precision = "tf32"}
    """

    def run(self, module: Module) -> None:
        with module.operation.context:
            for op in ops(module.operation):
                if isinstance(op, tile.Dot) and plain_type(op.a.type).dtype == "f32":
                    op.set_attributes({"precision": "tf32"})
