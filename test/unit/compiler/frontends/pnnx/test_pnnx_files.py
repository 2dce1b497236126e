import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pnnx_files import LINEAR, WEIGHT, floats, linear, one_operator, write_pair
from pnnx_suite import CASES, needs_suite
from trivium.compiler.frontends.pnnx import read_pnnx, write_pnnx
from trivium.dialects.core.errors import CompileError


@needs_suite
def test_every_file_of_the_suite_is_written_as_it_was(tmp_path: Path):
    param, weights = tmp_path / "model.pnnx.param", tmp_path / "model.pnnx.bin"
    for case in CASES:
        write_pnnx(read_pnnx(case / "model.pnnx.param"), param, weights)
        assert param.read_bytes() == (case / "model.pnnx.param").read_bytes(), case.name
        assert weights.read_bytes() == (case / "model.pnnx.bin").read_bytes(), case.name


@needs_suite
def test_weights_of_the_suite_are_those_that_a_zip_reader_finds():
    for case in CASES:
        graph = read_pnnx(case / "model.pnnx.param")
        with zipfile.ZipFile(case / "model.pnnx.bin") as archive:
            expected = {name: archive.read(name) for name in archive.namelist()}
        attributes = [
            (f"{o.name}.{k}", a) for o in graph.operators for k, a in o.attributes.items()
        ]
        assert {name: bytes(a.raw()) for name, a in attributes} == expected, case.name


def test_no_bindings_and_no_onnx_are_imported():
    program = """import sys, trivium.compiler.frontends.pnnx
assert not {"torch_mlir", "onnx", "torch"} & {name.partition(".")[0] for name in sys.modules}"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_files_are_read_where_there_is_no_mlir(tmp_path: Path):
    program = """import importlib.machinery as machinery, sys
found = machinery.PathFinder.find_spec
def without(name, path=None, target=None):
    return None if name.startswith("torch_mlir") else found(name, path, target)
machinery.PathFinder.find_spec = without
import trivium
from trivium.compiler.frontends.pnnx import read_pnnx
assert read_pnnx(sys.argv[1]).operator("fc").attributes["weight"].array().sum() == 66
try:
    trivium.compile(sys.argv[1])
