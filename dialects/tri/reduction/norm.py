"""Normalisation: standardise values to mean 0 and variance 1, then scale and shift them."""

import math

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.atoms import Size
from ...core.sizes.checks import need_divides, need_same_shape
from ...core.tensor import Array, Tensor, need_broadcast, normalize_axis, same_dtype
from ..dialect import TriOp
from ..numeric import need_float


class BatchNorm(TriOp):
    """Normalise each channel by given statistics, then scale and shift it.

    `y = (x - mean) / sqrt(var + epsilon) * scale + bias`; `x` is [N, C, …], the rest are [C].
    Source: ONNX `BatchNormalization` in inference.
    """

    x: Operand
    scale: Operand
    bias: Operand
    mean: Operand
    var: Operand
    epsilon: float = 1e-5
    y: Result

    anchor = True

    def infer(self, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor) -> Tensor:
        same_dtype(need_float(x), scale, bias, mean, var)
        if x.rank < 2:
            raise Invalid(f"input has rank {x.rank}, must have 2 or more: batch, channels, …")
        for name, operand in {"scale": scale, "bias": bias, "mean": mean, "var": var}.items():
            _check_per_channel(name, operand, x.shape[1])
        return x

    def reference(self, x: Array, scale: Array, bias: Array, mean: Array, var: Array) -> Array:
        wide, scale, bias, mean, var = map(widen, (x, scale, bias, mean, var))
        factor = scale / np.sqrt(var + self.epsilon)
        y = (wide - _channels(mean, x)) * _channels(factor, x) + _channels(bias, x)
        return narrow(y, x)


