"""Models written as C: built by gcc alone, they give what sessions give."""

import re
import shutil
from pathlib import Path

import numpy as np
import onnx.helper
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from c_programs import build, fixed_addresses, needs_gcc, run, run_client
from trivium.compiler.c.emit import emit_c
from trivium.dialects.core.tensor import Array
from trivium.tools.main import main

NETWORK = """
    <ir_version: 10, opset_import: ["" : 21]>
    network (float[2, 3, 12, 10] image, float[2, 7] other) => (float[2, 5] y, float[2, 7] z)
    {
        [conv] a = Conv <pads = [1, 1, 1, 1]> (image, w, b)
        [relu] c = Relu (a)
        [pool] d = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (c)
        [flat] e = Flatten (d)
        [dense] f = Gemm (e, v)
        [softmax] y = Softmax (f)
        [tail] z = Exp (other)
    }
"""


def network() -> onnx.ModelProto:
    model = onnx.parser.parse_model(NETWORK)
    model.graph.node[0].name, model.graph.node[-1].name = "conv/1", "tail*/"
    random = np.random.default_rng(3)
    for name, shape in (("w", (8, 3, 3, 3)), ("b", (8,)), ("v", (240, 5))):
        array = random.normal(size=shape).astype(np.float32) / 8
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


def feeds() -> dict[str, Array]:
    random = np.random.default_rng(5)
    shapes = {"image": (2, 3, 12, 10), "other": (2, 7)}
    return {name: random.normal(size=s).astype(np.float32) for name, s in shapes.items()}


def expected() -> list[Array]:
    session = trivium.compile(network(), threads=1)
    return list(session.run(feeds()).values())


@needs_gcc
@pytest.mark.parametrize("machine", ["native", "generic", "x86-64"])
def test_a_client_built_by_make_gives_the_outputs_of_a_session(machine, tmp_path: Path) -> None:
    written = emit_c(network(), tmp_path, machine=machine)
    build(tmp_path)
    made = run_client(written, list(feeds().values()))
    for x, y in zip(made, expected(), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-7)


@needs_gcc
def test_a_compiler_for_another_cpu_is_stopped(tmp_path: Path) -> None:
    emit_c(network(), tmp_path, machine="armv8-a")
    done = run(["gcc", "-fsyntax-only", "model.c"], tmp_path)
    assert "this code is for armv8-a" in done.stderr


def test_strict_math_lets_no_compiler_fuse(tmp_path: Path) -> None:
    for math, flag in (("fast", "fast"), ("strict", "off")):
        emit_c(network(), tmp_path, machine="rv64gcv", math=math)
        assert f"-ffp-contract={flag}" in (tmp_path / "Makefile").read_text()
        assert f"-ffp-contract={flag}" in (tmp_path / "CMakeLists.txt").read_text()


@needs_gcc
def test_a_client_prints_every_number_of_the_outputs(tmp_path: Path) -> None:
    written = emit_c(network(), tmp_path, name="small_net")
    assert sorted(written.files) == sorted(path.name for path in tmp_path.iterdir())
    build(tmp_path)
    names = [f"{name}.raw" for name in feeds()]
    for name, array in zip(names, feeds().values(), strict=True):
        array.tofile(tmp_path / name)
    done = run(["./main", *names], tmp_path)
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.endswith(":")] == ["y:", "z:"]
    numbers = [float(line) for line in lines if not line.endswith(":")]
    np.testing.assert_allclose(
        numbers, np.concatenate([y.ravel() for y in expected()]), rtol=1e-6, atol=1e-7
    )


