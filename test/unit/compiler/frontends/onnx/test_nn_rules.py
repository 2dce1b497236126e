"""Rules of neural networks against ONNX Runtime, where ONNX's own cases do not reach."""

from typing import Any

import numpy as np
import pytest
from graphs import array
from single_node import agree, reference
from trivium.dialects.core.errors import CompileError

pytest.importorskip("onnxruntime")

SAME = "SAME_UPPER"
RNG = np.random.default_rng(0)


def refused(message: str, *given: Any, **attributes: Any) -> None:
    with pytest.raises(CompileError, match=message):
        reference(*given, **attributes)


# -- windows ----------------------------------------------------------------------------------


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
@pytest.mark.parametrize(
    ("size", "stride", "kernel"),
    [(7, 1, 2), (7, 1, 3), (8, 2, 2), (7, 2, 3), (8, 2, 4), (9, 3, 3), (8, 3, 4), (5, 4, 4)],
)
def test_windows_pad_by_themselves(auto_pad: str, size: int, stride: int, kernel: int) -> None:
    x, w = array(2, 3, size, size + 1), array(4, 3, kernel, 3, seed=1)
    common = {"auto_pad": auto_pad, "strides": [stride, 1]}
    agree("Conv", [x, w], 11, **common)
    for pool in ("MaxPool", "AveragePool", "LpPool"):
        agree(pool, [x], 11, kernel_shape=[kernel, 3], **common)


def test_conv_fills_in_all_defaults() -> None:
    agree("Conv", [array(2, 3, 7), array(4, 3, 3, seed=1)], 7)
    agree("ConvTranspose", [array(2, 3, 7), array(3, 4, 3, seed=1)], 7)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize(("kernel", "stride"), [(3, 1), (3, 2), (4, 2), (4, 3)])
def test_transposed_windows_pad_by_themselves(auto_pad: str, kernel: int, stride: int) -> None:
    x, w = array(1, 3, 4, 5), array(3, 2, kernel, kernel, seed=1)
    agree("ConvTranspose", [x, w], 11, auto_pad=auto_pad, strides=[stride] * 2)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("shape", [[10, 11], [9, 9], [8, 10]])
def test_conv_transpose_takes_the_shape_of_its_output(auto_pad: str, shape: list[int]) -> None:
    x, w = array(1, 3, 4, 5), array(3, 2, 4, 4, seed=1)
    agree("ConvTranspose", [x, w], 11, auto_pad=auto_pad, output_shape=shape, strides=[2, 2])


def test_average_pool_counts_what_its_mode_says() -> None:
    for include in (0, 1):
        agree(
            "AveragePool",
            [array(1, 2, 8, 9)],
            19,
            kernel_shape=[3, 2],
            strides=[2, 2],
            pads=[1, 0, 1, 1],
            count_include_pad=include,
            ceil_mode=1,
        )


def test_max_pool_says_where_the_maxima_are() -> None:
    for order in (0, 1):
        agree("MaxPool", [array(2, 3, 6, 7)], 12, 2, kernel_shape=[2, 3], storage_order=order)


def test_same_padding_is_none_where_windows_leave_gaps() -> None:
    (y,) = reference("MaxPool", [array(1, 1, 7)], 11, kernel_shape=[2], strides=[3], auto_pad=SAME)
    assert y.shape == (1, 1, 3)
    (y,) = reference(
        "ConvTranspose", [array(1, 1, 3), array(1, 1, 2)], 11, strides=[3], auto_pad=SAME
    )
    assert y.shape == (1, 1, 8)
    assert not y[0, 0, 2::3].any()


def test_global_pools_reduce_all_pixels() -> None:
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        agree(op, [array(2, 3, 4, 5)], 11)


def test_windows_that_make_no_sense_are_refused() -> None:
    x, w = array(1, 3, 7, 7), array(4, 3, 3, 3)
    refused("has kernel_shape .5, 5., weight has .3, 3.", "Conv", [x, w], 11, kernel_shape=[5, 5])
    given = {"kernel_shape": [3, 3], "auto_pad": "SAME"}
    refused("has auto_pad 'SAME', must be one of NOTSET", "MaxPool", [x], 11, **given)
    given = {"output_shape": [9], "strides": [2, 2]}
    wanted = "output_shape has 1 entries, input has 2 spatial axes"
    refused(wanted, "ConvTranspose", [x, w.swapaxes(0, 1)], 11, **given)


# -- products and softmax ---------------------------------------------------------------------


