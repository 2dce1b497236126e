"""Select ops on f16: convolutions, products, pools, and what SDP computes value by value."""

from collections.abc import Callable

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.op import Op
from .....dialects.core.tensor import Array, normalize_axes
from .....passes.rewriting import NoMatch
from ...select.windows import KernelWindow
from ..reference import sdp
from .convolutions import Kernel, convolved_groups, flattened, summed
from .deconvolutions import contracted, dense_weights
from .emulated import EXPONENTS, select_pow, select_power, select_softmax
from .half_elements import select_difference, select_elements, select_quotient
from .half_tables import select_curve, select_lrn
from .places import select_concat, select_slice
from .pools import pooled, select_max_pool
from .selection import NvdlaSelection, image_of, image_shape
from .stages import RELU, Pending, Stage, channel_vector, select_stages

HALF = "f16"


def select_conv(op: tri.Conv, selection: NvdlaSelection) -> None:
    """Select a convolution of images, of one or two axes, with any number of groups."""
    weights = selection.constant(op.w, "weights")
    window = KernelWindow.of(weights.shape[2:], op.strides, op.dilations, op.pads)
    weights = weights.reshape(*weights.shape[:2], *window.kernel)
    bias = None if op.b is None else selection.constant(op.b, "biases")
    with selection.place():
        y = _convolved(selection, image_of(op.x), weights, bias, window, op.group)
    selection.replaced(y, ())


def select_deconv(op: tri.ConvTranspose, selection: NvdlaSelection) -> None:
    """Select a transposed convolution of images, of one or two axes, with any number of groups."""
    given = selection.constant(op.w, "weights")
    window = KernelWindow.of(given.shape[2:], op.strides, op.dilations, op.pads)
    weights = dense_weights(given, op.group, window)
    kernel = _kernel(weights, None if op.b is None else selection.constant(op.b, "biases"))

    def convolve(x: ir.Value, phase: Kernel, taps: KernelWindow) -> ir.Value:
        return _ended(selection, summed(selection, x, phase, taps), phase).build()

    with selection.place():
        out = image_shape(tensor_of(op.y.type).shape)[2:]
        y = contracted(selection, image_of(op.x), kernel, window, out, convolve)
    selection.replaced(y, ())


def select_gemm(op: tri.Gemm, selection: NvdlaSelection) -> None:
    """Select a product with a constant matrix: a convolution of single pixels, or whole images."""
    if op.trans_a:
        raise NoMatch(f"{selection.description.name} multiplies rows, not columns")
    matrix = selection.constant(op.b, "weights")
    matrix = matrix.T if op.trans_b else matrix
    bias = None if op.c is None else selection.constant(op.c, "biases") * np.float16(op.beta)
    _select_rows(op, selection, op.a, matrix * np.float16(op.alpha), bias)


def select_product(op: tri.MatMul, selection: NvdlaSelection) -> None:
    """Select a product of rows with a constant matrix."""
    matrix = selection.constant(op.b, "weights")
    if matrix.ndim != 2 or tensor_of(op.y.type).rank != 2:
        raise NoMatch(f"{selection.description.name} multiplies rows by one matrix")
    _select_rows(op, selection, op.a, matrix, None)


