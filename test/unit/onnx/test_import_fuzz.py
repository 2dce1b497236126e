"""Mutated ONNX files: a clear error or a valid module, never anything else."""

import random
from collections.abc import Iterator

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from trivium.compiler.frontends.onnx import import_onnx  # noqa: E402


def model() -> bytes:
    rng = np.random.default_rng(0)

    def weight(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Reshape", ["r", "flat"], ["f"]),
        helper.make_node("Gemm", ["f", "g"], ["l"], transB=1),
        helper.make_node("Softmax", ["l"], ["s"], axis=-1),
        helper.make_node("Concat", ["s", "s"], ["d"], axis=1),
        helper.make_node("Slice", ["d", "from", "to"], ["y"]),
    ]
    constants = [
        weight("w", 2, 3, 3, 3),
        weight("b", 2),
        weight("g", 3, 2 * 4 * 4),
        numpy_helper.from_array(np.array([0, -1]), "flat"),
        numpy_helper.from_array(np.array([0, 0]), "from"),
        numpy_helper.from_array(np.array([1, 5]), "to"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 4, 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5])
    graph = helper.make_graph(nodes, "g", [x], [y], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


def mutations(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Flip, cut, insert and replace bytes, a few at a time."""
    rng = random.Random(seed)
    for _ in range(count):
        mutant = bytearray(data)
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            at = rng.randrange(len(mutant))
            size = rng.choice([1, 2, 8])
            match rng.randrange(5):
                case 0:
                    mutant[at] ^= 1 << rng.randrange(8)
                case 1:
                    mutant[at] = rng.randrange(256)
                case 2:
                    del mutant[at : at + size]
                case 3:
                    mutant[at:at] = rng.randbytes(size)
                case _:
                    mutant = mutant[: max(1, at)] if rng.random() < 0.2 else mutant
        yield bytes(mutant)


def test_the_model_itself_imports() -> None:
    with new_context():
        import_onnx(model(), shapes={"N": 1})


@pytest.mark.parametrize("seed", range(4))
def test_mutated_models_import_or_are_refused(seed: int) -> None:
    outcomes = {True: 0, False: 0}
    for mutant in mutations(model(), seed, 600):
        try:
            with new_context():
                import_onnx(mutant, shapes={"N": 1}).verify()
            outcomes[True] += 1
        except CompileError:
            outcomes[False] += 1
    assert outcomes[True] > 50
    assert outcomes[False] > 50