@pytest.mark.parametrize("opset", [7, 9, 11, 13])
def test_gemm_broadcasts_its_bias(opset: int) -> None:
    for bias in ((3, 5), (5,), (3, 1), (1,)):
        operands = [array(4, 3), array(5, 4, seed=1), array(*bias, seed=2)]
        agree("Gemm", operands, opset, transA=1, transB=1, alpha=0.5, beta=2.0)


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("axis", [-2, 0, 1, 2])
def test_softmax_saw_a_matrix_before_opset_13(op: str, axis: int) -> None:
    agree(op, [array(2, 3, 4)], 11, axis=axis)
    agree(op, [array(2, 3, 4)], 13, axis=axis)


# -- normalisation ----------------------------------------------------------------------------


@pytest.mark.parametrize("opset", [7, 9, 14, 15])
def test_batch_normalization_of_every_version(opset: int) -> None:
    statistics = [array(3, seed=i) for i in range(1, 4)]
    operands = [array(2, 3, 4, 5), *statistics, np.abs(array(3, seed=4))]
    agree("BatchNormalization", operands, opset, epsilon=0.01)


def test_batch_normalization_trains_since_opset_14() -> None:
    operands = [array(4, 3, 5), *(array(3, seed=i) for i in range(1, 4)), np.ones(3, np.float32)]
    agree("BatchNormalization", operands, 15, 3, training_mode=1, momentum=0.75)


def test_batch_normalization_did_not_train_before() -> None:
    operands = [array(2, 3, 4)] + [array(3)] * 4
    refused("trains, must have one output", "BatchNormalization", operands, 7, outputs=5)
    refused("has spatial 0, must have statistics", "BatchNormalization", operands, 7, spatial=0)
    refused("trains, must have 'is_test'", "BatchNormalization", operands, 6)


def test_batch_normalization_keeps_statistics_in_a_wider_type() -> None:
    x = array(2, 3, 4).astype(np.float16)
    operands = [array(3, seed=i) for i in range(1, 4)] + [np.abs(array(3, seed=4))]
    (got,) = reference("BatchNormalization", [x, *operands], 15)
    scale, bias, mean, var = (v[:, None] for v in operands)
    want = (x.astype(np.float64) - mean) / np.sqrt(var + 1e-5) * scale + bias
    assert got.dtype == np.float16
    np.testing.assert_allclose(got, want, 2e-3, 2e-3)


@pytest.mark.parametrize("outputs", [1, 3])
def test_layer_normalization_gives_its_statistics_when_wanted(outputs: int) -> None:
    operands = [array(2, 3, 4), array(3, 4, seed=1), array(3, 4, seed=2)]
    agree("LayerNormalization", operands, 17, outputs, axis=1, epsilon=0.01)


def test_group_normalization_scaled_groups_before_opset_21() -> None:
    x, scale, bias = array(2, 6, 3), array(2, seed=1), array(2, seed=2)
    (by_group,) = reference("GroupNormalization", [x, scale, bias], 18, num_groups=2)
    spread = [np.repeat(v, 3) for v in (scale, bias)]
    (by_channel,) = reference("GroupNormalization", [x, *spread], 21, num_groups=2)
    np.testing.assert_array_equal(by_group, by_channel)
    agree("GroupNormalization", [x, *spread], 21, num_groups=2)
    wanted = "has 6 channels, must split in 4 groups"
    refused(wanted, "GroupNormalization", [x, scale, bias], 18, num_groups=4)


def test_other_normalisations() -> None:
    x, scale, bias = array(2, 6, 3, 4), array(6, seed=1), array(6, seed=2)
    agree("InstanceNormalization", [x, scale, bias], 7, epsilon=0.01)
    agree("LRN", [x], 13, size=3, alpha=0.1, beta=0.5, bias=2.0)
    for p in (1, 2):
        agree("LpNormalization", [x], 11, axis=1, p=p)


# -- resampling -------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize(
    "scales", [[1.0, 1.0, 2.0, 3.0], [1.0, 1.0, 1.7, 1.2], [1.0, 1.0, 0.5, 0.6]]
)
def test_resizing_before_opset_11_goes_by_position(mode: str, scales: list[float]) -> None:
    x = array(1, 2, 7, 5)
    agree("Resize", [x, np.array(scales, np.float32)], 10, mode=mode)
    if min(scales) >= 1:
        agree("Upsample", [x, np.array(scales, np.float32)], 9, mode=mode)
        agree("Upsample", [x], 7, mode=mode, scales=scales)