def _select_rows(
    op: Op, selection: NvdlaSelection, rows: ir.Value, matrix: Array, bias: Array | None
) -> None:
    value, sizes = flattened(rows, selection)
    depth, kernels = matrix.shape
    weights = matrix.T.reshape(kernels, depth // (sizes[0] * sizes[1]), *sizes)
    if bias is not None:
        bias = channel_vector(bias, op)
        if bias is None:
            raise NoMatch("adds other numbers to each row")
    with selection.place():
        y = _convolved(selection, image_of(value), weights, bias, KernelWindow(sizes), 1)
    selection.replaced(y, ())


def _convolved(
    selection: NvdlaSelection,
    x: ir.Value,
    weights: Array,
    bias: Array | None,
    window: KernelWindow,
    groups: int,
    factors: ir.Value | None = None,
) -> ir.Value:
    """Build a convolution with biases; `factors` are of each element of its result."""

    def convolve(part: ir.Value, dense: Kernel) -> ir.Value:
        pending = _ended(selection, summed(selection, part, dense, window), dense)
        if factors is not None:
            numbers = selection.constant(factors, "factors")[:, : len(dense.weights)]
            pending.add(Stage.of(sdp.MULTIPLY, selection.build_constant(numbers, "factors")))
        return pending.build()

    return convolved_groups(selection, x, _kernel(weights, bias), groups, convolve)


def _kernel(weights: Array, bias: Array | None) -> Kernel:
    """Return weights [K, C, R, S] of f16 with their biases."""
    kernels = len(weights)
    given = np.zeros(kernels, np.float16) if bias is None else bias
    nothing = np.zeros(kernels, np.int64)
    return Kernel(weights, given.reshape(kernels), nothing, nothing, 0)


def _ended(selection: NvdlaSelection, sums: ir.Value, kernel: Kernel) -> Pending:
    """Return the operation that ends a convolution, with the biases."""
    pending = Pending(selection, sums, {}, {})
    if kernel.bias.any():
        pending.add(Stage.of(sdp.ALU, selection.build_constant(kernel.bias, "biases")))
    return pending


def select_average(op: tri.AveragePool, selection: NvdlaSelection) -> None:
    """Select the average of windows: of PDP, or a convolution with shares of 1.

    Where only pixels inside of an image count, SDP multiplies sums by one over their number.
    """
    window = KernelWindow.of(op.kernel, op.strides, op.dilations, op.pads)
    image_out = image_shape(tensor_of(op.y.type).shape)
    with selection.place():
        image = image_of(op.x)
        sizes = tensor_of(image.type).shape[2:]
        reaching = window.reaching(sizes, image_out[2:]) if op.ceil_mode else window
        if reaching != window and op.count_include_pad:
            raise NoMatch(f"{selection.description.name} averages whole windows")
        counts = reaching.counts(sizes, image_out[2:])
        whole = op.count_include_pad or (counts == counts.flat[0]).all()
        y = _average(selection, image, reaching, None if whole else counts)
    selection.replaced(y, ())


def select_mean(op: tri.ReduceMean, selection: NvdlaSelection) -> None:
    """Select the mean over the rows and columns of images."""
    shape = tensor_of(op.x.type).shape
    axes = normalize_axes(op.axes, len(shape))
    if len(shape) != 4 or set(axes) != {2, 3}:
        raise NoMatch(f"averages axes {axes} of {len(shape)}, must be rows and columns of images")
    with selection.place():
        y = _average(selection, image_of(op.x), KernelWindow(shape[2:]), None)
    selection.replaced(y, ())


def _average(
    selection: NvdlaSelection, image: ir.Value, window: KernelWindow, counts: Array | None
) -> ir.Value:
    _, channels, *sizes = tensor_of(image.type).shape
    if counts is None:
        try:
            return pooled(selection, image, "average", window, None, tuple(sizes))
        except NoMatch:
            pass  # a convolution has larger windows
    share = 1.0 if counts is not None else 1.0 / (window.kernel[0] * window.kernel[1])
    weights = np.full((channels, 1, *window.kernel), share, np.float16)
    factors = None
    if counts is not None:
        batch = tensor_of(image.type).shape[:2]
        shares = np.broadcast_to((1.0 / counts).astype(np.float16), (*batch, *counts.shape))
        factors = selection.build_constant(shares, "shares")
    return _convolved(selection, image, weights, None, window, channels, factors)


def select_relu(op: tri.Relu, selection: NvdlaSelection) -> None:
    """Select the activation of a stage."""
    select_stages(op, selection, op.x, [Stage(RELU)])


def select_clip(op: tri.Clip, selection: NvdlaSelection) -> None:
    """Select bounds: those that are finite, 0 as the activation of a stage."""
    stages: list[Stage] = []
    if op.min == 0:
        stages.append(Stage(RELU))
    elif np.isfinite(op.min):
        stages.append(Stage.of(sdp.ALU, op.min, sdp.MAX))
    if np.isfinite(op.max):
        stages.append(Stage.of(sdp.ALU, op.max, sdp.MIN))
    select_stages(op, selection, op.x, stages)


def select_leaky_relu(op: tri.LeakyRelu, selection: NvdlaSelection) -> None:
    """Select one factor for all numbers below 0."""
    stage = Stage.of(sdp.MULTIPLY, op.alpha, activation=sdp.PRELU)
    select_stages(op, selection, op.x, [stage])


def select_prelu(op: tri.Prelu, selection: NvdlaSelection) -> None:
    """Select factors of channels for numbers below 0."""
    numbers = channel_vector(selection.constant(op.slope, "slopes"), op)
    if numbers is None:
        raise NoMatch(f"{selection.description.name} has one slope for each channel")
    with selection.place():
        slopes = selection.build_constant(numbers, "slopes")
    stage = Stage.of(sdp.MULTIPLY, slopes, activation=sdp.PRELU)
    select_stages(op, selection, op.x, [stage])


HALVES: dict[type[Op], Callable[..., None]] = {
    tri.Conv: select_conv,
    tri.ConvTranspose: select_deconv,
    tri.Gemm: select_gemm,
    tri.MatMul: select_product,
    tri.MaxPool: select_max_pool,
    tri.AveragePool: select_average,
    tri.ReduceMean: select_mean,
    tri.Relu: select_relu,
    tri.Clip: select_clip,
    tri.LeakyRelu: select_leaky_relu,
    tri.Prelu: select_prelu,
    tri.Add: select_elements(sdp.ALU),
    tri.Sub: select_difference,
    tri.Mul: select_elements(sdp.MULTIPLY),
    tri.Div: select_quotient,
    tri.Lrn: select_lrn,
    tri.Sigmoid: select_curve,
    tri.Tanh: select_curve,
    tri.Concat: select_concat,
    tri.Slice: select_slice,
    tri.Softmax: select_softmax,
    tri.Pow: select_pow,
    **dict.fromkeys(EXPONENTS, select_power),
}
"""The rules for ops on f16."""
