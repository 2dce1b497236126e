"""The arithmetic of windows that slide over spatial axes: convolution and pooling share it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import Invalid
from ...core.sizes.atoms import Size
from ...core.sizes.checks import need
from ...core.sizes.dim import ceildiv, highest, lowest
from ...core.tensor import Array, Shape


@dataclass(frozen=True)
class Window:
    """Describe a window of `kernel` taps that moves over spatial axes.

    Every tuple has one entry per spatial axis; `pads` has two: all begins, then all ends. Taps of
    a window are `dilations` apart, windows are `strides` apart. In `ceil_mode` a last window that
    hangs over the end counts too, provided that it starts inside the input or its begin padding.
    `allows_partial` lets the first window hang over the end by less than a stride where no window
    fits: ONNX's pools have one window then.
    """

    kernel: Shape
    strides: Shape
    pads: Shape
    dilations: Shape
    ceil_mode: bool = False
    allows_partial: bool = False

    @property
    def rank(self) -> int:
        return len(self.kernel)

    @property
    def attributes(self) -> dict[str, Any]:
        """The strides, pads and dilations, as attributes of ops."""
        return {"strides": self.strides, "pads": self.pads, "dilations": self.dilations}

    @property
    def begins(self) -> Shape:
        return self.pads[: self.rank]

    @property
    def ends(self) -> Shape:
        return self.pads[self.rank :]

    @property
    def extents(self) -> Shape:
        """Count the elements from the first tap to the last, on each axis."""
        pairs = zip(self.kernel, self.dilations, strict=True)
        return tuple((taps - 1) * dilation + 1 for taps, dilation in pairs)

    def check(self) -> None:
        """Raise Invalid unless all tuples fit the rank and their sizes are in range."""
        counts = {"strides": self.rank, "dilations": self.rank, "pads": 2 * self.rank}
        for name, count in counts.items():
            if len(getattr(self, name)) != count:
                have = len(getattr(self, name))
                raise Invalid(f"{name} has {have} entries, must have {count}")
        for name, least in {"kernel": 1, "strides": 1, "dilations": 1, "pads": 0}.items():
            values = getattr(self, name)
            for value in values:
                need(value, least, f"{name} is {values}, must be at least {least}")

    def output_sizes(self, sizes: Shape) -> Shape:
        """Count the windows on each axis of an input; Invalid where not even one fits."""
        self.check()
        if len(sizes) != self.rank:
            raise Invalid(f"kernel has {self.rank} axes, input has {len(sizes)} spatial ones")
        return tuple(self._output_size(axis, size) for axis, size in enumerate(sizes))

    def _output_size(self, axis: int, size: Size) -> Size:
        begin, stride, extent = self.begins[axis], self.strides[axis], self.extents[axis]
        padded = begin + size + self.ends[axis]
        need(
            padded,
            extent - stride + 1 if self.allows_partial else extent,
            f"kernel spans {extent} elements of spatial axis {axis}, padded input has {padded}",
        )
        steps = (padded - extent) // stride
        if self.ceil_mode:
            last = (begin + size - 1) // stride  # the last window that starts before the end
            steps = highest(steps, lowest(ceildiv(padded - extent, stride), last))
        return highest(steps + 1, 1)

    def reaching(self, sizes: Shape) -> Shape:
        """Return pads that also cover windows that hang over the end of the padded input."""
        ends = [
            highest(end, (windows - 1) * stride + extent - begin - size)
            for size, windows, stride, extent, begin, end in zip(
                sizes,
                self.output_sizes(sizes),
                self.strides,
                self.extents,
                self.begins,
                self.ends,
                strict=True,
            )
        ]
        return (*self.begins, *ends)

    def input_sizes(self, sizes: Shape) -> Shape:
        """Count the elements that `sizes` windows cover, without padding: convolution's inverse."""
        self.check()
        if len(sizes) != self.rank:
            raise Invalid(f"kernel has {self.rank} axes, input has {len(sizes)} spatial ones")
        return tuple(
            (size - 1) * stride + extent - begin - end
            for size, stride, extent, begin, end in zip(
                sizes, self.strides, self.extents, self.begins, self.ends, strict=True
            )
        )

    def taps(self, outputs: Shape) -> Iterator[tuple[slice, ...]]:
        """Yield, for each tap of the kernel in order, the padded elements that windows see."""
        for tap in np.ndindex(self.kernel):
            yield tuple(
                slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride)
                for at, dilation, stride, count in zip(
                    tap, self.dilations, self.strides, outputs, strict=True
                )
            )

    def pad(self, x: Array, value: float, overhang: float) -> Array:
        """Pad the last axes with `value`, then with `overhang` where windows hang over the end."""
        outside = [(0, 0)] * (x.ndim - self.rank)
        pads = [*outside, *zip(self.begins, self.ends, strict=True)]
        padded = np.pad(x, pads, constant_values=value) if any(self.pads) else x
        missing = list(outside)
        for axis, windows in enumerate(self.output_sizes(x.shape[-self.rank :])):
            reach = (windows - 1) * self.strides[axis] + self.extents[axis]
            missing.append((0, max(0, reach - padded.shape[axis - self.rank])))
        if not any(end for _, end in missing):
            return padded
        return np.pad(padded, missing, constant_values=overhang)

    def slide(self, x: Array, value: float, overhang: float | None = None) -> Iterator[Array]:
        """Yield, for each tap of the kernel in order, the element of `x` that each window reads.

        They see `value` in padding, and `overhang` beyond it: `value` too when that is None.
        """
        padded = self.pad(x, value, value if overhang is None else overhang)
        for tap in self.taps(self.output_sizes(x.shape[-self.rank :])):
            yield padded[(..., *tap)]
