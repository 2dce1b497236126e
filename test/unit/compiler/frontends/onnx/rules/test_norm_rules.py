"""Rules of products, softmax and normalisation against ONNX Runtime, beyond ONNX's own cases."""

import numpy as np
import pytest
from trivium.test.unit.compiler.frontends.onnx.graphs import array
from trivium.test.unit.compiler.frontends.onnx.single_node import agree, reference, refused

pytest.importorskip("onnxruntime")


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
