"""The IR of a package is checked before it is compiled: it may have been altered."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import trivium
from trivium.compiler import packaged
from trivium.compiler.driver import build
from trivium.compiler.rebuild import rebuild
from trivium.compiler.stages import pipeline_for
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.op import OPS
from trivium.passes.pipeline import Instrumentation, Stage
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.targets.options import CompileOptions

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

MUTANTS = 60


def network() -> onnx.ModelProto:
    rng = np.random.default_rng(0)
    shapes = {"w": (8, 4, 3, 3), "m": (8, 40)}
    weights = {n: rng.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"], "relu"),
        helper.make_node("GlobalAveragePool", ["b"], ["c"], "pool"),
        helper.make_node("Flatten", ["c"], ["d"], "flat"),
        helper.make_node("MatMul", ["d", "m"], ["e"], "product"),
        helper.make_node("Softmax", ["e"], ["y"], "softmax"),
        helper.make_node("TopK", ["y", "k"], ["t", "i"], "topk"),
    ]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 6, 6])],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 40]),
            helper.make_tensor_value_info("t", TensorProto.FLOAT, [1, 3]),
        ],
        [
            *(numpy_helper.from_array(array, name) for name, array in weights.items()),
            numpy_helper.from_array(np.array([3]), "k"),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(scope="module")
def package() -> Package:
    return build(network())


@pytest.fixture(scope="module")
def text(package: Package) -> str:
    with new_context():
        module = ir.Module.parse(bytes(package.entries["module.mlirbc"]))
        return module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the IR of a package be text, which no child process reads."""
    monkeypatch.setattr(packaged, "read_bytecode", lambda data, file: data.decode())


def altered(package: Package, ir_: bytes) -> Package:
    """Return a package with other IR, and the checksum of that."""
    return Package.create(package.manifest, {**package.entries, "module.mlirbc": ir_})


def compile_again(package: Package) -> Package:
    return rebuild(package, CompileOptions(machine="x86-64-v3"))


def test_ir_as_it_was_packaged_computes_the_same(package: Package) -> None:
    x = np.random.default_rng(1).standard_normal((1, 4, 6, 6)).astype(np.float32)
    again = Session(rebuild(package, CompileOptions())).run({"x": x})
    for name, array in Session(package).run({"x": x}).items():
        np.testing.assert_array_equal(again[name], array)


class Passes(Instrumentation):
    def __init__(self) -> None:
        self.names: list[str] = []

    def after(self, stage: Stage, module: Module) -> None:
        self.names.append(stage.name)


def test_a_package_comes_in_behind_all_passes_on_models(tmp_path: Path) -> None:
    of_model, of_package = Passes(), Passes()
    package = build(network(), hooks=[of_model])
    package.save(tmp_path / "network.trv")
    again = build(str(tmp_path / "network.trv"), hooks=[of_package])
    assert {"fuse-epilogues", "partition", "place", "pack-weights"} <= set(of_model.names)
    assert not {*of_package.names} & {stage.name for stage in pipeline_for("cpu", 2).stages()}
    x = np.ones((1, 4, 6, 6), np.float32)
    expected = Session(package).run({"x": x})
    for name, array in Session(again).run({"x": x}).items():
        np.testing.assert_array_equal(array, expected[name])


def test_options_that_a_package_keeps_are_refused(package: Package) -> None:
    message = (
        "error: target, opt_level, precision: a package keeps what it was compiled with; "
        "compile the model again for others"
    )
    with pytest.raises(CompileError) as caught:
        build(package, target="host", opt_level=0, precision="fp16")
    assert str(caught.value) == message
    with pytest.raises(CompileError, match="constants: a package keeps"):
        build(package, constants={"x": np.ones((1, 4, 6, 6), np.float32)})
    again = build(package, target="cpu", progress=lambda text: None)
    assert again.manifest == build(package).manifest


def test_damaged_bytecode_is_refused_by_compile(package: Package, tmp_path) -> None:
    altered(package, bytes(package.entries["module.mlirbc"])[:-100]).save(tmp_path / "x.trv")
    with pytest.raises(CompileError, match=r"^module.mlirbc: error: is not MLIR bytecode: [^\n]*$"):
        trivium.compile(tmp_path / "x.trv")