TRANSFORMS = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("size", [(14, 15), (3, 2), (7, 9), (1, 1)])
def test_resize_to_sizes(mode: str, transform: str, size: tuple[int, int]) -> None:
    sizes = np.array([1, 2, *size])
    agree(
        "Resize",
        [array(1, 2, 7, 5), None, None, sizes],
        13,
        tolerance=1e-4,
        mode=mode,
        coordinate_transformation_mode=transform,
    )


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_resize_with_antialias(mode: str) -> None:
    agree(
        "Resize",
        [array(1, 2, 9, 11), None, None, np.array([4, 5])],
        18,
        tolerance=1e-4,
        mode=mode,
        antialias=1,
        axes=[2, 3],
    )


def test_resize_crops_regions() -> None:
    roi = np.array([0, 0, 0.1, 0.2, 1, 1, 0.8, 1.3], np.float32)
    agree(
        "Resize",
        [array(1, 2, 7, 5), roi, None, np.array([1, 2, 6, 8])],
        13,
        mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=9.0,
    )


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_resize_keeps_the_aspect_ratio(policy: str) -> None:
    agree(
        "Resize",
        [array(1, 2, 7, 5), None, None, np.array([10, 9])],
        18,
        tolerance=1e-4,
        mode="linear",
        axes=[2, 3],
        keep_aspect_ratio_policy=policy,
    )


def test_resizing_that_makes_no_sense_is_refused() -> None:
    x, sizes, scales = array(1, 2, 4), np.array([1, 2, 8]), np.array([1, 2, 0.5], np.float32)
    refused("has neither scales nor sizes", "Resize", [x], 13)
    refused("has 2 sizes, must have 3", "Resize", [x, None, None, sizes[:2]], 13)
    refused("must name each axis once", "Resize", [x, None, None, sizes[:2]], 18, axes=[2, -1])
    given = {"keep_aspect_ratio_policy": "bend"}
    refused("has keep_aspect_ratio_policy 'bend'", "Resize", [x, None, None, sizes], 18, **given)
    crop = {"coordinate_transformation_mode": "tf_crop_and_resize"}
    refused("has 0 entries in roi, must have 6", "Resize", [x, None, None, sizes], 13, **crop)
    refused("must all be at most 1 or all at least 1", "Resize", [x, scales], 10)
    refused("has 2 scales, input has rank 3", "Resize", [x, scales[:2]], 10)


@pytest.mark.parametrize("opset", [16, 20])
def test_grid_sample_has_other_names_of_modes_since_opset_20(opset: int) -> None:
    grid = RNG.uniform(-1.5, 1.5, (2, 3, 4, 2)).astype(np.float32)
    modes = ["bilinear", "bicubic"] if opset == 16 else ["linear", "cubic"]
    for mode in modes:
        agree("GridSample", [array(2, 3, 5, 6), grid], opset, tolerance=1e-4, mode=mode)


# -- recurrence -------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize(("op", "gates", "states"), [("RNN", 1, 1), ("GRU", 3, 1), ("LSTM", 4, 2)])
def test_recurrent_layers(op: str, gates: int, states: int, direction: str) -> None:
    count = 2 if direction == "bidirectional" else 1
    operands = [
        array(5, 3, 4),
        array(count, gates * 6, 4, seed=1),
        array(count, gates * 6, 6, seed=2),
        array(count, 2 * gates * 6, seed=3),
        np.array([5, 2, 4], np.int32),
        *(array(count, 3, 6, seed=4 + i) for i in range(states)),
    ]
    given = {"hidden_size": 6, "direction": direction}
    agree(op, operands, 7, 1 + states, tolerance=1e-4, **given)
    agree(op, operands[:3], 14, 1 + states, tolerance=1e-4, **given, clip=0.5)
    if op == "GRU":
        agree(op, operands, 14, 2, tolerance=1e-4, **given, linear_before_reset=1)
    if op == "LSTM":
        peepholes = array(count, 18, seed=9)
        agree(op, [*operands, peepholes], 14, 3, tolerance=1e-4, **given)
        agree(op, operands, 14, 3, tolerance=1e-4, **given, input_forget=1)


def test_recurrent_layers_with_other_activations() -> None:
    operands = [array(5, 3, 4), array(1, 24, 4, seed=1), array(1, 24, 6, seed=2)]
    agree(
        "LSTM",
        operands,
        14,
        3,
        tolerance=1e-4,
        hidden_size=6,
        activations=["HardSigmoid", "Affine", "LeakyRelu"],
        activation_alpha=[0.3, 0.5, 0.2],
        activation_beta=[0.4, 0.1],
    )


# -- attention --------------------------------------------------------------------------------

