"""Convolution to a blocked image, by dot products on VNNI words: of bytes, or of bf16."""

from ..core.errors import Invalid
from ..core.sizes.checks import need_divides
from ..core.tensor import Array, Tensor
from .blocked import Block, Unblock, blocked_shape, check_border, plain_shape
from .dot import DotKernelConv, DotPanelConv
from .packing import need_count
from .vnni import products_of


class BlockedDotConv(DotKernelConv):
    """Convolve as `cpu.dot_panel_conv` does, to a blocked image.

    `x` is a blocked image, whose border is in memory (`pads` are 0), or a plain one. The blocks of
    a blocked one are whole words, so that a pixel is read where it is. Code works on `rows` pixels
    at a time; 0 leaves that open. `border`, begins of all axes, then ends, says how far from its
    edges a blocked image of bf16 or of unsigned bytes is zero: code may pass over that.
    """

    lanes: int
    rows: int = 0
    border: tuple[int, ...] = ()

    allows_pad_epilogue = True

    @property
    def panels(self) -> DotPanelConv:
        """The convolution from a plain image to a plain one."""
        names = ("outputs", "kernel", "strides", "pads", "dilations", "padding", "signed")
        return DotPanelConv(**{name: getattr(self, name) for name in names})

    def infer(self, x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        need_count("rows", self.rows)
        check_border(x, self.border, len(self.kernel))
        if self.border and (x.dtype not in ("bf16", "ui8") or not self._is_blocked(x.rank)):
            raise Invalid(f"has a border of {x}, must be a blocked image of bf16 or ui8")
        image = self._plain(x) if self._is_blocked(x.rank) else x
        y = self.panels.infer(image, w, b)
        return Tensor(blocked_shape(y.shape, self.lanes), y.dtype)

    def reference(self, x: Array, w: Array, b: Array) -> Array:
        image = Unblock().reference(x) if self._is_blocked(x.ndim) else x
        return Block(lanes=self.lanes).reference(self.panels.reference(image, w, b))

    def _plain(self, x: Tensor) -> Tensor:
        """Return the type of a blocked image before it was blocked."""
        if any(self.pads):
            raise Invalid(f"pads a blocked image by {self.pads}, must have its border in memory")
        count = products_of(x, self.signed).count
        need_divides(x.shape[-1], count, f"reads words of {count} in blocks of {x.shape[-1]}")
        return Tensor(plain_shape(x.shape), x.dtype)

    def _is_blocked(self, rank: int) -> bool:
        return rank == len(self.kernel) + 3
