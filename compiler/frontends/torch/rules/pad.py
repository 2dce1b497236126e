"""Rules for padding."""

from .....dialects import tri
from .....dialects.core.errors import Invalid
from ...core.values import tensor
from ..registry import Value, torch_op
from ..views import Ints

MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""Torch's names of padding modes, and ours."""


@torch_op("F.pad", "aten::constant_pad_nd")
def pad(
    input: Value, pad: Ints, *, mode: str = "constant", value: float | int | bool | None = None
) -> tri.Pad:
    """Pad by pairs of numbers, those of the last axis first."""
    rank = tensor(input).rank
    if len(pad) % 2 or len(pad) > 2 * rank:
        raise Invalid(f"has {len(pad)} numbers in pad, must have 2 for each of up to {rank} axes")
    if mode not in MODES:
        raise Invalid(f"has mode '{mode}', must be one of {', '.join(MODES)}")
    around = (*pad, *[0] * (2 * rank - len(pad)))
    pads = (*around[-2::-2], *around[::-2])
    filling = float(value or 0)
    if tensor(input).dtype == "i1":
        filling = float(filling != 0)
    return tri.Pad.build(input, pads=pads, mode=MODES[mode], value=filling)


@torch_op("nn.ConstantPad1d", "nn.ConstantPad2d", "nn.ConstantPad3d")
@torch_op("nn.ZeroPad1d", "nn.ZeroPad2d", "nn.ZeroPad3d")
def constant_pad(input: Value, *, padding: Ints, value: float = 0.0) -> tri.Pad:
    return pad(input, padding, value=value)


@torch_op("nn.ReflectionPad1d", "nn.ReflectionPad2d", "nn.ReflectionPad3d")
@torch_op("aten::reflection_pad1d", "aten::reflection_pad2d", "aten::reflection_pad3d")
def reflection_pad(input: Value, *, padding: Ints) -> tri.Pad:
    return pad(input, padding, mode="reflect")


@torch_op("nn.ReplicationPad1d", "nn.ReplicationPad2d", "nn.ReplicationPad3d")
@torch_op("aten::replication_pad1d", "aten::replication_pad2d", "aten::replication_pad3d")
def replication_pad(input: Value, *, padding: Ints) -> tri.Pad:
    return pad(input, padding, mode="replicate")


@torch_op("nn.CircularPad1d", "nn.CircularPad2d", "nn.CircularPad3d")
def circular_pad(input: Value, *, padding: Ints) -> tri.Pad:
    return pad(input, padding, mode="circular")