@needs_gcc
def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    written = emit_c(network(), tmp_path)
    build(tmp_path, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", THREADS="1")
    made = run_client(written, list(feeds().values()), ["env", "ASAN_OPTIONS=detect_leaks=0"])
    for x, y in zip(made, expected(), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-7)


@needs_gcc
def test_weight_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    written = emit_c(network(), tmp_path)
    other = network()
    other.graph.initializer[0].CopyFrom(
        onnx.numpy_helper.from_array(np.ones((8, 3, 3, 3), np.float32), "w")
    )
    emit_c(other, tmp_path / "other")
    build(tmp_path)
    good = (tmp_path / "model.weights").read_bytes()
    damaged = bytearray(good)
    damaged[-3] ^= 1
    bad = {
        "shorter than": good[:-1],
        "not a weight file": b"X" + good[1:],
        "is damaged": bytes(damaged),
        "of other code": (tmp_path / "other" / "model.weights").read_bytes(),
        "shorter": b"",
    }
    run_client(written, list(feeds().values()))
    inputs = ["input_0.raw", "input_1.raw"]
    for text, data in bad.items():
        (tmp_path / "bad").write_bytes(data)
        done = run(["./main", "-w", "bad", *inputs], tmp_path)
        assert done.returncode == 1
        assert text in done.stderr
    done = run(["./main", "input_0.raw", "input_0.raw"], tmp_path)
    assert "size of the input" in done.stderr


WIDE = """
    <ir_version: 10, opset_import: ["" : 21]>
    wide (float[1, 16, 40, 40] image)
        => (float[1, 32, 40, 40] y, float[1, 32] z, float[1, 1, 160] h)
    <int64[3] lines = {128, 1, 200}>
    {
        a = Conv <pads = [1, 1, 1, 1]> (image, w)
        b = Relu (a)
        y = Conv <pads = [1, 1, 1, 1]> (b, v)
        means = GlobalAveragePool (y)
        z = Flatten (means)
        steps = Reshape (image, lines)
        every, h = LSTM <hidden_size = 160> (steps, input_weights, state_weights)
    }
"""

CLIENT = """
#include <stdio.h>
#include <string.h>
#include "model.h"
#define ALIGNED __attribute__((aligned(64)))
static char arena[MODEL_ARENA_BYTES + 64] ALIGNED, memory[MODEL_POOL_BYTES(3)] ALIGNED;
static char file[MODEL_WEIGHTS_BYTES] ALIGNED, prepared[MODEL_PREPARED_BYTES + 64] ALIGNED;
static float image[16 * 1600] ALIGNED, y[32 * 1600] ALIGNED, z[32] ALIGNED, h[160] ALIGNED;
static float first[32 * 1600], last[160];
int main(void) {
  struct model_weights weights;
  static struct model_pool pool;
  const void *inputs[] = {image};
  void *outputs[] = {y, z, h};
  FILE *f = fopen("model.weights", "rb");
  if (fread(file, 1, sizeof file, f) != sizeof file) return 1;
  if (model_open_weights(&weights, file, sizeof file, prepared, sizeof prepared)) return 2;
  for (int n = 0; n < 16 * 1600; ++n) image[n] = (float)(n % 17) / 8 - 1;
  const size_t size = MODEL_ARENA_BYTES;
  if (model_run(inputs, outputs, arena, size, &weights)) return 3;
  memcpy(first, y, sizeof y), memcpy(last, h, sizeof h);
  if (model_run(inputs, outputs, arena, size - 1, &weights) != MODEL_SMALL_ARENA) return 4;
  if (model_run(inputs, outputs, arena + 4, size, &weights) != MODEL_UNALIGNED) return 5;
  if (model_pool_start(&pool, 3, memory, sizeof memory - 1) != MODEL_SMALL_ARENA) return 6;
  if (model_pool_start(&pool, 3, memory, sizeof memory)) return 7;
  for (int n = 0; n < 30; ++n) {
    memset(y, 0, sizeof y), memset(h, 0, sizeof h);
    if (model_pool_run(&pool, inputs, outputs, arena, sizeof arena, &weights)) return 8;
    if (memcmp(first, y, sizeof y) || memcmp(last, h, sizeof h)) return 9;
  }
  model_pool_stop(&pool);
  return strcmp(model_error(MODEL_SMALL_ARENA), "") ? 0 : 10;
}
"""


@needs_gcc
@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
def test_threads_give_the_bits_of_one_and_wrong_memory_has_codes(sanitizer, tmp_path: Path) -> None:
    model = onnx.parser.parse_model(WIDE)
    random = np.random.default_rng(3)
    shapes = {"w": (32, 16, 3, 3), "v": (32, 32, 3, 3)}
    shapes |= {"input_weights": (1, 640, 200), "state_weights": (1, 640, 160)}
    for name, shape in shapes.items():
        array = random.normal(size=shape).astype(np.float32) / 8
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    emit_c(model, tmp_path)
    ranges = re.findall(
        r"share\(job, .*, (\d+), (\d+), \w+, \d+\);", (tmp_path / "model.c").read_text()
    )
    cut = [int(steps) for chunks, steps in ranges if int(chunks) > 1]
    assert {*cut} == {1, 128}
    (tmp_path / "own.c").write_text(CLIENT)
    flags = ["-O1", "-march=native", "-fno-math-errno", "-DMODEL_THREADS", "-pthread"]
    flags += [f"-fsanitize={sanitizer}", "-fno-sanitize-recover=undefined"]
    made = run(["gcc", *flags, "own.c", "model.c", "-lm", "-o", "own"], tmp_path)
    if "cannot find" in made.stderr:
        pytest.skip(f"there is no sanitizer of {sanitizer}")
    assert not made.returncode, made.stderr
    done = run([*fixed_addresses(tmp_path), "./own"], tmp_path)
    assert done.returncode == 0, done.stderr


@needs_gcc
def test_the_header_is_one_of_cpp(tmp_path: Path) -> None:
    emit_c(network(), tmp_path)
    (tmp_path / "own.cpp").write_text('#include "model.h"\nint n = MODEL_INPUTS;\n')
    flags = ["-Wall", "-Wextra", "-Werror", "-DMODEL_THREADS", "-fsyntax-only"]
    done = run(["gcc", "-x", "c++", *flags, "own.cpp"], tmp_path)
    if "cc1plus" in done.stderr:
        pytest.skip("there is no compiler of C++")
    assert not done.returncode, done.stderr


def test_equal_models_have_equal_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        emit_c(network(), tmp_path / name, machine="x86-64-v3")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_names_of_nodes_are_in_comments(tmp_path: Path) -> None:
    emit_c(network(), tmp_path, machine="x86-64-v3")
    text = (tmp_path / "model.c").read_text()
    assert "conv/1" in text
    assert "tail* /" in text
    assert re.search(r"kernel_\w*relu", text)
    assert "#if !defined(__AVX2__)" in text


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"threads": 2}, "threads: only packages"),
        ({"machine": ("x86-64", "x86-64-v3")}, "must be one"),
        ({"name": "Bad-Name"}, "must be small letters"),
        ({"name": 3}, "must be small letters"),
        ({"name": "main"}, "must not be that of the client"),
        ({"name": "string"}, "or of a header of the C library"),
        ({"machine": "z80"}, "no machine is called 'z80'"),
        ({"target": "host"}, "target is 'host', must be 'cpu': (.|\n)*leave out --target"),
        ({"target": "gpu"}, "target is 'gpu', must be 'cpu'"),
        ({"target": "cpu,gpu:sm_90"}, "target is 'cpu,gpu:sm_90', must be 'cpu'"),
    ],
)
def test_what_has_no_form_in_c_is_refused_and_nothing_written(given, message, tmp_path) -> None:
    with pytest.raises(trivium.CompileError, match=message):
        emit_c(network(), tmp_path / "made", **given)
    assert not (tmp_path / "made").exists()


