"""What NVDLA is given in other words: large and grouped convolutions, models of other tools."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from small_networks import Net
from test_nvdla_target import interpreted, loadables, one_step
from test_target import computed, reference
from trivium.compiler.check import can_run
from trivium.compiler.driver import build
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.stages import pipeline_for
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.tensor import Array
from trivium.runtime.dla.part import DlaPart
from trivium.targets.dla.nvdla.configuration import find_configuration
from trivium.targets.dla.nvdla.emit.emit_loadables import emit
from trivium.targets.dla.nvdla.format.dla_task import Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.network import ABIS
from trivium.targets.dla.nvdla.format.operations import ConvOperation, ConvSurface
from trivium.targets.dla.nvdla.simulator import run as simulate
from trivium.targets.dla.phases import MEM_ALLOC, TENSOR_SCHED
from trivium.targets.dla.schedule.group_members import groups_of
from trivium.targets.registry import choose_target

SHAPES = {
    "wide rows": ((1, 64, 8, 256), (8, 64, 3, 1), {"pads": [1, 0, 1, 0]}),
    "wide windows": ((1, 512, 3, 90), (9, 512, 3, 2), {"pads": [1, 1, 1, 0], "strides": [1, 2]}),
    "wide line": ((1, 1024, 1, 131), (8, 1024, 1, 3), {"pads": [0, 2, 0, 1], "dilations": [1, 2]}),
    "strided rows": ((1, 48, 41, 61), (40, 48, 5, 3), {"strides": [3, 2], "pads": [2, 0, 1, 1]}),
    "dilated": ((1, 5, 13, 11), (3, 5, 3, 3), {"dilations": [3, 2], "pads": [3, 1, 2, 2]}),
    "depthwise": ((1, 19, 9, 7), (19, 1, 3, 3), {"group": 19, "strides": [2, 1]}),
    "groups of 3": ((1, 12, 6, 6), (20, 3, 3, 3), {"group": 4, "pads": [1, 1, 1, 1]}),
    "groups of atoms": ((1, 64, 5, 5), (96, 32, 1, 1), {"group": 2}),
    "many kernels": ((1, 256, 4, 4), (64, 256, 3, 3), {"pads": [1, 1, 1, 1]}),
    "one pixel": ((1, 3, 1, 1), (1, 3, 1, 1), {}),
    "batch": ((3, 4, 5, 5), (6, 4, 2, 2), {}),
}


def convolution(name: str, file: Path) -> tuple[onnx.ModelProto, Array]:
    """Write a quantised convolution with ReLU; return it and an input."""
    shape, weights, attributes = SHAPES[name]
    net = Net(shape)
    w, b = net.drawn(*weights), net.drawn(weights[0])
    net.quantized(net.op("Relu", net.op("Conv", "x", w, b, **attributes)), file, shape[0] * 4)
    return onnx.load(file), net.inputs(shape[0])


@pytest.mark.parametrize("configuration", ["nv_small", "nv_full"])
@pytest.mark.parametrize("name", SHAPES)
def test_a_convolution_is_one_loadable_within_a_step(
    name: str, configuration: str, tmp_path: Path
) -> None:
    model, x = convolution(name, tmp_path / "q.onnx")
    target = f"nvdla:{configuration}"
    package = build(model, target=target)
    (made,) = loadables(package)
    found = computed(package, [x])
    np.testing.assert_array_equal(found, interpreted(model, target, [x]))
    assert one_step(found, reference(model, [x]))
    limits = find_configuration(configuration)
    for task in dla_tasks(Tables(made)):
        for each in task.operations:
            if isinstance(each.descriptor, ConvOperation):
                assert isinstance(each.surface, ConvSurface)
                # What the vendor's model of nv_small needs for the convolution that follows.
                kernels = each.surface.destination.channels
                assert each.descriptor.bytes_per_kernel * kernels % 128 == 0
                assert each.descriptor.data_banks + each.descriptor.weight_banks <= limits.banks


@pytest.mark.parametrize("name", ["wide rows", "wide windows", "wide line"])
def test_images_are_split_where_cbuf_is_small_alone(name: str, tmp_path: Path) -> None:
    model, _ = convolution(name, tmp_path / "q.onnx")
    counts = {
        name: build(model, target=f"nvdla:{name}").manifest.part(DlaPart).loadables[0].operations
        for name in ("nv_small", "nv_full")
    }
    assert counts["nv_full"] == 2
    assert counts["nv_small"] > 2


@pytest.mark.parametrize("abi", ABIS, ids=str)
def test_every_abi_gives_the_same_bits(abi: tuple[int, int], tmp_path: Path) -> None:
    model, _ = convolution("depthwise", tmp_path / "q.onnx")
    target, configuration = choose_target("nvdla:nv_small"), find_configuration("nv_small")
    with new_context():
        module = import_onnx(model)
        pipeline_for("nvdla:nv_small", 2).run(module)
        target.pipeline().run(module, print, only=(TENSOR_SCHED, MEM_ALLOC))
        (group,) = groups_of(module, "nvdla")
        made = [emit(module, group, configuration, each) for each in (abi, ABIS[-1])]
    image = np.random.default_rng(1).integers(-128, 128, (19, 9, 7)).astype(np.int8)
    read = [Loadable.read(each.write()) for each in made]
    results = [simulate(each, configuration, [image]) for each in read]
    np.testing.assert_array_equal(results[0], results[1])
    assert (len(read[0].address_list) > len(read[1].address_list)) == (abi != ABIS[-1])


def test_a_model_that_onnxruntime_quantised_is_within_a_step(tmp_path: Path) -> None:
    quantization = pytest.importorskip("onnxruntime.quantization")
    random = np.random.default_rng(0)
    arrays = {
        "w": random.normal(size=(8, 3, 3, 3)).astype(np.float32),
        "b": random.normal(size=8).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["s"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["s"], ["y"], "relu"),
    ]
    ports = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, channels, 9, 7])]
        for name, channels in (("x", 3), ("y", 8))
    ]
    weights = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "g", *ports, weights)
    opset = [helper.make_opsetid("", 21)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=10), tmp_path / "f.onnx")
    samples = [{"x": random.normal(size=(1, 3, 9, 7)).astype(np.float32)} for _ in range(8)]

    class Reader(quantization.CalibrationDataReader):
        def __init__(self) -> None:
            self.left = iter(samples)

        def get_next(self) -> dict[str, Array] | None:
            return next(self.left, None)

    quantization.quantize_static(
        str(tmp_path / "f.onnx"),
        str(tmp_path / "q.onnx"),
        Reader(),
        quant_format=quantization.QuantFormat.QDQ,
        activation_type=quantization.QuantType.QInt8,
        weight_type=quantization.QuantType.QInt8,
        per_channel=True,
    )
    model, x = onnx.load(tmp_path / "q.onnx"), samples[0]["x"]
    package = build(model, target="nvdla:nv_small")
    assert len(loadables(package)) == 1
    found = computed(package, [x])
    np.testing.assert_array_equal(found, interpreted(model, "nvdla:nv_small", [x]))
    assert one_step(found, reference(model, [x]))


def table_between(net: Net) -> str:
    return net.conv(net.op("Sigmoid", net.conv("x", 8, 8)), 8, 8, 1)


def pooled_between(net: Net, **window: list[int]) -> str:
    return net.conv(net.op("MaxPool", net.conv("x", 8, 8), **window), 8, 8, 1)


REFUSED: dict[str, Callable[[Net], str]] = {
    "nv_small has no stage Y of SDP": table_between,
    "nv_small convolves with strides of up to 8, not 9": (
        lambda net: net.conv("x", 8, 8, strides=[9, 9])
    ),
    "nv_small pools windows of 8x8 or less, not of (9, 9)": (
        lambda net: pooled_between(net, kernel_shape=[9, 9])
    ),
    "nv_small pools neighbours, not windows with dilations": (
        lambda net: pooled_between(net, kernel_shape=[2, 2], dilations=[2, 2])
    ),
    "nv_small has 131072 bytes of CBUF, too few for a row of windows and 153600 bytes of weights": (
        lambda net: net.conv(net.conv("x", 8, 300), 300, 8, 8)
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_a_configuration_lacks_is_named(sentence: str, tmp_path: Path) -> None:
    net, file = Net((1, 8, 12, 12)), tmp_path / "q.onnx"
    net.quantized(REFUSED[sentence](net), file)
    support = can_run(str(file), target="nvdla:nv_small")
    assert sentence in {reason for node in support for reason in node.refusals}


def test_nv_full_has_the_table_that_nv_small_lacks(tmp_path: Path) -> None:
    net, file = Net((1, 8, 12, 12)), tmp_path / "q.onnx"
    net.quantized(table_between(net), file)
    model, x = onnx.load(file), 3 * net.inputs()
    package = build(model, target="nvdla:nv_full")
    assert package.manifest.part(DlaPart).loadables[0].operations == 5
    assert one_step(computed(package, [x]), reference(model, [x]))


@pytest.mark.parametrize("configuration", ["nv_small", "nv_full"])
@pytest.mark.parametrize(
    ("size", "alpha", "beta"), [(5, 1e-4, 0.75), (3, 0.3, 0.75), (7, 0.9, 0.5)]
)
def test_a_normalisation_of_channels_is_within_a_step(
    size: int, alpha: float, beta: float, configuration: str, tmp_path: Path
) -> None:
    net, file = Net((1, 12, 5, 3)), tmp_path / "q.onnx"
    x = net.op("Relu", net.conv("x", 12, 19))
    x = net.op("LRN", x, size=size, alpha=alpha, beta=beta, bias=1.0)
    net.quantized(net.op("MaxPool", x, kernel_shape=[1, 1]), file)
    model, given = onnx.load(file), net.inputs()
    target = f"nvdla:{configuration}"
    package = build(model, target=target)
    assert [each.operations for each in package.manifest.part(DlaPart).loadables] == [4]
    found = computed(package, [given])
    np.testing.assert_array_equal(found, interpreted(model, target, [given]))
    assert one_step(found, reference(model, [given]))
