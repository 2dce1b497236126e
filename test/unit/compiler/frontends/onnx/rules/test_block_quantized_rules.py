"""Matrices and tables of few bits with scales of blocks, against ONNX Runtime."""

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from onnx import helper, numpy_helper
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.tensor import Array

RANDOM = np.random.default_rng(5)
UNSEEN = ("B", "S", "Z", "bias", "data", "g")
"""Inputs that are constants of the model."""


def drawn(most: int, *shape: int) -> Array:
    return RANDOM.integers(0, most, shape).astype(np.uint8)


def one_node(
    op: str, inputs: dict[str, Array | None], constants: tuple[str, ...] = UNSEEN, **given: Any
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """Return a model of one node, and what it is fed with."""
    present = {name: array for name, array in inputs.items() if array is not None}
    names = [name if name in present else "" for name in inputs]
    while not names[-1]:
        names.pop()
    node = helper.make_node(op, names, ["y"], name="n", domain="com.microsoft", **given)
    feeds = {name: array for name, array in present.items() if name not in constants}
    ports = [helper.make_tensor_value_info(n, _type(a), a.shape) for n, a in feeds.items()]
    held = [numpy_helper.from_array(present[n], n) for n in present if n not in feeds]
    graph = helper.make_graph([node], "g", ports, [onnx.ValueInfoProto(name="y")], held)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), feeds


def _type(array: Array) -> int:
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def judged(model: onnx.ModelProto, feeds: dict[str, Array]) -> Array:
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]


