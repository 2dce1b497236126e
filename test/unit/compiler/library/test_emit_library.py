"""Models as shared libraries: results of a session in Python, and nothing needed but libc."""

import ctypes
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
import trivium
from trivium.compiler.library.assembly import Assembly
from trivium.compiler.library.emit import emit_library
from trivium.runtime.package import Package
from trivium.test.unit.runtime.c.c_session import Array, pointers
from trivium.test.unit.runtime.c.test_c_session import MODELS
from trivium.test.unit.runtime.c.test_c_state import STREAMS
from trivium.test.unit.runtime.cpu import test_elf as elf
from trivium.tools.main import main

PROGRAM = """
#include "{name}.h"
#include <stdio.h>

int main(void) {{
    {name}_session *session;
    {name}_error error;
    float x[3] = {{1, 2, 3}}, y[2];
    const void *inputs[{NAME}_INPUTS];
    void *outputs[{NAME}_OUTPUTS];
    inputs[0] = x;
    outputs[0] = y;
    if (sizeof x != {NAME}_INPUT_0_BYTES || sizeof y != {NAME}_OUTPUT_0_BYTES)
        return 2;
    if ({name}_create(&session, 2, &error) || {name}_run(session, inputs, outputs, &error)) {{
        puts(error.text);
        return 1;
    }}
    printf("%g %g\\n", y[0], y[1]);
    outputs[0] = 0;
    printf("%d ", {name}_run(session, inputs, outputs, &error));
    puts(error.text);
    {name}_free(session);
    return 0;
}}
"""


def need(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")


class Library:
    """A model's library, by ctypes."""

    def __init__(self, path: Path, name: str) -> None:
        library = ctypes.CDLL(str(path))
        self.create, self.run, self.free = (
            library[f"{name}_{function}"] for function in ("create", "run", "free")
        )
        self.free.restype, self.free.argtypes = None, (ctypes.c_void_p,)

    def outputs(self, package: Package, feeds: dict[str, Array], threads: int) -> list[bytes]:
        manifest, session = package.manifest, ctypes.c_void_p()
        assert self.create(ctypes.byref(session), threads, None) == 0
        inputs = [np.ascontiguousarray(feeds[port.name]) for port in manifest.inputs]
        made = [np.full(p.shape, 1, np.dtype(p.dtype)) for p in manifest.outputs]
        tables = (pointers([a.ctypes.data for a in each]) for each in (inputs, made))
        assert self.run(session, *tables, None) == 0
        self.free(session)
        return [each.tobytes() for each in made]


def drawn(package: Package) -> dict[str, Array]:
    chance, feeds = np.random.default_rng(3), dict[str, Array]()
    for port in package.manifest.inputs:
        values = chance.standard_normal(port.shape) * 3
        feeds[port.name] = (values > 0 if port.dtype == "bool" else np.abs(values)).astype(
            port.dtype
        )
    return feeds


@pytest.mark.parametrize("name", MODELS)
def test_a_library_computes_what_a_session_does(name: str, tmp_path: Path) -> None:
    need("cc")
    package = trivium.build(MODELS[name]())
    path, _ = emit_library(package, tmp_path / "made", name)
    feeds = drawn(package)
    expected = [
        y.tobytes() for y in trivium.load(package.to_bytes(), threads=1).run(feeds).values()
    ]
    library = Library(path, name)
    for threads in (1, 3, 1):  # what sessions share is made anew, too
        assert library.outputs(package, feeds, threads) == expected
    assert sorted(each.name for each in (tmp_path / "made").iterdir()) == sorted(
        [f"lib{name}.so", f"{name}.h"]
    )


@pytest.mark.parametrize("name", ["sums", "cached"])
def test_a_library_carries_state(name: str, tmp_path: Path) -> None:
    need("cc")
    make, states = STREAMS[name]
    package = trivium.build(make(), states=states)
    path, _ = emit_library(package, tmp_path, name)
    library, handle = ctypes.CDLL(str(path)), ctypes.c_void_p()
    assert library[f"{name}_create"](ctypes.byref(handle), 1, None) == 0
    for _ in range(2):  # once more from the start
        session = trivium.load(package.to_bytes(), threads=1)
        for number in range(1, 6):
            x = np.full(package.manifest.inputs[name == "cached"].shape, number, np.float32)
            expected = session.run({"new" if name == "cached" else "frame": x})
            made = [np.ones_like(y) for y in expected.values()]
            tables = pointers([x.ctypes.data]), pointers([y.ctypes.data for y in made])
            assert library[f"{name}_run"](handle, *tables, None) == 0
            assert all(map(np.array_equal, made, expected.values()))
        assert library[f"{name}_reset"](handle, None) == 0
    library[f"{name}_free"](handle)


def test_sessions_come_and_go_in_many_threads(tmp_path: Path) -> None:
    need("cc")
    package = trivium.build(MODELS["narrow"]())  # its constants are computed by the first session
    feeds = drawn(package)
    library = Library(emit_library(package, tmp_path, "narrow")[0], "narrow")
    expected = library.outputs(package, feeds, 1)
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda i: library.outputs(package, feeds, 1 + i % 3), range(200))
        assert all(outputs == expected for outputs in found)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the library of a model, as the command writes it."""
    need("cc")
    folder = tmp_path_factory.mktemp("library")
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        layer (float[1, 3] x) => (float[1, 2] y) <float[3, 2] w = {1, 0, 0, 1, -1, -1}>
        { y = MatMul (x, w) }""")
    model.graph.input[0].name = model.graph.node[0].input[0] = '??/" */ \\ \n\u00e9'
    onnx.save(model, folder / "layer.onnx")
    arguments = ["compile", str(folder / "layer.onnx"), "--emit", "library"]
    assert main([*arguments, "-o", str(folder / "out"), "--name", "my_layer"]) == 0
    assert main([*arguments, "-o", str(folder / "out")]) == 0
    names = ["libmodel.so", "libmy_layer.so", "model.h", "my_layer.h"]
    assert sorted(path.name for path in (folder / "out").iterdir()) == names
    return folder / "out"


