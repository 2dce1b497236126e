"""ONNX rules for windows over images, resampling, regions and spectra."""

import math

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from .....dialects.core.op import Op
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.tensor import Array
from ..graph import OnnxGraph, exports, ints
from .elementwise import as_i64, scalar

POOLS: dict[type[Op], tuple[str, int]] = {
    tri.MaxPool: ("MaxPool", 18),
    tri.MaxPoolIndices: ("MaxPool", 18),
    tri.AveragePool: ("AveragePool", 19),
    tri.LpPool: ("LpPool", 18),
}


@exports(tri.DecodeImage)
def decode_image(op: tri.DecodeImage, graph: OnnxGraph) -> None:
    graph.add("ImageDecoder", [op.x], [op.y], since=20, pixel_format=op.pixels)


@exports(*POOLS)
def pool(op: tri.Pool, graph: OnnxGraph) -> None:
    name, since = POOLS[type(op)]
    given = {key: value for key, value in op.attributes.items() if key != "kernel"}
    given = {key: int(v) if isinstance(v, bool) else v for key, v in given.items()}
    graph.add(name, [op.x], list(op.results), since=since, kernel_shape=op.kernel, **given)


@exports(tri.Resize)
def resize(op: tri.Resize, graph: OnnxGraph) -> None:
    crops = op.coordinate_transform == "tf_crop_and_resize"
    roi = np.array(op.roi, np.float32) if crops else None
    scales, sizes = _target(op, graph)
    graph.add(
        "Resize",
        [op.x, roi, scales, sizes],
        [op.y],
        since=19,
        mode=op.mode,
        coordinate_transformation_mode=op.coordinate_transform,
        nearest_mode=op.nearest_mode,
        cubic_coeff_a=op.cubic_coeff_a,
        exclude_outside=int(op.exclude_outside),
        antialias=int(op.antialias),
        extrapolation_value=op.extrapolation_value,
    )


def _target(op: tri.Resize, graph: OnnxGraph) -> tuple[Array | None, Array | str | None]:
    """Return scales or sizes, whichever a reader takes for the same scales and the same sizes."""
    shape = tensor_of(op.x.type).shape
    ratios = list(map(_has_ratio, op.sizes, shape, op.scales))
    if all(ratios) and not any(map(is_symbolic, shape)):
        return None, ints(*op.sizes)
    scales = np.array(op.scales, np.float32)
    spans = [1.0] * len(shape)
    if op.roi:
        starts, ends = op.roi[: len(shape)], op.roi[len(shape) :]
        spans = [end - start for start, end in zip(starts, ends, strict=True)]
    made = tuple(map(_scaled, shape, spans, scales.tolist()))
    if made == op.sizes and tuple(scales.tolist()) == op.scales:
        return scales, None
    if all(ratios):
        return None, graph.sizes.vector(op.sizes)
    raise Unsupported(f"has scales {op.scales} to sizes {op.sizes}, which ONNX cannot say")


def _has_ratio(size: Size, dim: Size, scale: float) -> bool:
    if not is_symbolic(size) and not is_symbolic(dim):
        return size / dim == scale
    above, below = scale.as_integer_ratio()
    return size * below == dim * above


def _scaled(dim: Size, span: float, scale: float) -> Size | None:
    """Return the size that a reader makes of a scale; None where it depends on a run."""
    if not is_symbolic(dim):
        return math.floor(dim * span * scale)
    above, below = scale.as_integer_ratio()
    return dim * above // below if span == 1 else None


@exports(tri.GridSample)
def grid_sample(op: tri.GridSample, graph: OnnxGraph) -> None:
    if not op.normalized:
        raise Unsupported("has coordinates that count elements, those of ONNX are in [-1, 1]")
    attributes = {"mode": op.mode, "padding_mode": op.padding_mode}
    aligned = int(op.align_corners)
    graph.add("GridSample", [op.x, op.grid], [op.y], since=20, align_corners=aligned, **attributes)


@exports(tri.RoiAlign)
def roi_align(op: tri.RoiAlign, graph: OnnxGraph) -> None:
    transform = "half_pixel" if op.half_pixel else "output_half_pixel"
    graph.add(
        "RoiAlign",
        [op.x, op.rois, as_i64(op.batch_indices, graph)],
        [op.y],
        mode=op.mode,
        output_height=op.sizes[0],
        output_width=op.sizes[1],
        sampling_ratio=op.sampling_ratio,
        spatial_scale=op.spatial_scale,
        coordinate_transformation_mode=transform,
    )


@exports(tri.MaxRoiPool)
def max_roi_pool(op: tri.MaxRoiPool, graph: OnnxGraph) -> None:
    scale = op.spatial_scale
    graph.add("MaxRoiPool", [op.x, op.rois], [op.y], pooled_shape=op.sizes, spatial_scale=scale)


@exports(tri.Dft)
def dft(op: tri.Dft, graph: OnnxGraph) -> None:
    inputs = [op.x, graph.sizes.scalar(op.length), scalar(op.axis, "i64")]
    flags = {"inverse": int(op.inverse), "onesided": int(op.onesided)}
    graph.add("DFT", inputs, [op.y], since=20, **flags)