def product(
    rows: tuple[int, ...],
    depth: int,
    columns: int,
    bits: int = 4,
    block: int = 32,
    zeros: str = "",
    bias: bool = False,
    dtype: str = "float32",
    level: int = 0,
    **more: Any,
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    blocks = -(-depth // block)
    packed = drawn(256, columns, -(-blocks * bits // 8))
    real = RANDOM.uniform(0, 1 << bits, (columns, blocks)).astype(dtype)
    inputs = {
        "A": RANDOM.normal(size=(*rows, depth)).astype(dtype),
        "B": drawn(256, columns, blocks, block * bits // 8),
        "S": RANDOM.uniform(0.01, 0.05, (columns, blocks)).astype(dtype),
        "Z": {"": None, "packed": packed, "float": real}[zeros],
        "g": None,
        "bias": RANDOM.normal(size=columns).astype(dtype) if bias else None,
    }
    sizes = {"K": depth, "N": columns, "bits": bits, "block_size": block}
    return one_node("MatMulNBits", inputs, accuracy_level=level, **sizes, **more)


def agree(model: onnx.ModelProto, feeds: dict[str, Array], within: float = 2e-6) -> None:
    """Compare outputs; the tolerance is relative to the largest one."""
    wanted = judged(model, feeds)
    for target, level in (("cpu", 2), ("cpu", 0), ("host", 2)):
        got = trivium.compile(model, target=target, opt_level=level).run(feeds)["y"]
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        error = np.abs(got.astype(np.float64) - wanted).max()
        assert error <= within * np.abs(wanted.astype(np.float64)).max()


@pytest.mark.parametrize(
    ("bits", "block", "zeros"),
    [
        (4, 32, ""),
        (4, 16, "packed"),
        (4, 128, "packed"),
        (4, 32, "float"),
        (2, 16, ""),
        (2, 32, "packed"),
        (2, 64, "float"),
        (8, 32, ""),
        (8, 16, "packed"),
    ],
)
@pytest.mark.parametrize(
    ("rows", "depth", "columns"), [((1,), 100, 33), ((2, 3), 96, 17), ((40,), 208, 70)]
)
def test_products(
    bits: int, block: int, zeros: str, rows: tuple[int, ...], depth: int, columns: int
) -> None:
    agree(*product(rows, depth, columns, bits, block, zeros, bias=depth == 96))


def test_products_of_halves() -> None:
    agree(*product((3,), 70, 17, zeros="packed", dtype="float16"), within=1e-3)


@pytest.mark.parametrize(
    ("bits", "block", "zeros"),
    [
        (4, 32, ""),
        (4, 16, "packed"),
        (4, 128, "packed"),
        (4, 32, "float"),  # exact, as ONNX Runtime takes it
        (2, 16, ""),  # exact as well
        (2, 32, "packed"),
        (2, 128, ""),
        (8, 32, "packed"),
        (8, 64, ""),
    ],
)
@pytest.mark.parametrize(("rows", "depth"), [((1,), 96), ((3,), 300), ((2, 4), 100)])
def test_level_4_rounds_activations(
    bits: int, block: int, zeros: str, rows: tuple[int, ...], depth: int
) -> None:
    agree(*product(rows, depth, 33, bits, block, zeros, level=4))


def test_level_4_with_many_rows() -> None:
    agree(*product((128,), 300, 70, zeros="packed", level=4, bias=True))


def exact_twin(rough: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model with level 0 instead of 4."""
    exact = onnx.ModelProto.FromString(rough.SerializeToString())
    (level,) = [a for a in exact.graph.node[0].attribute if a.name == "accuracy_level"]
    level.i = 0
    return exact


def test_the_user_may_round_or_not() -> None:
    """A level is the least that is asked for; what is rounded is far from what is exact."""
    rough, feeds = product((3,), 256, 40, zeros="packed", level=4)
    exact = exact_twin(rough)
    wanted, want = judged(rough, feeds), judged(exact, feeds)
    within = 2e-6 * np.abs(want).max()
    assert np.abs(wanted - want).max() > 100 * within
    for model, activations, expected in (
        (rough, "exact", want),
        (exact, "i8", wanted),
        (exact, "model", want),
        (rough, "model", wanted),
    ):
        for target in ("cpu", "host"):
            got = trivium.compile(model, activations=activations, target=target).run(feeds)["y"]
            assert np.abs(got - expected).max() <= within


def test_weights_that_a_run_gives_are_multiplied_exactly() -> None:
    """ONNX Runtime rounds activations only where weights are constants."""
    inputs = {
        "A": RANDOM.normal(size=(3, 70)).astype(np.float32),
        "B": drawn(256, 20, 3, 16),
        "S": RANDOM.uniform(0.01, 0.05, (20, 3)).astype(np.float32),
    }
    sizes = {"K": 70, "N": 20, "bits": 4, "block_size": 32, "accuracy_level": 4}
    agree(*one_node("MatMulNBits", inputs, (), **sizes))


@pytest.mark.parametrize(
    ("zeros", "level"), [("", 0), ("packed", 0), ("float", 0), ("", 4), ("packed", 4)]
)
def test_a_row_has_the_same_bits_alone_and_among_others(zeros: str, level: int) -> None:
    model, feeds = product((60,), 200, 70, zeros=zeros, level=level)
    many = trivium.compile(model, threads=2).run(feeds)["y"]
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    alone = trivium.compile(model, threads=1).run({"A": feeds["A"][41:42]})["y"]
    np.testing.assert_array_equal(alone[0], many[41])


def test_weights_that_a_run_gives() -> None:
    depth, columns = 70, 20
    inputs = {
        "A": RANDOM.normal(size=(3, depth)).astype(np.float32),
        "B": drawn(256, columns, 3, 16),
        "S": RANDOM.uniform(0.01, 0.05, (columns, 3)).astype(np.float32),
        "Z": drawn(256, columns, 2),
    }
    agree(*one_node("MatMulNBits", inputs, (), K=depth, N=columns, bits=4, block_size=32))


def test_flat_scales_of_older_files() -> None:
    model, feeds = product((3,), 70, 17, zeros="packed")
    wanted = judged(model, feeds)
    for tensor in model.graph.initializer:
        if tensor.name in ("S", "Z"):
            tensor.dims[:] = [int(np.prod(tensor.dims))]
    got = trivium.compile(model).run(feeds)["y"]
    np.testing.assert_allclose(got, wanted, atol=2e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("level", [0, 4])
def test_rows_that_a_run_decides(level: int) -> None:
    model, _ = product((4,), 96, 33, zeros="packed", level=level)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "M"
    session = trivium.compile(model, shapes={"M": trivium.Range(1, 64)})
    x = RANDOM.normal(size=(64, 96)).astype(np.float32)
    many = session.run({"A": x})["y"]
    for rows in (1, 5, 8, 37):
        wanted, got = judged(model, {"A": x[:rows]}), session.run({"A": x[:rows]})["y"]
        np.testing.assert_allclose(got, wanted, atol=2e-6 * np.abs(wanted).max())
        np.testing.assert_array_equal(got, many[:rows])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bits": 3}, "has weights of 3 bits, must be of 2, 4, 8"),
        ({"level": 5}, "has accuracy_level 5, must be 0 to 4"),
        ({"weight_prepacked": 1}, "has weight_prepacked 1, the layout of one machine"),
        ({"block": 24}, "has blocks of 24, must be a power of two from 16 on"),
    ],
)
def test_what_is_refused(given: dict[str, int], message: str) -> None:
    model, _ = product((3,), 96, 8, **({"bits": 4} | given))
    with pytest.raises(CompileError, match=message):
        trivium.compile(model)


def test_an_order_of_the_depth_is_refused() -> None:
    inputs = {
        "A": np.zeros((3, 64), np.float32),
        "B": drawn(256, 8, 2, 16),
        "S": np.ones((8, 2), np.float32),
        "Z": None,
        "g": np.zeros(64, np.int32),
    }
    model, _ = one_node("MatMulNBits", inputs, K=64, N=8, bits=4, block_size=32)
    with pytest.raises(CompileError, match="has g_idx, an order of the depth"):
        trivium.compile(model)


def test_sizes_that_do_not_fit_are_refused() -> None:
    inputs = {
        "A": np.zeros((3, 60), np.float32),
        "B": drawn(256, 8, 2, 16),
        "S": np.ones((8, 2), np.float32),
    }
    model, _ = one_node("MatMulNBits", inputs, K=64, N=8, bits=4, block_size=32)
    with pytest.raises(CompileError, match="its last axis must have K = 64 elements"):
        trivium.compile(model)
    inputs |= {"A": np.zeros((3, 64), np.float32), "B": drawn(256, 8, 2, 15)}
    model, _ = one_node("MatMulNBits", inputs, K=64, N=8, bits=4, block_size=32)
    with pytest.raises(CompileError, match=r"tensor<8x2x15xui8>, must be \[8, 2, 16\]"):
        trivium.compile(model)


# -- tables ------------------------------------------------------------------------------------


def gather(bits: int, zeros: bool, **more: Any) -> tuple[onnx.ModelProto, dict[str, Array]]:
    rows, width, block = 50, 96, 32
    blocks = width // block
    inputs = {
        "data": drawn(256, rows, width * bits // 8),
        "indices": np.array([[3, 0, 49], [7, 7, -1]], np.int64),
        "S": RANDOM.uniform(0.01, 0.05, (rows, blocks)).astype(np.float32),
        "Z": drawn(256, rows, -(-blocks * bits // 8)) if zeros else None,
    }
    given = {"bits": bits, "block_size": block, "gather_axis": 0, "quantize_axis": 1}
    return one_node("GatherBlockQuantized", inputs, **given | more)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("zeros", [False, True])
def test_rows_of_a_table_in_bytes(bits: int, zeros: bool) -> None:
    agree(*gather(bits, zeros))


@pytest.mark.parametrize("kind", ["int4", "uint4"])
@pytest.mark.parametrize(("axis", "blocked"), [(0, 1), (1, 0), (0, -1), (1, 2)])
@pytest.mark.parametrize("zeros", [False, True])
def test_rows_of_a_table_of_narrow_integers(
    kind: str, axis: int, blocked: int, zeros: bool
) -> None:
    import ml_dtypes

    shape = (32, 64) if blocked in (0, 1, -1) else (3, 6, 64)
    of_scales = [*shape]
    of_scales[blocked] //= 16
    dtype = getattr(ml_dtypes, kind)

    def narrow(*sizes: int) -> Array:
        return RANDOM.integers(*((-8, 8) if kind == "int4" else (0, 16)), sizes).astype(dtype)

    inputs = {
        "data": narrow(*shape),
        "indices": np.array([[1, 0], [2, 2]], np.int32),
        "S": RANDOM.uniform(0.01, 0.05, of_scales).astype(np.float32),
        "Z": narrow(*of_scales) if zeros else None,
    }
    given = {"block_size": 16, "gather_axis": axis, "quantize_axis": blocked}
    agree(*one_node("GatherBlockQuantized", inputs, **given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"quantize_axis": 0}, "takes elements of axis 0, along which blocks are"),
        ({"bits": 3}, "has elements of 3 bits, must be of 2, 4, 8"),
        ({"gather_axis": 1, "quantize_axis": 0}, "has bytes with blocks along axis 0"),
        ({"block_size": 64}, "for blocks of 64"),
    ],
)
def test_tables_that_are_refused(given: dict[str, int], message: str) -> None:
    model, _ = gather(zeros=False, **({"bits": 4} | given))
    with pytest.raises(CompileError, match=message):
        trivium.compile(model)