def test_nothing_is_needed_but_libc(folder: Path) -> None:
    need("readelf", "nm")
    library = folder / "libmy_layer.so"
    listed = subprocess.run(["readelf", "-dW", library], capture_output=True, text=True).stdout
    assert "TEXTREL" not in listed
    needed = {line.split()[-1] for line in listed.splitlines() if "(NEEDED)" in line}
    assert needed <= {"[libc.so.6]", "[libpthread.so.0]"}
    names = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True)
    assert names.stdout.split()[2::3] == [
        f"my_layer_{name}" for name in ("create", "free", "reset", "run")
    ]
    segments = subprocess.run(["readelf", "-lW", library], capture_output=True, text=True).stdout
    assert "RWE" not in segments


@pytest.mark.parametrize("compiler", ["cc -std=c99", "c++ -std=c++11"])
def test_programs_use_the_header_alone(folder: Path, compiler: str, tmp_path: Path) -> None:
    need("cc", "c++")
    source = tmp_path / ("main.c" if compiler.startswith("cc ") else "main.cpp")
    source.write_text(PROGRAM.format(name="my_layer", NAME="MY_LAYER"))
    strict = [*compiler.split(), "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{folder}"]
    link = ["-o", tmp_path / "main", source, f"-L{folder}", "-lmy_layer", f"-Wl,-rpath,{folder}"]
    subprocess.run([*strict, *link], check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    assert done.stdout == "-2 -1\n4 output 'y' is NULL\n"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"target": "host"},
            "first: error: 'tri.exp' op, a step of kind 'host', has no form in a library",
        ),
        (
            {"machine": ("x86-64-v3", "x86-64")},
            "model: error: is for x86-64-v3, x86-64, must be for one machine",
        ),
        ({"threads": 1, "cores": [0]}, "model: error: binds threads to cores, which a library"),
    ],
)
def test_what_a_library_lacks_is_refused(
    options: dict[str, object], reason: str, tmp_path: Path
) -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        some (float[4] x) => (float[4] y) { [first] a = Exp (x) [second] y = Relu (a) }""")
    package = trivium.build(model, **options)
    with pytest.raises(trivium.CompileError, match=f"^{re.escape(reason)}"):
        emit_library(package, tmp_path / "out", "some")
    assert not (tmp_path / "out").exists()


def test_sizes_that_change_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        free (float[N, 4] x) => (float[N, 4] y) { y = Exp (x) }""")
    onnx.save(model, tmp_path / "free.onnx")
    out = tmp_path / "out"
    command = ["compile", str(tmp_path / "free.onnx"), "--emit", "library", "-o", str(out)]
    assert main(command) != 0
    error = capsys.readouterr().err
    assert "sizes N change from run to run" in error
    assert not out.exists()


