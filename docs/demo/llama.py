"""Write a Llama as onnxruntime-genai's builder does, in f32 or with weights of 4 bits."""

import numpy as np
import onnx
from characters import Llama, Sizes, angles_of
from onnx import TensorProto, helper, numpy_helper

BLOCK = 32
"""How many weights of a row share a scale."""


def decoder(model: Llama, longest: int, quantized: bool) -> onnx.ModelProto:
    """Return a decoder: tokens, a mask and caches in; logits and caches out.

    With `quantized`, the matrices of all layers and of the head have 4 bits for each weight.
    """
    return _Writer(model, longest, quantized).write()


class _Writer:
    def __init__(self, model: Llama, longest: int, quantized: bool) -> None:
        self.weights = {name: w.detach().numpy() for name, w in model.state_dict().items()}
        self.sizes, self.longest, self.quantized = model.sizes, longest, quantized
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def write(self) -> onnx.ModelProto:
        self._lengths()
        angles = angles_of(self.sizes, self.longest)
        self._constant("cos", np.cos(angles).astype(np.float32))
        self._constant("sin", np.sin(angles).astype(np.float32))
        table = self._constant("embed", self.weights["embed.weight"])
        x = self._node("Gather", [table, "input_ids"], "embedded")
        for i in range(self.sizes.layers):
            x = self._layer(f"layers.{i}", i, x)
        self._product(self._norm(x, "norm"), "head", "logits")
        return self._model()

    def _layer(self, name: str, i: int, x: str) -> str:
        qkv = self._product(self._norm(x, f"{name}.attention_norm"), f"{name}.qkv")
        past = [f"past_key_values.{i}.key", f"past_key_values.{i}.value"]
        attended = self._node(
            "GroupQueryAttention",
            [qkv, "", "", *past, "seqlens", "total", "cos", "sin"],
            f"{name}.attention",
            f"present.{i}.key",
            f"present.{i}.value",
            domain="com.microsoft",
            num_heads=self.sizes.heads,
            kv_num_heads=self.sizes.shared,
            do_rotary=1,
        )
        x = self._node("Add", [x, self._product(attended, f"{name}.o")], f"{name}.attended")
        normed = self._norm(x, f"{name}.norm")
        gate = self._product(normed, f"{name}.gate")
        activated = self._node(
            "Mul", [gate, self._node("Sigmoid", [gate], f"{gate}.s")], f"{gate}.a"
        )
        product = self._node("Mul", [activated, self._product(normed, f"{name}.up")], f"{name}.m")
        return self._node("Add", [x, self._product(product, f"{name}.down")], f"{name}.y")

    def _lengths(self) -> None:
        """Compute how many rows of the caches are in use, by the mask."""
        one = self._constant("one", np.array([1], np.int64))
        self._node("ReduceSum", ["attention_mask", one], "rows")
        self._node("Sub", ["rows", one], "last")
        self._node("Cast", ["last"], "seqlens", to=TensorProto.INT32)
        self._node("Shape", ["attention_mask"], "mask.shape")
        self._node("Gather", ["mask.shape", self._constant("axis", np.array(1))], "mask.size")
        self._node("Cast", ["mask.size"], "total", to=TensorProto.INT32)

    def _norm(self, x: str, name: str) -> str:
        scale = self._constant(f"{name}.scale", self.weights[f"{name}.weight"])
        op = "SimplifiedLayerNormalization"
        return self._node(op, [x, scale], f"{name}.y", axis=-1, epsilon=1e-6, stash_type=1)

    def _product(self, x: str, name: str, y: str = "") -> str:
        matrix = self.weights[f"{name}.weight"]
        if not self.quantized:
            return self._node(
                "MatMul", [x, self._constant(f"{name}.w", matrix.T)], y or f"{name}.y"
            )
        packed, scales = quantize(matrix)
        inputs = [x, self._constant(f"{name}.w", packed), self._constant(f"{name}.s", scales)]
        rows, depth = matrix.shape
        given = {"K": depth, "N": rows, "bits": 4, "block_size": BLOCK}
        return self._node("MatMulNBits", inputs, y or f"{name}.y", domain="com.microsoft", **given)

    def _constant(self, name: str, array: np.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def _node(self, op: str, inputs: list[str], y: str, *more: str, domain: str = "", **given):
        self.nodes.append(helper.make_node(op, inputs, [y, *more], y, domain=domain, **given))
        return y

    def _model(self) -> onnx.ModelProto:
        kinds = [f"{i}.{kind}" for i in range(self.sizes.layers) for kind in ("key", "value")]
        words = ["batch_size", "sequence_length"]
        inputs = [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, words),
            helper.make_tensor_value_info(
                "attention_mask", TensorProto.INT64, ["batch_size", "total_sequence_length"]
            ),
            *(self._cache(f"past_key_values.{kind}", "past_sequence_length") for kind in kinds),
        ]
        logits = [*words, self.sizes.vocabulary]
        outputs = [
            helper.make_tensor_value_info("logits", TensorProto.FLOAT, logits),
            *(self._cache(f"present.{kind}", "total_sequence_length") for kind in kinds),
        ]
        graph = helper.make_graph(self.nodes, "llama", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def _cache(self, name: str, rows: str) -> onnx.ValueInfoProto:
        sizes: Sizes = self.sizes
        shape = ["batch_size", sizes.shared, rows, sizes.head]
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def quantize(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Round a matrix to 4 bits and a scale for each block of a row, as MatMulNBits stores it.

    The number of the greatest magnitude of a block becomes -8, of -8 to 7. The depth of the matrix
    must be a multiple of the block.
    """
    blocks = matrix.reshape(len(matrix), -1, BLOCK)
    places = np.abs(blocks).argmax(-1)[..., None]
    scales = np.take_along_axis(blocks, places, -1) / -8
    numbers = np.rint(blocks / np.where(scales == 0, 1, scales)).clip(-8, 7).astype(np.int8) + 8
    nibbles = numbers.astype(np.uint8)
    return nibbles[..., ::2] | nibbles[..., 1::2] << 4, scales[..., 0].astype(np.float32)
