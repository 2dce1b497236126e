"""IR in files: what of a model it keeps, and what is wrong with files that do not fit."""

from pathlib import Path

import ml_dtypes
import numpy as np
import onnx.parser
import pytest
import trivium
from onnx.numpy_helper import from_array
from trivium.compiler.export import export
from trivium.compiler.ir_files import load_ir, save_ir
from trivium.dialects import tri
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.runtime.cpu.part import CpuPart

NUMBERS = np.random.default_rng(0).normal(size=(40, 20)).astype(np.float32)
X = np.random.default_rng(1).normal(size=(3, 40)).astype(np.float32)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A layer with a batch size that is symbolic, and a weight that is too large for the IR."""
    made = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
    layer (float[N, 40] x) => (float[N, 20] y) <float[1] w = {0}> {
        [product] p = MatMul (x, w)
        [clip] y = Relu (p)
    }""")
    made.graph.initializer[0].CopyFrom(from_array(NUMBERS, "w"))
    onnx.save(made, str(tmp_path / "m.onnx"))
    return tmp_path / "m.onnx"


@pytest.fixture
def text(model: Path) -> Path:
    export(model, model.with_suffix(".mlir"), shapes={"N": 3})
    return model.with_suffix(".mlir")


@pytest.mark.parametrize("suffix", [".mlir", ".mlirbc"])
def test_exported_ir_compiles_to_the_model(suffix: str, model: Path) -> None:
    export(model, model.with_suffix(suffix), shapes={"N": 3})
    package = trivium.build(model.with_suffix(suffix))
    y = trivium.Session(package).run({"x": X})["y"]
    assert np.allclose(y, np.maximum(X @ NUMBERS, 0), atol=1e-5)
    (kernel,) = package.manifest.part(CpuPart).kernels
    assert kernel.nodes == ("product", "clip")


def test_weights_are_beside_the_ir(text: Path) -> None:
    with np.load(text.with_name("m.weights.npz")) as weights:
        assert {name: weights[name].tobytes() for name in weights} == {"w": NUMBERS.tobytes()}
    assert "dense" not in text.read_text()


def test_equal_models_make_equal_files(text: Path, model: Path) -> None:
    weights = text.with_name("m.weights.npz")
    first = text.read_bytes(), weights.read_bytes()
    export(model, text, shapes={"N": 3})
    assert (text.read_bytes(), weights.read_bytes()) == first


def test_the_ir_of_a_package_compiles_again(model: Path) -> None:
    package, text = model.with_suffix(".trv"), model.with_name("placed.mlir")
    trivium.compile(model, shapes={"N": 3}).save(package)
    export(package, text)
    assert "cpu.packed_mat_mul" in text.read_text()
    y = trivium.compile(text).run({"x": X})["y"]
    assert np.array_equal(y, trivium.load(package).run({"x": X})["y"])


def test_ir_is_exported_to_onnx_with_its_weights(text: Path) -> None:
    export(text, text.with_name("again.onnx"))
    y = trivium.compile(text.with_name("again.onnx")).run({"x": X})["y"]
    assert np.allclose(y, np.maximum(X @ NUMBERS, 0), atol=1e-5)


def test_types_that_numpy_does_not_name_keep_their_bits(tmp_path: Path) -> None:
    weight = NUMBERS.astype(ml_dtypes.bfloat16)
    with new_context():
        module = Module(ir.Module.parse("func.func @f() { return }"), {})
        block = module.main.regions[0].blocks[0]
        with ir.InsertionPoint.at_block_begin(block), ir.Location.unknown():
            tri.build_constant(module, weight, "w")
        save_ir(module, tmp_path / "m.mlir")
        (again,) = load_ir(tmp_path / "m.mlir").weights.values()
    assert again.dtype == weight.dtype
    assert again.tobytes() == weight.tobytes()


def test_missing_weights_are_named_with_the_file_that_must_have_them(text: Path) -> None:
    text.with_name("m.weights.npz").unlink()
    with pytest.raises(CompileError) as raised:
        trivium.compile(text)
    fault, advice = str(raised.value).splitlines()
    beside = text.with_name("m.weights.npz")
    assert fault == f"w: error: 'tri.weight' op has no array, must have 'w' in '{beside}'"
    assert advice.startswith("error: write the IR with its weights: trivium export")


@pytest.mark.parametrize(
    ("array", "found"),
    [
        (NUMBERS.T, "float32 of shape (20, 40)"),
        (NUMBERS.astype(np.float64), "float64 of shape (40, 20)"),
    ],
)
def test_weights_of_another_type_are_refused(array: np.ndarray, found: str, text: Path) -> None:
    np.savez(text.with_name("m.weights.npz"), w=array)
    with pytest.raises(CompileError) as raised:
        trivium.compile(text)
    assert f"'tri.weight' op has {found} in " in str(raised.value)
    assert "must be float32 of shape (40, 20)" in str(raised.value)


def test_a_damaged_file_of_weights_is_refused(text: Path) -> None:
    text.with_name("m.weights.npz").write_bytes(b"PK\3\4 and more")
    with pytest.raises(CompileError, match=r"m.weights.npz: error: is not an .npz file of arrays"):
        trivium.compile(text)


def test_sizes_for_ir_are_refused(text: Path) -> None:
    with pytest.raises(CompileError, match=r"m.mlir' is IR: its shapes are static"):
        trivium.compile(text, shapes={"N": 3})


@pytest.mark.parametrize("count", [0, 2])
def test_a_model_is_one_function(count: int, tmp_path: Path) -> None:
    functions = [f"func.func @f{number}() {{ return }}" for number in range(count)]
    (tmp_path / "m.mlir").write_text("\n".join(functions))
    with pytest.raises(CompileError, match=rf"m.mlir: error: has {count} functions, must have 1"):
        trivium.compile(tmp_path / "m.mlir")


def test_ops_that_no_target_would_run_are_refused(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(
        """func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = arith.addf %x, %x : tensor<2xf32>
          return %0 : tensor<2xf32>
        }"""
    )
    with pytest.raises(CompileError, match=r":2:\d+: error: 'arith.addf' op is not of Trivium"):
        trivium.compile(tmp_path / "m.mlir")


def test_hooks_see_the_passes_of_a_compilation(text: Path, tmp_path: Path) -> None:
    from trivium.passes.instrumentation import WriteIr

    trivium.compile(text, hooks=[WriteIr(tmp_path / "ir")])
    (placed,) = (tmp_path / "ir").glob("*[0-9]-place.mlir")
    assert 'target = "cpu"' in placed.read_text()
