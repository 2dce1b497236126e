"""Compare what a network computes by several kinds of math with f64: docs/numerics.md has a table.

python docs/demo/numerics.py MODEL.onnx

MODEL is a network of convolutions such as `networks.py` writes; f64 is computed by PyTorch. The
error of a layer is that of each distinct 3x3 convolution of stride 1 on its own, on what comes to
it in the network. Errors are relative to the largest output.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import torch
import torch.nn.functional as F
import trivium
from onnx import helper, numpy_helper

KINDS: dict[str, dict[str, Any]] = {
    "strict": {"math": "strict"},
    "fast, winograd_error=0": {"winograd_error": 0.0},
    "fast, winograd_error=2e-6 (2x2 tiles)": {"winograd_error": 2e-6},
    "fast (4x4 tiles)": {},
}
RUNS = 9

Tensors = tuple[torch.Tensor, ...]
Attributes = dict[str, Any]
Layer = tuple[onnx.ModelProto, np.ndarray, np.ndarray]


def conv(inputs: Tensors, given: Attributes) -> torch.Tensor:
    pads = given.get("pads", [0])
    stride, group = given.get("strides", [1, 1]), given.get("group", 1)
    return F.conv2d(*inputs, stride=stride, padding=pads[0], groups=group)


def gemm(inputs: Tensors, given: Attributes) -> torch.Tensor:
    x, w, *b = inputs
    return x @ (w.T if given.get("transB") else w) + (b[0] if b else 0)


def max_pool(inputs: Tensors, given: Attributes) -> torch.Tensor:
    return F.max_pool2d(inputs[0], given["kernel_shape"], given["strides"], given["pads"][0])


OPERATORS: dict[str, Callable[[Tensors, Attributes], torch.Tensor]] = {
    "Add": lambda inputs, _: inputs[0] + inputs[1],
    "Clip": lambda inputs, _: torch.clip(*inputs),
    "Conv": conv,
    "Flatten": lambda inputs, _: inputs[0].flatten(1),
    "Gemm": gemm,
    "GlobalAveragePool": lambda inputs, _: inputs[0].mean((2, 3), keepdim=True),
    "MaxPool": max_pool,
    "Relu": lambda inputs, _: inputs[0].relu(),
}


def exact(model: onnx.ModelProto, x: np.ndarray) -> dict[str, torch.Tensor]:
    """Run a network in f64, node by node, and return all values."""
    values = {
        tensor.name: torch.from_numpy(numpy_helper.to_array(tensor).astype(np.float64))
        for tensor in model.graph.initializer
    }
    values[model.graph.input[0].name] = torch.from_numpy(x.astype(np.float64))
    for node in model.graph.node:
        given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        inputs = tuple(values[name] for name in node.input)
        values[node.output[0]] = OPERATORS[node.op_type](inputs, given)
    return values


def relative(y: np.ndarray, want: np.ndarray) -> np.ndarray:
    return np.abs(y - want) / np.abs(want).max()


def layers(model: onnx.ModelProto, values: dict[str, torch.Tensor]) -> list[Layer]:
    """Return one model for each shape of a 3x3 convolution of stride 1, with its input."""
    found: dict[tuple[int, ...], Layer] = {}
    for node in model.graph.node:
        if node.op_type != "Conv":
            continue
        given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        x, w, *_ = (values[name] for name in node.input)
        if w.shape[2:] != (3, 3) or given["strides"] != [1, 1]:
            continue
        rounded = [values[name].numpy().astype(np.float32) for name in node.input]
        ports = [
            helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, values[name].shape)
            for name in (node.input[0], node.output[0])
        ]
        constants = [
            numpy_helper.from_array(array, name)
            for name, array in zip(node.input[1:], rounded[1:], strict=True)
        ]
        graph = helper.make_graph([node], "layer", ports[:1], ports[1:], constants)
        layer = helper.make_model(graph, opset_imports=model.opset_import, ir_version=10)
        want = conv(tuple(torch.from_numpy(array.astype(np.float64)) for array in rounded), given)
        found.setdefault((*w.shape, *x.shape), (layer, rounded[0], want.numpy()))
    return list(found.values())


def layer_error(made: list[Layer], options: dict[str, Any]) -> float:
    """Return the largest error of any layer."""
    errors = [0.0]
    for model, x, want in made:
        (y,) = trivium.compile(model, **options).run({model.graph.input[0].name: x}).values()
        errors.append(float(relative(y, want).max()))
    return max(errors)


def main(path: str) -> None:
    model = onnx.load(path)
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(0).standard_normal(shape, np.float32)
    values = exact(model, x)
    want, made = values[model.graph.output[0].name].numpy(), layers(model, values)
    name = model.graph.input[0].name
    print("| math | largest error | mean error | of a layer | ms |\n|---|---|---|---|---|")
    for kind, options in KINDS.items():
        session = trivium.compile(path, threads=1, **options)
        times: list[float] = []
        for _ in range(RUNS):
            before = time.process_time()
            (y,) = session.run({name: x}).values()
            times.append((time.process_time() - before) * 1000)
        error = relative(y, want)
        errors = f"{error.max():.1e} | {error.mean():.1e} | {layer_error(made, options):.1e}"
        print(f"| {kind} | {errors} | {np.median(times):.1f} |")


if __name__ == "__main__":
    main(sys.argv[1])