def test_sizes_that_a_run_finds_are_refused(tmp_path: Path) -> None:
    text = '<ir_version: 10, opset_import: ["" : 21]> g (float[3, 4] x) => (int64[2, N] y) '
    model = onnx.parser.parse_model(text + "{ y = NonZero (x) }")
    with pytest.raises(trivium.CompileError, match="such as NonZero"):
        emit_c(model, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_machines_without_packages_are_refused_for_these(tmp_path: Path) -> None:
    with pytest.raises(trivium.CompileError, match="its only form is C"):
        trivium.build(network(), machine="generic")


@needs_gcc
def test_a_package_is_printed_for_any_machine(tmp_path: Path) -> None:
    trivium.build(network()).save(tmp_path / "net.trv")
    folder = tmp_path / "net"
    flags = ["--emit", "c", "--machine", "generic", "--name", "net", "-o", str(folder)]
    assert main(["compile", str(tmp_path / "net.trv"), *flags]) == 0
    build(folder)
    for name, array in feeds().items():
        array.tofile(folder / name)
    done = run(["./main", "-o", "y", "-o", "z", *feeds()], folder)
    assert not done.returncode, done.stderr
    for name, y in zip("yz", expected(), strict=True):
        made = np.fromfile(folder / name, np.float32).reshape(y.shape)
        np.testing.assert_allclose(made, y, rtol=1e-6, atol=1e-7)


def test_packages_that_cannot_be_printed_are_refused(tmp_path: Path) -> None:
    sizes = '<ir_version: 10, opset_import: ["" : 21]> g (float[N, 3] x) => (float[N, 3] y) '
    model = onnx.parser.parse_model(sizes + "{ y = Exp (x) }")
    refused = {
        "holds no IR": trivium.build(network(), strip=("ir",)),
        "programs for exact sizes": trivium.build(model, exact=[{"N": 2}]),
        "a step of kind 'host'": trivium.build(network(), target="host"),
    }
    for fault, package in refused.items():
        with pytest.raises(trivium.CompileError, match=fault):
            emit_c(package, tmp_path / "made")
    with pytest.raises(trivium.CompileError, match="math: a package keeps"):
        emit_c(trivium.build(network()), tmp_path / "made", math="strict")
    assert not (tmp_path / "made").exists()


def test_the_command_writes_a_folder(tmp_path: Path, capsys) -> None:
    onnx.save(network(), tmp_path / "m.onnx")
    flags = ["--emit", "c", "--machine", "generic", "-o", str(tmp_path / "out")]
    assert main(["compile", str(tmp_path / "m.onnx"), *flags]) == 0
    assert "model.c" in capsys.readouterr().out
    assert (tmp_path / "out" / "model.h").exists()


@needs_gcc
@pytest.mark.parametrize("onnc", [False, True])
def test_a_model_without_inputs_has_no_warnings(onnc, tmp_path: Path) -> None:
    text = '<ir_version: 10, opset_import: ["" : 21]> g () => (float[2] y, float[2] z) '
    given = "<float[2] w = {1.5, -2}> { y = Identity (w) z = Exp (w) }"
    emit_c(onnx.parser.parse_model(text + given), tmp_path, onnc=onnc)
    build(tmp_path)
    lines = run(["./main"], tmp_path).stdout.splitlines()
    assert [lines[0], lines[3]] == ["y:", "z:"]
    numbers = [float(line) for line in (*lines[1:3], *lines[4:])]
    np.testing.assert_allclose(numbers, [1.5, -2, *np.exp([1.5, -2])], rtol=1e-6)


@needs_gcc
def test_the_entry_of_onnc_reads_an_image_and_prints_the_outputs(tmp_path: Path, capsys) -> None:
    onnx.save(network(), tmp_path / "m.onnx")
    flags = ["--emit", "c", "--onnc", "--name", "net", "-o", str(tmp_path)]
    assert main(["compile", str(tmp_path / "m.onnx"), *flags]) == 0
    printed = capsys.readouterr().out
    assert "CLang is invoked" in printed
    assert f"created model weight file: {tmp_path / 'net.weight'}" in printed
    build(tmp_path)
    names = [f"{name}.pb" for name in feeds()]
    for name, array in zip(names, feeds().values(), strict=True):
        onnx.save_tensor(onnx.numpy_helper.from_array(array), tmp_path / name)
        raw = str(tmp_path / name.replace(".pb", ".raw"))
        assert main(["pb2raw", str(tmp_path / name), "-o", raw]) == 0
    raws = [name.replace(".pb", ".raw") for name in names]
    done = run(["./main", *raws], tmp_path)
    numbers = [float(line) for line in done.stdout.splitlines() if not line.endswith(":")]
    made = np.concatenate([y.ravel() for y in expected()])
    np.testing.assert_allclose(numbers, made, rtol=1e-6, atol=1e-7)
    (tmp_path / "net.weight").write_bytes(b"no weights")
    done = run(["./main", *raws], tmp_path)
    assert done.returncode == 1
    assert "has another size" in done.stderr


@needs_gcc
@pytest.mark.parametrize("machine", ["native", "generic"])
def test_quantized_models_give_the_outputs_of_a_session(machine, tmp_path: Path) -> None:
    data = {name: np.concatenate([array, -array]) for name, array in feeds().items()}
    file = str(tmp_path / "bytes.onnx")
    trivium.quantize(network(), data, file)
    written = emit_c(file, tmp_path, machine=machine)
    build(tmp_path)
    made = run_client(written, list(feeds().values()))
    for x, y in zip(made, trivium.compile(file).run(feeds()).values(), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("flags", "fault"),
    [
        (["--emit", "c", "-o", "x.trv"], "'x.trv' is a package, C is a folder"),
        (["--name", "n", "-o", "x.trv"], "--name: is for --emit library and --emit c"),
        (["--onnc", "-o", "x.trv"], "--onnc: is for --emit c"),
        (["-o", "x"], "'x' must end in .trv"),
    ],
)
def test_the_command_refuses_flags_of_the_other_form(flags, fault, capsys) -> None:
    assert main(["compile", "m.onnx", *flags]) == 2
    assert fault in capsys.readouterr().err


@pytest.mark.parametrize("compiler", ["gcc -O1 -Wextra -pedantic", "clang -O1 -Wextra", "tcc"])
def test_code_without_vectors_is_plain_c99(compiler: str, tmp_path: Path) -> None:
    if not shutil.which(compiler.split()[0]):
        pytest.skip(f"there is no {compiler.split()[0]}")
    written = emit_c(network(), tmp_path, machine="generic")
    flags = ["-std=c99", "-Wall", "-Werror", "main.c", "model.c", "-lm", "-o", "main"]
    done = run([*compiler.split(), *flags], tmp_path)
    assert not done.returncode, done.stderr
    for x, y in zip(run_client(written, list(feeds().values())), expected(), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-7)


def test_threads_need_more_than_plain_c99(tmp_path: Path) -> None:
    if not shutil.which("tcc"):
        pytest.skip("there is no tcc")
    emit_c(network(), tmp_path, machine="generic")
    done = run(["tcc", "-DMODEL_THREADS", "-c", "model.c"], tmp_path)
    assert "threads are for GCC and Clang" in done.stderr