Q, K, V = array(2, 4, 5, 8), array(2, 2, 5, 8, seed=1), array(2, 2, 5, 8, seed=2)
PAST = [array(2, 2, 3, 8, seed=3), array(2, 2, 3, 8, seed=4)]


def attention(q: Any, k: Any, v: Any, mask: Any) -> Any:
    """Compute attention plainly: the heads of keys and values are repeated."""
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]) + mask
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True) @ v


def banned(seen: Any) -> Any:
    return np.where(seen, 0, -np.inf)


AHEAD = np.arange(8) - (3 + np.arange(5))[:, None]


@pytest.mark.parametrize(
    ("attributes", "seen"),
    [
        ({}, AHEAD < 99),
        ({"is_causal": 1}, AHEAD <= 0),
        ({"left_window_size": 2}, AHEAD >= -2),
        ({"left_window_size": 2, "right_window_size": 1}, (AHEAD >= -2) & (AHEAD <= 1)),
        ({"left_window_size": 1, "is_causal": 1}, (AHEAD >= -1) & (AHEAD <= 0)),
    ],
)
@pytest.mark.parametrize("mask", ["none", "added", "kept"])
def test_attention_sees_the_past_and_its_window(attributes: Any, seen: Any, mask: str) -> None:
    kept = (RNG.random((2, 1, 5, 8)) > 0.3) | (AHEAD == 0)  # every query sees something
    masks = {"none": None, "added": array(5, 8, seed=7), "kept": kept}
    given = masks[mask]
    got, keys, values = reference("Attention", [Q, K, V, given, *PAST], 25, 3, **attributes)
    added = 0 if given is None else banned(given) if given.dtype == bool else given
    all_keys, all_values = (np.concatenate(pair, 2) for pair in zip(PAST, (K, V), strict=True))
    np.testing.assert_array_equal(keys, all_keys)
    np.testing.assert_array_equal(values, all_values)
    want = attention(Q, all_keys, all_values, banned(seen) + added)
    np.testing.assert_allclose(got, want, 1e-5, 1e-5)


def test_attention_of_packed_heads() -> None:
    def packed(x: Any) -> Any:
        return x.transpose(0, 2, 1, 3).reshape(2, 5, -1)

    given = {"q_num_heads": 4, "kv_num_heads": 2, "is_causal": 1}
    (got,) = reference("Attention", [packed(Q), packed(K), packed(V)], 23, **given)
    want = packed(attention(Q, K, V, banned(np.tri(5, dtype=bool))))
    np.testing.assert_allclose(got, want, 1e-5, 1e-5)
    refused("has 3 heads for an input", "Attention", [packed(Q)] * 3, 23, q_num_heads=3)


def test_linear_attention_names_what_it_lacks() -> None:
    operands = [array(1, 2, 8)] * 3
    heads = {"q_num_heads": 2, "kv_num_heads": 2}
    refused("has no decay, which", "LinearAttention", operands, 27, 2, **heads)
    given = heads | {"update_rule": "delta"}
    refused("has no beta, which", "LinearAttention", operands, 27, 2, **given)
    given = heads | {"update_rule": "best"}
    refused("has update_rule 'best', must be", "LinearAttention", operands, 27, 2, **given)


# -- quantised numbers ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
def test_quantize_linear_of_all_axes(dtype: Any) -> None:
    x = array(2, 3, 4) * 90
    zero = np.array([3, 5, 7], dtype)
    scale = np.array([0.5, 0.25, 2.0], np.float32)
    agree("QuantizeLinear", [x, scale[0], zero[0]], 21)
    agree("QuantizeLinear", [x, scale, zero], 21, axis=-2)
    agree("DequantizeLinear", [(x * 2).astype(dtype), scale, zero], 21, axis=1)


def test_quantize_linear_of_blocks() -> None:
    x, scale = array(2, 5, 3) * 90, np.abs(array(2, 2, 3, seed=1)) + 0.1
    zero = RNG.integers(0, 9, (2, 2, 3)).astype(np.uint8)
    agree("QuantizeLinear", [x, scale, zero], 21, axis=1, block_size=3)
    agree("DequantizeLinear", [x.astype(np.uint8), scale, zero], 21, axis=1, block_size=3)


def test_quantize_linear_rounds_ties_to_even_and_saturates() -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, 300, -300], np.float32)
    agree("QuantizeLinear", [x, np.float32(1), np.int8(1)], 13)


def test_dequantize_linear_of_wide_sums() -> None:
    agree("DequantizeLinear", [np.array([1 << 30, -5], np.int32), np.float32(0.5)], 13)