except trivium.CompileError as error:
    print(error)"""
    command = [sys.executable, "-c", program, linear(tmp_path)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert printed.startswith("error: compiling needs torch-mlir, which is not installed: pip")


def test_what_is_written_is_read_by_other_readers(tmp_path: Path):
    graph = read_pnnx(linear(tmp_path))
    write_pnnx(graph, tmp_path / "new.param", tmp_path / "new.bin")
    assert (tmp_path / "new.param").read_text() == LINEAR
    with zipfile.ZipFile(tmp_path / "new.bin") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["fc.bias", "fc.weight"]
        assert archive.read("fc.weight") == WEIGHT.tobytes()
        assert all(info.compress_type == zipfile.ZIP_STORED for info in archive.infolist())


def test_files_may_be_written_over_while_they_are_mapped(tmp_path: Path):
    param = linear(tmp_path)
    graph = read_pnnx(param)
    weight = graph.operator("fc").attributes["weight"]
    mapped = weight.array()
    write_pnnx(graph, param, param.with_suffix(".bin"))
    write_pnnx(graph, param, param.with_suffix(".bin"))
    assert np.array_equal(mapped, WEIGHT)
    assert np.array_equal(read_pnnx(param).operator("fc").attributes["weight"].array(), WEIGHT)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.pnnx.bin", "net.pnnx.param"]


def test_a_place_that_cannot_be_written(tmp_path: Path):
    graph = read_pnnx(linear(tmp_path))
    with pytest.raises(
        CompileError, match=r"a.param: error: cannot be written with its weights: No such"
    ):
        write_pnnx(graph, tmp_path / "none" / "a.param", tmp_path / "none" / "a.bin")


def test_a_zip_with_a_comment_and_other_entries(tmp_path: Path):
    param = linear(tmp_path)
    with zipfile.ZipFile(param.with_suffix(".bin"), "a") as archive:
        archive.writestr("other", b"PK\5\6")
        archive.comment = b"packed PK\5\6 again"
    assert read_pnnx(param).operator("fc").attributes["weight"].array().sum() == 66


def test_text_is_read_as_well(tmp_path: Path):
    linear(tmp_path)
    graph = read_pnnx(LINEAR, tmp_path / "net.pnnx.bin")
    assert graph.operator("fc").attributes["weight"].array().sum() == 66
    assert read_pnnx(one_operator("F.relu r 1 1 0 1")).operator("r").line == 4


def test_weights_from_another_place(tmp_path: Path):
    param = linear(tmp_path)
    param.with_suffix(".bin").rename(tmp_path / "elsewhere")
    assert read_pnnx(param, tmp_path / "elsewhere").operator("fc").attributes["bias"].nbytes == 16


def test_a_structure_without_weights_needs_no_bin(tmp_path: Path):
    param = tmp_path / "net.param"
    param.write_text(one_operator("F.relu r 1 1 0 1"))
    assert len(read_pnnx(param).operators) == 2


def test_a_file_that_was_edited_by_hand(tmp_path: Path):
    text = "\ufeff".join(["", ""]) + "7767517\r\n\t2   2 \r\n\r\npnnx.Input x 0 1 0\r\n"
    text += "  F.relu\tr 1 1 0 1   inplace=True #1=(1,?,%n)f16  \r\n\r\n"
    graph = read_pnnx(text.replace("\ufeff", ""))
    assert graph.operand("1").shape == (1, None, "n")
    assert graph.operand("1").dtype == "f16"
    write_pnnx(graph, tmp_path / "a.param", tmp_path / "a.bin")
    assert (tmp_path / "a.param").read_text().splitlines()[3] == (
        f"{'F.relu':24} {'r':24} 1 1 0 1 inplace=True #1=(1,?,%n)f16"
    )


def test_slots_of_one_operand_given_twice():
    text = one_operator("torch.add a 3 1 0 0 0 1 $other=0 $input=0 #0=()null")
    graph = read_pnnx(text)
    assert graph.operator("a").slots == ["other", "input", ""]
    assert (graph.operand("0").shape, graph.operand("0").dtype) == ((), None)
    assert graph.operand("1").shape is None


def test_expressions_stay_text():
    for text in ("[@0,2]", "[1,2]", "3", "(1", "log1p,@0"):
        graph = read_pnnx(one_operator(f"pnnx.Expression e 1 1 0 1 expr={text}"))
        assert graph.operator("e").parameters["expr"].value == text


def test_tied_weights_keep_their_operand_and_their_attribute(tmp_path: Path):
    text = one_operator("nn.Embedding e 2 1 0 0 1 @weight=(1,2)f32")
    operator = read_pnnx(write_pair(tmp_path, text, {"e.weight": floats(1, 2)})).operator("e")
    assert len(operator.inputs) == 2
    assert list(operator.attributes) == ["weight"]


LINES = {
    "F.relu r 1 1 7 1": "takes operand '7', which no operator before it makes",
    "F.relu r 1 1 1 1": "takes operand '1', which no operator before it makes",
    "F.relu r 1 1 0 0": "makes operand '0', which 'x' on line 3 makes",
    "F.relu x 1 1 0 1": "has the name of the operator on line 3",
    "F.relu r 1 2 0 1": "says 1 inputs and 2 outputs, names 2 operands",
    "F.relu r 999999999 1 0 1": "says 999999999 inputs and 1 outputs, names 2 operands",
    "F.relu r 1 1 0 a=b": "makes operand 'a=b', whose name must not have an '='",
    "F.relu r 1 1 0 1 word": "has a token 'word', must be key=value",
    "F.relu r 1 1 0 1 =5": "has a token '=5', must be key=value",
    "F.relu r 1 1 0 1 @=(1)f32": "has a token '@=(1)f32', must be key=value",
    "F.relu r 1 1 0 1 a=1 a=1": "has parameter 'a' twice",
    "F.relu r 1 1 0 1 a=(1,2": "has a parameter 'a' that is '(1,2', a list that does not close",
    "F.relu r 1 1 0 1 $input=1": "names operand '1' as 'input', which is not an unnamed input",
    "F.relu r 1 1 0 1 $a=0 $b=0": "names operand '0' as 'b', which is not an unnamed input",
    "F.add r 2 1 0 0 1 $a=0 $a=0": "has slot 'a' twice",
    "F.relu r 1 1 0 1 #2=(1)f32": "has the type of operand '2', which it neither takes nor makes",
    "F.relu r 1 1 0 1 #1=1f32": "has an operand '1' that is '1f32', must be a shape and a type",
    "F.relu r 1 1 0 1 #1=(1": "has an operand '1' that is '(1', must be a shape and a type",
    "F.relu r 1 1 0 1 #1=(1)f31": "has an operand '1' that is of type 'f31', must be one of f32",
    "F.relu r 1 1 0 1 #1=(-1)f32": "has an operand '1' that has a size '-1', must be a number",
    "F.relu r 1 1 0 1 #1=(1,)f32": "has an operand '1' that has a size '', must be a number",
    f"F.relu r 1 1 0 1 #1=({'9' * 99})f32": f"has an operand '1' that has a size '{'9' * 24}'",
    "F.relu r 1 1 0 1 #1=(1)f32 #1=(2)f32": "has an operand '1' of type (2)f32, must be (1)f32",
    "F.relu r 1 1 0 1 @w=(1)f32": "has an attribute 'w', but there is no .bin file",
    "F.relu r 1 1 0 1 @w=(1)sparse": "has an attribute 'w' that is of type 'sparse', must be one",
    "F.relu r 1 1 0 1 @w=(?)f32": "has an attribute 'w' that is '(?)f32', must have a known shape",
    "F.relu r 1 1 0 1 @w=()null @w=()null": "has attribute 'w' twice",
}


@pytest.mark.parametrize("line", LINES)
def test_a_wrong_operator_is_named_with_its_line(line: str):
    with pytest.raises(CompileError) as error:
        read_pnnx(one_operator(line))
    type, name = line.split()[:2]
    assert str(error.value).startswith(f"<text>:4: error: '{type}' operator '{name}' {LINES[line]}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n", "<text>:1: error: is not a PNNX file, which begins with a line 7767517"),
        ("7767518\n1 1\n", "<text>:1: error: is not a PNNX file"),
        (
            "7767517\n",
            "<text>:2: error: must be the number of operators and the number of operands",
        ),
        ("7767517\n1 -1\n", "<text>:2: error: must be the number of operators"),
        ("7767517\n1 ²\n", "<text>:2: error: must be the number of operators"),
        ("7767517\n99999999999 1\n", "<text>:2: error: must be the number of operators"),
        ("7767517\n2 1\npnnx.Input x 0 1 0\n", "<text>:2: error: says 2 operators, the file has 1"),
        ("7767517\n1 2\npnnx.Input x 0 1 0\n", "<text>:2: error: says 2 operands, the file has 1"),
        ("7767517\n1 1\npnnx.Input x 0\n", "<text>:3: error: must be: type, name, number of"),
        ("7767517\n1 1\npnnx.Input x a 1 0\n", "<text>:3: error: must be: type, name, number of"),
    ],
)
def test_a_wrong_beginning(text: str, words: str):
    with pytest.raises(CompileError) as error:
        read_pnnx(text)
    assert str(error.value).startswith(words)


def test_text_that_is_not_utf_8(tmp_path: Path):
    param = tmp_path / "net.param"
    param.write_bytes(b"7767517\n1 1\npnnx.Input \xff 0 1 0\n")
    with pytest.raises(CompileError, match=r"net.param:3: error: is not UTF-8"):
        read_pnnx(param)


def test_missing_files(tmp_path: Path):
    with pytest.raises(CompileError, match=r"none.param: error: cannot be read: No such file"):
        read_pnnx(tmp_path / "none.param")
    with pytest.raises(CompileError, match=r"error: cannot be read: Is a directory"):
        read_pnnx(tmp_path)
    with pytest.raises(CompileError, match=r"cannot be read: embedded null byte"):
        read_pnnx("a\0b")
    param = linear(tmp_path)
    with pytest.raises(CompileError, match=r"none.bin: error: cannot be read: No such file"):
        read_pnnx(param, tmp_path / "none.bin")
    param.with_suffix(".bin").unlink()
    with pytest.raises(CompileError, match=r"param:4: .* 'bias', but there is no .bin file beside"):
        read_pnnx(param)


def resize(data: bytes) -> bytes:
    return data[:-1]


WEIGHTS: dict[str, tuple[dict[str, bytes], str]] = {
    "missing": ({"fc.bias": floats(1, 2, 3, 4)}, "attribute 'weight', which .* lacks: 'fc.weight'"),
    "short": (
        {"fc.bias": floats(1, 2, 3), "fc.weight": bytes(48)},
        r"has attribute bias=\(4\)f32: 16 bytes, but 'fc.bias' of .* has 12 bytes",
    ),
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_weights_that_do_not_fit(case: str, tmp_path: Path):
    weights, words = WEIGHTS[case]
    with pytest.raises(CompileError, match=f"param:4: error: 'nn.Linear' operator 'fc' .*{words}"):
        read_pnnx(write_pair(tmp_path, LINEAR, weights))


def compressed(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("fc.bias", bytes(100))


def twice(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(
        data.replace(b"fc.weight", b"fc.bias__").replace(b"fc.bias__", b"fc.weight", 0)
    )
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match=r"Duplicate"):
        archive.writestr("fc.bias", b"")


def replace(old: bytes, new: bytes, count: int = -1) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        data = path.read_bytes()
        assert old in data
        path.write_bytes(data.replace(old, new, count))

    return change


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "empty": (empty, "is not a zip file, or not a whole one"),
    "truncated": (truncate, "is not a zip file, or not a whole one"),
    "compressed": (compressed, "has entry 'fc.bias' compressed or encrypted"),
    "twice": (twice, "is damaged: entry 'fc.bias' is there twice"),
    "no entry": (replace(b"PK\3\4", b"PK\3\3"), "there is no entry 'fc.bias' where its directory"),
    "no directory": (replace(b"PK\1\2", b"PK\1\1"), "has something else than entries"),
    "renamed": (replace(b"fc.bias", b"fc.bass", 1), "there is no entry 'fc.bias' where"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_zip(damage: str, tmp_path: Path):
    param = linear(tmp_path)
    change, words = DAMAGES[damage]
    change(param.with_suffix(".bin"))
    with pytest.raises(CompileError, match=f"net.pnnx.bin: error: .*{words}"):
        read_pnnx(param)


def test_damaged_data_is_found_when_it_is_used(tmp_path: Path):
    param = linear(tmp_path)
    replace(WEIGHT.tobytes(), (WEIGHT + 1).tobytes())(param.with_suffix(".bin"))
    operator = read_pnnx(param).operator("fc")
    assert operator.attributes["bias"].array().size == 4
    with pytest.raises(CompileError, match=r"data of entry 'fc.weight' misses its checksum"):
        operator.attributes["weight"].raw()


def chain(count: int, reads: Callable[[int, int], list[int]]) -> str:
    lines = ["pnnx.Input in 0 1 0 #0=(1,8)f32"]
    for i in range(1, count):
        inputs = reads(i, count)
        types = " ".join(f"#{k}=(1,8)f32" for k in (*inputs, i))
        names = " ".join(map(str, (*inputs, i)))
        lines.append(f"torch.add op{i} {len(inputs)} 1 {names} alpha=1 {types}")
    return "\n".join(["7767517", f"{count} {count}", *lines, ""])


SHAPES: dict[str, Callable[[int, int], list[int]]] = {
    "a chain": lambda i, _: [i - 1],
    "all read the first": lambda i, _: [0, i - 1],
    "the last reads all": lambda i, count: [0] if i < count - 1 else list(range(i)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_with_the_number_of_operators(shape: str, tmp_path: Path):
    def calls(count: int) -> int:
        text = chain(count, SHAPES[shape])
        counted = 0

        def count_call(*_: object) -> None:
            nonlocal counted
            counted += 1

        sys.setprofile(count_call)
        try:
            graph = read_pnnx(text)
            write_pnnx(graph, tmp_path / "a.param", tmp_path / "a.bin")
        finally:
            sys.setprofile(None)
        return counted

    assert calls(10000) < 2.1 * calls(5000)
