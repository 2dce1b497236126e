"""Where ONNX's operators with sliding windows put their padding."""

from ....dialects.core.errors import Invalid
from ....dialects.core.tensor import Shape
from ....dialects.tri.window import Window

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
    check_auto_pad(auto_pad)
    if auto_pad == "NOTSET":
        return plain
    bare = _with_pads(plain, zeros)
    bare.check()
    if auto_pad == "VALID":
        return bare
    missing = [
        max((-(-size // stride) - 1) * stride + extent - size, 0)
        for size, stride, extent in zip(sizes, bare.strides, bare.extents, strict=True)
    ]
    return _with_pads(bare, split(missing, extra_at_end=auto_pad == "SAME_UPPER"))


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

    Where the output shall be larger than what the window reaches, zeros are added at the end.
    """
    extra = output_padding or (0,) * len(kernel)
    if output_shape is None and auto_pad in ("NOTSET", "VALID"):
        return window(sizes, kernel, strides, pads, dilations, auto_pad), extra
    check_auto_pad(auto_pad)
    bare = window(sizes, kernel, strides, None, dilations, "VALID")
    wanted = output_shape or tuple(n * s for n, s in zip(sizes, bare.strides, strict=True))
    reached = zip(bare.input_sizes(sizes), extra, wanted[-len(kernel) :], strict=True)
    surplus = [size + more - want for size, more, want in reached]
    padding = split([max(s, 0) for s in surplus], extra_at_end=auto_pad == "SAME_UPPER")
    extra = tuple(more + max(-s, 0) for more, s in zip(extra, surplus, strict=True))
    return _with_pads(bare, padding), extra


def split(totals: list[int], *, extra_at_end: bool) -> Ints:
    """Split padding in halves, begins then ends; an odd one's larger half is at one side."""
    small, large = tuple(t // 2 for t in totals), tuple(t - t // 2 for t in totals)
    return (*small, *large) if extra_at_end else (*large, *small)


def check_auto_pad(auto_pad: str) -> None:
    """Raise Invalid unless an auto_pad attribute has one of ONNX's values."""
    if auto_pad not in AUTO_PADS:
        raise Invalid(f"has auto_pad '{auto_pad}', must be one of {', '.join(AUTO_PADS)}")


def _with_pads(window: Window, pads: Ints) -> Window:
    return Window(window.kernel, window.strides, pads, window.dilations, window.ceil_mode)