FUNCTION = r"""  func.func private @other() -> ()
"""


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        (r"trivium.offset = \d+", "trivium.offset = 1000000", "bytes at offset 1000000"),
        (r"trivium.offset = \d+", "trivium.offset = -64", "bytes at offset -64"),
        (r"trivium.offset = \d+ : i64", 'trivium.offset = "0"', "'trivium.offset' is \"0\""),
        (r"trivium.offset = \d+ : i64, ", "", "lacks attribute 'trivium.offset'"),
        (r'target = "cpu"', 'target = "gpu"', "is placed on 'gpu', must be on cpu or host"),
        (r'target = "cpu"', 'target = "host"', "is not for 'host': host"),
        (r'trivium.inputs = \["x"\]', 'trivium.inputs = ["z"]', "its inputs are"),
        (r'trivium.inputs = \["x"\]', 'trivium.inputs = ["x", "z"]', "names 2 inputs"),
        (r'trivium.inputs = \["x"\]', "trivium.inputs = [1]", "must be an array of strings"),
        (r"(?s)(.*)(\}\) : \(\) -> \(\) loc)", rf"\1{FUNCTION}\2", "has 2 functions and 2 ops"),
        (r"(?s).*", "module {}", "has 0 functions and 0 ops"),
        (r'.*"func.return".*\n', "", "ends in '"),
        (r'"tri.relu"', '"tri.unknown"', "is of no dialect"),
        (r'"tri.relu"', '"tri.lp_normalize"', "is not for 'cpu': cpu has no kernel for tri.lp_"),
    ],
)
@pytest.mark.usefixtures("in_process")
def test_altered_ir_is_refused_in_one_line(
    package: Package, text: str, pattern: str, replacement: str, message: str
) -> None:
    other, count = re.subn(pattern, replacement, text, count=1)
    assert count == 1
    with pytest.raises(CompileError) as error:
        compile_again(altered(package, other.encode()))
    assert str(error.value).startswith("module.mlirbc: error: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def mutants(text: str, seed: int) -> Iterator[str]:
    """Change numbers, types, attributes, operands, names and lines of IR, one or two at a time."""
    rng = random.Random(seed)
    numbers = ("0", "1", "-1", "3", "64", "4294967296", "9223372036854775807")
    values = (
        *("true", "3 : i64", "0.5 : f64", '"text"', "array<i64>", "[]", "unit", 'loc("x")'),
        "dense<1> : tensor<2xi64>",
    )
    types = ("tensor<1x40xf32>", "tensor<f32>", "tensor<1x4x6x6xi8>", "tensor<0xf64>", "index")
    kinds = (
        (r"(?<=[:,] )-?\d+(?=[,>])|(?<== )\d+(?= : i64)", lambda: rng.choice(numbers)),
        (r"tensor<[^>]*>", lambda: rng.choice(types)),
        (r"(?<== )(array<[^>]*>|-?[\d.]+ : \w+|\"[^\"]*\"|true|false)", lambda: rng.choice(values)),
        (r"%(arg)?\d+(#\d)?", lambda: rng.choice(("%arg0", "%arg1", "%0", "%1", "%2", "%7"))),
        (r'(?<=")(tri|cpu)\.\w+', lambda: rng.choice(sorted(OPS))),
        (r"\w+ = (array<[^>]*>|-?[\d.]+ : \w+|\"[^\"]*\"), ", str),
        (r".*\n", str),
    )
    for _ in range(MUTANTS):
        mutant = text
        for _ in range(rng.randint(1, 2)):
            pattern, make = rng.choice(kinds)
            found = rng.choice(list(re.finditer(pattern, mutant)))
            mutant = mutant[: found.start()] + make() + mutant[found.end() :]
        yield mutant


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.usefixtures("in_process")
def test_changed_ir_is_compiled_or_refused(package: Package, text: str, seed: int) -> None:
    refused = 0
    for mutant in mutants(text, seed):
        with new_context():
            try:
                ir.Module.parse(mutant)
            except ir.MLIRError:
                continue
        try:
            session = Session(compile_again(altered(package, mutant.encode())))
            session.run({"x": np.zeros((1, 4, 6, 6), np.float32)})
        except CompileError as error:
            if not re.fullmatch(r"module\.mlirbc: error: is not .*", str(error)):
                raise
            refused += 1
    assert refused > 5