def test_a_compiler_that_is_missing_or_fails_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = trivium.build(MODELS["narrow"]())
    monkeypatch.setenv("CC", "no-such-cc")
    with pytest.raises(trivium.CompileError, match="a C compiler, cc or \\$CC, and there"):
        emit_library(package, tmp_path / "out", "narrow")
    monkeypatch.setenv("CC", "false")
    with pytest.raises(trivium.CompileError, match="false cannot link the library: exit code 1"):
        emit_library(package, tmp_path / "out", "narrow")
    assert not (tmp_path / "out").exists()


def test_a_package_needs_its_ending(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "a.onnx", "-o", str(tmp_path / "out")]) != 0
    assert "must end in .trv" in capsys.readouterr().err


@pytest.mark.parametrize(
    "flags",
    [["--compress"], ["--strip", "ir"], ["--external-weights", "w"], ["--refit"], ["--keep", "y"]],
)
def test_flags_of_packages_are_refused(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compile", "a.onnx", "--emit", "library", *flags, "-o", "out"]) == 2
    assert f"{flags[0]}: only packages have that" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["My_Net", "7net", "a-b", ""])
def test_names_that_c_does_not_have_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(trivium.CompileError, match=f"name is '{name}', must be small letters"):
        emit_library(trivium.build(MODELS["narrow"]()), tmp_path, name)


def returns_word(code: bytes) -> elf.Assembly:
    return elf.Assembly(code, {"f": 0}, [(elf.ABS64, 2, "word", 0)])


@pytest.mark.parametrize(
    "code",
    [
        bytes.fromhex("48b8 0000000000000000 488b00 c3"),  # movabs $word, %rax; mov (%rax), %rax
        bytes.fromhex("49b9 0000000000000000 498b01 c3"),  # the same with %r9
        bytes.fromhex("48b9 0000000000000000 488b01 eb01 cc c3"),  # with %rcx, and a jump
    ],
)
def test_addresses_in_code_are_relative(code: bytes, tmp_path: Path) -> None:
    need("cc")
    assembly = Assembly("blob")
    assembly.add_objects({"a.o": returns_word(code).assemble(), "b.o": elf.WORD.assemble()})
    (tmp_path / "a.S").write_text(assembly.text)
    (tmp_path / "blob").write_bytes(assembly.data)
    (tmp_path / "b.c").write_text("long f(void); long g(void) { return f(); }")
    command = ["cc", "-shared", "-fPIC", "-Wl,-z,text", "-o", "c.so", "a.S", "b.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "c.so"))
    library.g.restype = ctypes.c_long
    assert library.g() == 99


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (
            elf.Assembly(b"\xe8\0\0\0\0\xc3", {"f": 0}, [(elf.PLT32, 1, "g", -4)]),
            "'a.o' has a relocation of type 4 in ''",
        ),
        (returns_word(b"\x90\xb8" + bytes(9)), "has an address in another instruction than movabs"),
        (returns_word(b"\x48\xa1" + bytes(9)), "has an address in another instruction than movabs"),
        (
            elf.Assembly(bytes(9), {"f": 0}, [(elf.ABS64, 0, "word", 0)]),
            "has an address in another instruction than movabs",
        ),
        (elf.Assembly(b"\xc3", {"f;.byte 1": 0}), "the symbol 'f;.byte 1' has no name that an"),
    ],
)
def test_other_code_is_refused(part: elf.Assembly, reason: str) -> None:
    with pytest.raises(trivium.CompileError, match=re.escape(reason)):
        Assembly("blob").add_objects({"a.o": part.assemble(), "b.o": elf.WORD.assemble()})


@pytest.mark.parametrize("name", ["pool", "heap", "trivium"])
def test_names_of_models_are_not_those_inside(name: str, tmp_path: Path) -> None:
    need("cc")
    package = trivium.build(MODELS["narrow"]())
    feeds = drawn(package)
    library = Library(emit_library(package, tmp_path, name)[0], name)
    (found,) = library.outputs(package, feeds, 2)
    assert found == trivium.load(package.to_bytes(), threads=1).run(feeds)["y"].tobytes()
