"""Decide which convolutions run by Winograd's method."""

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import NATIVE, Machine, find_machine
from ....dialects.core.module import Module
from ....passes.core import Pass
from ....passes.rewriting import NoMatch, Rewriter, rewrite
from ...choices import WINOGRAD_ERROR
from ..layout.winograd_layout import winograd_layout
from ..layout.winograd_weights import transformed_parts
from .choice import choose
from .machine_pattern import MachinePattern
from .schedule import WINOGRAD
from .tiles import choose_tile


class ChooseWinograd(Pass):
    """Run 3x3 convolutions of stride 1 with constant kernels by Winograd's method, where it pays.

    `error` is the error allowed to a layer, relative to its largest output: 4x4 tiles need 6e-6,
    2x2 tiles 1e-6. The attribute of an op may fix its schedule. `machine` is the machine of the
    kernels. Kernels are transformed, to a larger size, when the package is loaded.

        tri.conv %x, %w   =>   %u = tri.mat_mul %transform, %taps
                               cpu.winograd_conv %x, %u {tile = 4}
    """

    error: float = WINOGRAD_ERROR
    machine: str = NATIVE

    def run(self, module: Module) -> None:
        rewrite(module, _Winograd(self.error, find_machine(self.machine)))


class _Winograd(MachinePattern):
    root = tri.Conv

    def __init__(self, error: float, machine: Machine) -> None:
        super().__init__(machine)
        self.error = error

    def rewrite(self, op: tri.Conv, rewriter: Rewriter) -> None:
        schedule = choose(op, self.machine, self.error)
        if schedule.method != WINOGRAD:
            raise NoMatch(f"runs as {schedule}")
        tile, outputs = schedule.rows, tensor_of(op.w.type).shape[0]
        block = _block(op, tile, self.machine)
        parts = transformed_parts(op, tile, lambda w: cpu.split_taps(w, block), rewriter)
        with rewriter.before(op):
            flat = [tri.Reshape.build(part, shape=(tensor_of(part.type).size,)).y for part in parts]
            u = flat[0] if len(flat) == 1 else tri.Concat.build(flat, axis=0).y
            new = cpu.WinogradConv.build(
                op.x, u, op.b, tile=tile, outputs=outputs, block=block, pads=op.pads
            )
        rewriter.replace(op, new)


def _block(op: tri.Conv, tile: int, machine: Machine) -> int:
    """Return the number of outputs that are multiplied at a time, which fill the registers."""
    y = tensor_of(op.y.type)
    rows, columns = (-(-size // tile) for size in y.shape[2:])
    layout = winograd_layout(tile, rows, columns, machine.lanes(32))
    return choose_tile(machine, y.dtype, y.shape[1], layout.vectors * layout.lanes).rows