class LayerNorm(TriOp):
    """Normalise over the axes from `axis` to the last, then multiply `scale` and add `bias`.

    `scale` and `bias` broadcast to `x`. Half types are computed in f32.
    Source: ONNX `LayerNormalization`, its first output.
    """

    x: Operand
    scale: Operand | None = None
    bias: Operand | None = None
    axis: int = -1
    epsilon: float = 1e-5
    y: Result

    anchor = True

    def infer(self, x: Tensor, scale: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
        same_dtype(need_float(x), scale, bias)
        normalize_axis(self.axis, x.rank)
        _check_broadcasts("scale", scale, x)
        _check_broadcasts("bias", bias, x)
        return x

    def reference(self, x: Array, scale: Array | None = None, bias: Array | None = None) -> Array:
        y = _standardized(widen(x), tuple(range(self.axis % x.ndim, x.ndim)), self.epsilon)
        y = y if scale is None else y * widen(scale)
        return narrow(y if bias is None else y + widen(bias), x)


class RmsNorm(TriOp):
    """Divide by the root mean square over the axes from `axis` to the last, and multiply `scale`.

    `scale` broadcasts to `x`. Half types are computed in f32. Source: ONNX `RMSNormalization`.
    """

    x: Operand
    scale: Operand | None = None
    axis: int = -1
    epsilon: float = 1e-5
    y: Result

    anchor = True

    def infer(self, x: Tensor, scale: Tensor | None = None) -> Tensor:
        same_dtype(need_float(x), scale)
        normalize_axis(self.axis, x.rank)
        _check_broadcasts("scale", scale, x)
        return x

    def reference(self, x: Array, scale: Array | None = None) -> Array:
        wide = widen(x)
        axes = tuple(range(self.axis % x.ndim, x.ndim))
        y = wide / np.sqrt(np.mean(wide * wide, axes, keepdims=True) + self.epsilon)
        return narrow(y if scale is None else y * widen(scale), x)


class ChannelNorm(TriOp, abstract=True):
    """Base of norms over the pixels of channels, which then scale and shift each channel."""

    x: Operand
    scale: Operand
    bias: Operand
    epsilon: float = 1e-5
    y: Result

    anchor = True

    def infer(self, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
        same_dtype(need_float(x), scale, bias)
        if x.rank < 3:
            raise Invalid(f"input has rank {x.rank}, must have 3 or more: batch, channels, pixels")
        _check_per_channel("scale", scale, x.shape[1])
        _check_per_channel("bias", bias, x.shape[1])
        return x


class GroupNorm(ChannelNorm):
    """Normalise each of `groups` parts of the channels with their pixels; scale each channel.

    `x` is [N, C, …], `scale` and `bias` are [C]. Half types are computed in f32.
    Source: ONNX `GroupNormalization` since 21; Wu and He, "Group Normalization", 2018.
    """

    groups: int

    def infer(self, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
        y = super().infer(x, scale, bias)
        channels, groups = x.shape[1], self.groups
        need_divides(channels, groups, f"{channels} channels do not split in {groups} groups")
        return y

    def reference(self, x: Array, scale: Array, bias: Array) -> Array:
        parts = widen(x).reshape(x.shape[0], self.groups, math.prod(x.shape[1:]) // self.groups)
        y = _standardized(parts, (2,), self.epsilon).reshape(x.shape)
        return narrow(y * _channels(widen(scale), x) + _channels(widen(bias), x), x)


class InstanceNorm(ChannelNorm):
    """Normalise each channel of each sample over its pixels, then scale and shift each channel.

    `x` is [N, C, …], `scale` and `bias` are [C]. Half types are computed in f32.
    Source: ONNX `InstanceNormalization`; Ulyanov et al., "Instance Normalization", 2016.
    """

    def reference(self, x: Array, scale: Array, bias: Array) -> Array:
        y = _standardized(widen(x), tuple(range(2, x.ndim)), self.epsilon)
        return narrow(y * _channels(widen(scale), x) + _channels(widen(bias), x), x)


class LpNormalize(TriOp):
    """Divide by the p-norm along `axis`, or by `epsilon` where that is greater.

    A norm of zero gives zeros. Source: ONNX `LpNormalization`, torch `functional.normalize`.
    """

    x: Operand
    axis: int = -1
    p: int = 2
    epsilon: float = 0.0
    y: Result

    anchor = True

    def infer(self, x: Tensor) -> Tensor:
        normalize_axis(self.axis, x.rank)
        if self.p not in (1, 2):
            raise Invalid(f"p is {self.p}, must be 1 or 2")
        if not self.epsilon >= 0:
            raise Invalid(f"epsilon is {self.epsilon}, must be at least 0")
        return need_float(x)

    def reference(self, x: Array) -> Array:
        wide = widen(x)
        norm = (np.abs(wide) ** self.p).sum(self.axis, keepdims=True) ** (1 / self.p)
        norm = np.maximum(norm, wide.dtype.type(self.epsilon))
        return narrow(np.divide(wide, norm, out=np.zeros_like(wide), where=norm != 0), x)


class Lrn(TriOp):
    """Divide by `(bias + alpha / size * sum) ** beta`; sum has the squares of `size` channels.

    The channels are those around each one, cut at the ends. `x` is [N, C, …].
    Source: ONNX `LRN`; Krizhevsky et al., "ImageNet Classification with Deep Convolutional Neural
    Networks", 2012.
    """

    x: Operand
    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    bias: float = 1.0
    y: Result

    anchor = True

    def infer(self, x: Tensor) -> Tensor:
        if x.rank < 2:
            raise Invalid(f"input has rank {x.rank}, must have 2 or more: batch, channels, …")
        if self.size < 1:
            raise Invalid(f"size is {self.size}, must be at least 1")
        return need_float(x)

    def reference(self, x: Array) -> Array:
        wide = widen(x)
        before = (self.size - 1) // 2
        pads = [(0, 0)] * x.ndim
        pads[1] = (before, self.size - 1 - before)
        squares = np.pad(wide * wide, pads)
        total = sum(squares[:, at : at + x.shape[1]] for at in range(self.size))
        return narrow(wide / (self.bias + self.alpha / self.size * total) ** self.beta, x)


def _standardized(x: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    """Shift and scale values to mean zero and variance one over some axes."""
    centered = x - x.mean(axes, keepdims=True)
    return centered / np.sqrt((centered * centered).mean(axes, keepdims=True) + epsilon)


def _channels(values: Array, x: Array) -> Array:
    """Shape one value per channel so that it broadcasts to [N, C, …]."""
    return values.reshape(-1, *(1,) * (x.ndim - 2))


def _check_per_channel(name: str, operand: Tensor, channels: Size) -> None:
    fault = f"{name} is {operand}, must have one axis of {channels} elements"
    need_same_shape(operand.shape, (channels,), fault)


def _check_broadcasts(name: str, operand: Tensor | None, x: Tensor) -> None:
    if operand is not None:
        need_broadcast(operand.shape, x.shape, f"{name} is {operand}, must broadcast to {x}")
