"""Limits on ops whose kernels need sizes that are known at compile time."""

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.sizes.atoms import is_symbolic
from ..registry import accepts
from .pad import framed


@accepts(
    cpu.PackedMatMul,
    cpu.PackedBlockMatMul,
    cpu.DotBlockMatMul,
    cpu.DotIndexedBlockMatMul,
    cpu.LaneConv,
)
def has_known_weights(
    op: cpu.PackedMatMul
    | cpu.PackedBlockMatMul
    | cpu.DotBlockMatMul
    | cpu.DotIndexedBlockMatMul
    | cpu.LaneConv,
) -> bool:
    """Takes only weights whose sizes are known at compile time"""
    return tensor_of(op.w.type).is_static


@accepts(cpu.WinogradConv, cpu.BlockedWinogradConv)
def has_known_kernels(op: cpu.WinogradConv | cpu.BlockedWinogradConv) -> bool:
    """Takes only kernels whose number and channels are known at compile time"""
    channels = tensor_of(op.x.type).shape[1]
    return tensor_of(op.u.type).is_static and not is_symbolic(channels)


@accepts(cpu.BlockedWinogradConv)
def has_known_planes(op: cpu.BlockedWinogradConv) -> bool:
    """Takes only volumes whose number of planes is known at compile time"""
    return not any(map(is_symbolic, tensor_of(op.x.type).shape[2:-3]))


@accepts(tri.Pad)
def repeats_known_axes(op: tri.Pad) -> bool:
    """Repeats only axes of known sizes in mode 'wrap', reflects also ones longer than a border"""
    shape = tensor_of(op.x.type).shape
    axes = zip(shape, op.pads[: len(shape)], op.pads[len(shape) :], strict=True)
    return all(not any(map(is_symbolic, a)) or framed(*a, op.mode) is not None for a in axes)
