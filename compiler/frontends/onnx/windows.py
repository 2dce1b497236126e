"""Where ONNX's operators with sliding windows put their padding."""

import dataclasses

from ....dialects.core.errors import Invalid
from ....dialects.core.tensor import Shape
from ....dialects.tri.image.window import Window

AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")

Ints = tuple[int, ...]


def window(
    sizes: Shape,
    kernel: Shape,
    strides: Ints | None,
    pads: Ints | None,
    dilations: Ints | None,
    auto_pad: str,
    *,
    ceil_mode: bool = False,
) -> Window:
    """Fill in ONNX's defaults for a window over spatial axes of `sizes`, and find its padding."""
    ones, zeros = (1,) * len(kernel), (0,) * (2 * len(kernel))
    plain = Window(kernel, strides or ones, pads or zeros, dilations or ones, ceil_mode)
    _check_auto_pad(auto_pad)
    if auto_pad == "NOTSET":
        return plain
    bare = dataclasses.replace(plain, pads=zeros)
    bare.check()
    _check_axes("kernel", kernel, sizes)
    if auto_pad == "VALID":
        return bare
    missing = [
        max((-(-size // stride) - 1) * stride + extent - size, 0)
        for size, stride, extent in zip(sizes, bare.strides, bare.extents, strict=True)
    ]
    return dataclasses.replace(bare, pads=split(missing, extra_at_end=auto_pad == "SAME_UPPER"))


def transposed_window(
    sizes: Shape,
    kernel: Shape,
    strides: Ints | None,
    pads: Ints | None,
    dilations: Ints | None,
    auto_pad: str,
    output_padding: Ints | None,
    output_shape: Ints | None,
) -> tuple[Window, Ints]:
    """Fill in the defaults of a transposed convolution; return its window and output padding.

    Where `output_shape` is larger than what the window reaches, zeros are added at the end. For
    auto_pad SAME none are: ONNX's shape inference and ONNX Runtime leave such an output smaller.
    """
    extra = output_padding or (0,) * len(kernel)
    if output_shape is None and auto_pad in ("NOTSET", "VALID"):
        return window(sizes, kernel, strides, pads, dilations, auto_pad), extra
    _check_auto_pad(auto_pad)
    bare = window(sizes, kernel, strides, None, dilations, "VALID")
    wanted = output_shape or tuple(n * s for n, s in zip(sizes, bare.strides, strict=True))
    # Early exporters put batch and channels in front.
    wanted = wanted[2:] if len(wanted) == len(kernel) + 2 else wanted
    _check_axes("output_shape", wanted, sizes)
    _check_axes("output_padding", extra, sizes)
    reached = zip(bare.input_sizes(sizes), extra, wanted, strict=True)
    surplus = [size + more - want for size, more, want in reached]
    padding = split([max(s, 0) for s in surplus], extra_at_end=auto_pad == "SAME_UPPER")
    if output_shape is not None:
        extra = tuple(more + max(-s, 0) for more, s in zip(extra, surplus, strict=True))
    return dataclasses.replace(bare, pads=padding), extra


def split(totals: list[int], *, extra_at_end: bool) -> Ints:
    """Split padding in halves, begins then ends; an odd one's larger half is at one side."""
    small, large = tuple(t // 2 for t in totals), tuple(t - t // 2 for t in totals)
    return (*small, *large) if extra_at_end else (*large, *small)


def _check_axes(name: str, values: Ints, sizes: Shape) -> None:
    if len(values) != len(sizes):
        raise Invalid(f"{name} has {len(values)} entries, input has {len(sizes)} spatial axes")


def _check_auto_pad(auto_pad: str) -> None:
    if auto_pad not in AUTO_PADS:
        raise Invalid(f"has auto_pad '{auto_pad}', must be one of {', '.join(AUTO_PADS)}")
