"""`Product`: the sums of products of an op on constant weights, a convolution or a product."""

import math
from dataclasses import dataclass

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.op import Op
from ....dialects.core.sizes.atoms import is_symbolic
from ....dialects.core.tensor import DTYPES, Shape
from ....dialects.cpu.winograd import TAPS
from ...kernels.arithmetic import compute_dtype


@dataclass(frozen=True)
class Product:
    """Describe `outputs` by `points` sums of `depth` products each, `count` times over.

    The points are the pixels of a convolution or the rows of a matrix product; an output is a
    column of the weights. `taps` and `image` are the kernel and the result of a convolution, empty
    for others. `moved` is whether any window differs from the pixel at the same index. Sizes that
    change from run to run are the likely ones: schedules are chosen for these.
    """

    outputs: int
    points: int
    depth: int
    dtype: str
    count: int = 1
    group: int = 1
    taps: Shape = ()
    image: Shape = ()
    moved: bool = False
    strided: bool = False
    plain: bool = False  # strides and dilations of 1
    seen: int = 0  # pixels of the input, padding included
    blocked: bool = False  # a convolution to a blocked image
    fixed: bool = True  # the number of points is known

    @property
    def is_conv(self) -> bool:
        return bool(self.taps)

    @property
    def channels(self) -> int:
        """The number of channels of the input that an output depends on."""
        return self.depth // math.prod(self.taps)

    @property
    def winograd_suits(self) -> bool:
        """Return whether Winograd's method computes this convolution."""
        volume = self.blocked and self.fixed
        square = self.taps[-2:] == (TAPS, TAPS) and (volume or len(self.taps) == 2)
        suits = square and self.plain and self.group == 1
        return suits and (self.dtype == "f32" or (self.blocked and self.is_widened))

    @property
    def panels_suit(self) -> bool:
        """Return whether vectors may be across the outputs of this convolution."""
        return self.is_conv and self.group == 1

    @property
    def is_widened(self) -> bool:
        """Return whether weights are converted to another type before they are multiplied."""
        return self.dtype != compute_dtype(self.dtype)

    @property
    def bits(self) -> int:
        return DTYPES[compute_dtype(self.dtype)].bits


def product_of(op: Op) -> Product | None:
    """Return the product of an op whose weights can be packed, else None."""
    product = None
    if isinstance(op, tri.Conv):
        product = _convolution(op)
    elif isinstance(op, cpu.BlockedConv):
        product = _blocked_convolution(op)
    elif isinstance(op, tri.MatMul):
        product = _matrix_product(op)
    elif isinstance(op, tri.Gemm):
        product = _linear_layer(op)
    return product if product and product.outputs * product.points * product.depth else None


def _convolution(op: tri.Conv) -> Product | None:
    x, y, w = (tensor_of(v.type) for v in (op.x, op.y, op.w))
    outputs, channels, *taps = w.shape
    if op.is_depthwise:  # that reads one kernel at a time
        return None
    padded = any(op.pads) or x.shape[2:] != y.shape[2:]
    fixed, y = not any(map(is_symbolic, y.shape[2:])), y.likely
    strided = any(step != 1 for step in op.strides)
    return Product(
        outputs // op.group,
        math.prod(y.shape[2:]),
        channels * math.prod(taps),
        y.dtype,
        count=y.shape[0] * op.group,
        group=op.group,
        taps=tuple(taps),
        image=y.shape[2:],
        moved=padded or strided,
        strided=strided,
        plain=not strided and set(op.dilations) <= {1},
        seen=math.prod(
            (count - 1) * stride + (size - 1) * dilation + 1
            for count, stride, size, dilation in zip(
                y.shape[2:], op.strides, taps, op.dilations, strict=True
            )
        ),
        fixed=fixed,
    )


def _blocked_convolution(op: cpu.BlockedConv) -> Product:
    x, y, w = (tensor_of(v.type).likely for v in (op.x, op.y, op.w))
    image, taps = y.shape[2:-1], op.kernel
    return Product(
        op.outputs // op.group,
        math.prod(image),
        w.shape[1],
        y.dtype,
        count=y.shape[0] * op.group,
        taps=taps,
        image=image,
        moved=math.prod(taps) > 1 or set(op.strides) != {1},
        seen=math.prod(x.shape[2 : 2 + len(taps)]),
        blocked=True,
        fixed=not any(map(is_symbolic, tensor_of(op.y.type).shape[2:-1])),
    )


def _matrix_product(op: tri.MatMul) -> Product | None:
    given, b = tensor_of(op.a.type), tensor_of(op.b.type).likely
    a = given.likely
    if b.rank != 2 or a.rank < 2 or not b.size:
        return None
    depth, outputs = b.shape
    return Product(outputs, a.size // depth, depth, a.dtype, fixed=given.is_static)


def _linear_layer(op: tri.Gemm) -> Product | None:
    given, b = tensor_of(op.a.type), tensor_of(op.b.type).likely
    a = given.likely
    if op.trans_a or op.alpha != 1 or op.beta != 1:
        return None
    outputs, depth = b.shape if op.trans_b else b.shape[::-1]
    return Product(outputs, a.shape[0], depth, a.dtype, fixed=given.is_static)
