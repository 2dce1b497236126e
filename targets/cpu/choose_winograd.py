"""Decide which convolutions run by Winograd's method."""

from ...dialects import cpu, tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.machine import NATIVE, Machine, find_machine
from ...dialects.core.module import Module
from ...dialects.cpu.winograd import TAPS, TRANSFORMS
from ...passes.constants import hint
from ...passes.core import Pass
from ...passes.rewriting import NoMatch, Pattern, Rewriter, rewrite
from .contraction import choose_tile
from .winograd_layout import winograd_layout

ERRORS = {4: 2e-5, 2: 1e-6}
"""Errors of F(4x4) and F(2x2) that were measured, relative to the largest output of a layer."""

CACHE_BYTES = 10 << 20
"""Transformed kernels that outgrow this come from memory, which costs what the method saves."""

FEW = 16
"""With fewer channels than this, the transforms cost more than the products that they save."""


class ChooseWinograd(Pass):
    """Run 3x3 convolutions of stride 1 with constant kernels by Winograd's method, where it pays.

    `error` is what a layer may lose, relative to its largest output: 4x4 tiles are taken when it
    allows them (from 2e-5 on), 2x2 tiles otherwise, and nothing is changed below 1e-6. `machine` is
    what the kernels will run on.

        tri.conv %x, %w   =>   cpu.winograd_conv %x, %u {tile = 4}
    """

    error: float = 2e-6
    machine: str = NATIVE

    def run(self, module: Module) -> None:
        tiles = [tile for tile, error in ERRORS.items() if error <= self.error]
        if tiles:
            rewrite(module, _Winograd(tiles[0], find_machine(self.machine)))


class _Winograd(Pattern):
    root = tri.Conv

    def __init__(self, tile: int, machine: Machine) -> None:
        self.tile = tile
        self.machine = machine

    def rewrite(self, op: tri.Conv, rewriter: Rewriter) -> None:
        _check(op, self.tile)
        outputs = tensor_of(op.w.type).shape[0]
        block = _block(op, self.tile, self.machine)
        kernels = cpu.transform_kernels(rewriter.constant(op.w), self.tile, block)
        with rewriter.before(op):
            u = tri.build_constant(rewriter.module, kernels, f"{hint(op)}.weight").results[0]
            new = cpu.WinogradConv.build(
                op.x, u, op.b, tile=self.tile, outputs=outputs, block=block, pads=op.pads
            )
        rewriter.replace(op, new)


def _block(op: tri.Conv, tile: int, machine: Machine) -> int:
    """Return how many outputs are multiplied at a time: as many as the registers hold."""
    y = tensor_of(op.y.type)
    rows, columns = (-(-size // tile) for size in y.shape[2:])
    layout = winograd_layout(tile, rows, columns, machine.lanes(32))
    return choose_tile(machine, y.dtype, y.shape[1], layout.vectors * layout.lanes).rows


def _check(op: tri.Conv, tile: int) -> None:
    """Raise NoMatch unless the method applies and pays."""
    y, w = tensor_of(op.y.type), tensor_of(op.w.type)
    if w.shape[2:] != (TAPS, TAPS) or set(op.strides) != {1} or set(op.dilations) != {1}:
        raise NoMatch("is not a 3x3 convolution of stride and dilation 1")
    if op.group != 1 or y.dtype != "f32":
        raise NoMatch("has groups, or is not f32")
    outputs, channels = w.shape[:2]
    if min(outputs, channels) < FEW:
        raise NoMatch(f"has {channels} channels and {outputs} outputs, must have {FEW}")
    if min(y.shape[2:]) < 2 * tile:
        raise NoMatch(f"outputs are {y.shape[2]}x{y.shape[3]}, tiles would hang over them")
    points = TRANSFORMS[tile].points ** 2
    if (size := points * outputs * channels * 4) > CACHE_BYTES:
        raise NoMatch(f"transformed kernels have {size} bytes, must have at most {CACHE_BYTES}")
