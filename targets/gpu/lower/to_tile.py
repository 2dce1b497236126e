"""Replace groups on the GPU by launches of kernels."""

from collections.abc import Hashable

from ....dialects import tile, tri
from ....dialects.core.location import inner_location
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, ops
from ....dialects.core.op import Op
from ....passes.core import Pass
from ..kernels.builder import ConstantTable, Intermediate, Kernel
from .group import lower_group


class LowerToTile(Pass):
    """Make kernels of the groups on the GPU, and launch them where the groups were.

    Equal kernels are made once. `precision` is the precision of f32 factors: `ieee`, which does not
    round, or `tf32`.

    %y = tri.group %x { exp } {target = "gpu"}
        =>   tile.kernel @exp_… { … }; %y = tile.launch @exp_…(%x)
    """

    precision: str = "ieee"

    def run(self, module: Module) -> None:
        with module.operation.context, ir.Location.unknown():
            known: set[str] = set()
            for op in ops(module.main):
                if isinstance(op, tri.Group) and op.target == "gpu":
                    _launch(op, lower_group(op, module.ir, self.precision), known)


def _launch(group: tri.Group, kernels: list[Kernel], known: set[str]) -> None:
    """Replace a group by launches of its kernels; a kernel that is known already is dropped."""
    values: dict[Hashable, ir.Value] = dict(
        zip(group.block.arguments, group.operation.operands, strict=True)
    )
    yielded = list(zip(group.end.operands, group.results, strict=True))
    results: dict[Hashable, ir.Type] = {inner: value.type for inner, value in yielded}
    for kernel in kernels:
        name = kernel.op.sym_name
        if name in known:
            kernel.op.operation.erase()
        known.add(name)
        types = [
            Op.mlir_type(s.tensor) if isinstance(s, Intermediate) else results[s]
            for s in kernel.outputs
        ]
        last = kernel is kernels[-1]
        location = group.location if last else inner_location(group.location)
        with ir.InsertionPoint(group.operation):
            inputs = [
                tri.Constant.build(value=s.array).y if isinstance(s, ConstantTable) else values[s]
                for s in kernel.inputs
            ]
            launch = tile.Launch.create([inputs], types, {"kernel": name}, loc=location)
        values.update(zip(kernel.outputs, launch.results, strict=True))
    for inner, value in yielded:
        value.replace_all_uses_with(values[inner])
    group.operation.erase()