def test_integer_products() -> None:
    a, b = (RNG.integers(0, 255, s).astype(np.uint8) for s in ((2, 3, 4), (4, 5)))
    agree("MatMulInteger", [a, b], 10)
    agree("MatMulInteger", [a, b, np.uint8(7), RNG.integers(0, 9, 5).astype(np.uint8)], 10)
    x, w = (RNG.integers(0, 255, s).astype(np.uint8) for s in ((1, 4, 6, 5), (6, 2, 3, 3)))
    agree("ConvInteger", [x, w, np.uint8(7), np.uint8(9)], 10, group=2, pads=[1, 0, 1, 2])


def test_quantised_products() -> None:
    x, w = (RNG.integers(0, 255, s).astype(np.uint8) for s in ((1, 4, 6, 5), (6, 4, 3, 3)))
    scales = (np.abs(array(6, seed=1)) + 0.1) / 64
    zeros = np.full(6, 128, np.uint8)
    bias = RNG.integers(-999, 999, 6).astype(np.int32)
    first, result = [np.float32(0.02), np.uint8(120)], [np.float32(0.5), np.uint8(100)]
    agree("QLinearConv", [x, *first, w, scales, zeros, *result, bias], 10, tolerance=1)
    a, b = (RNG.integers(0, 255, s).astype(np.uint8) for s in ((2, 3, 4), (4, 5)))
    operands = [a, *first, b, np.float32(0.03), np.uint8(90), *result]
    agree("QLinearMatMul", operands, 10)


def test_quantised_numbers_that_do_not_fit_are_refused() -> None:
    x, scale = array(2, 3), np.ones(4, np.float32)
    wanted = "has a scale or zero point tensor<4xf32> for axis 1"
    refused(wanted, "QuantizeLinear", [x, scale], 13)
    wanted = "has a scale or zero point tensor<4xf32> for blocks of 2"
    refused(wanted, "QuantizeLinear", [x, scale], 21, block_size=2)
    wanted = "quantises to i32, must be an integer of at most 16 bits"
    refused(wanted, "QuantizeLinear", [x, scale[0], np.int32(0)], 10)
    given = {"output_dtype": 3}
    wanted = "has output_dtype i8 and a zero point of ui8, must be the same"
    refused(wanted, "QuantizeLinear", [x, scale[0], np.uint8(0)], 21, **given)


# -- regions and boxes ------------------------------------------------------------------------

ROIS = np.array([[1, 2, 9, 12], [0, 0, 3, 3], [4, 5, 4.2, 5.1], [-3, -2, 20, 22]], np.float32)
IMAGES = np.array([0, 1, 1, 0])


@pytest.mark.parametrize("opset", [10, 16])
@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("ratio", [0, 2])
def test_roi_align(opset: int, mode: str, ratio: int) -> None:
    agree(
        "RoiAlign",
        [array(2, 3, 8, 9), ROIS, IMAGES],
        opset,
        tolerance=1e-4,
        mode=mode,
        output_height=3,
        output_width=2,
        sampling_ratio=ratio,
        spatial_scale=0.5,
    )


def test_max_roi_pool() -> None:
    rois = np.concatenate([IMAGES[:, None].astype(np.float32), ROIS], axis=1)
    given = {"pooled_shape": [3, 2], "spatial_scale": 0.5}
    agree("MaxRoiPool", [array(2, 3, 8, 9), rois], 11, **given)


@pytest.mark.parametrize("centered", [0, 1])
@pytest.mark.parametrize("count", [2, 100])
def test_non_max_suppression(centered: int, count: int) -> None:
    boxes = RNG.uniform(0, 1, (2, 20, 4)).astype(np.float32)
    scores = RNG.uniform(0, 1, (2, 3, 20)).astype(np.float32)
    limits = [np.array([count]), np.array([0.3], np.float32), np.array([0.2], np.float32)]
    agree("NonMaxSuppression", [boxes, scores, *limits], 11, center_point_box=centered)


def test_max_unpool_puts_maxima_back() -> None:
    values, places = array(1, 1, 2, 2), np.array([[[[5, 7], [13, 15]]]])
    given = {"kernel_shape": [2, 2], "strides": [2, 2]}
    agree("MaxUnpool", [values, places], 11, **given)


def test_affine_grid_of_one_pixel() -> None:
    for align in (0, 1):
        (got,) = reference(
            "AffineGrid", [array(1, 2, 3), np.array([1, 1, 1, 1])], 20, align_corners=align
        )
        np.testing.assert_allclose(got[0, 0, 0], array(1, 2, 3)[0, :, 2], 1e-6)
