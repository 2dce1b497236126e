"""Models whose sizes change from run to run, written as C that takes the sizes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from c_programs import build, fixed_addresses, needs_gcc, run
from trivium.compiler.c.emit import CFolder, emit_c
from trivium.dialects.core.tensor import Array

ort = pytest.importorskip("onnxruntime")

MLP = """
    <ir_version: 10, opset_import: ["" : 21]>
    mlp (float[N, 12] x) => (float[N, 5] y)
    { a = Gemm (x, w, b) c = Relu (a) d = Gemm (c, v) y = Softmax (d) }
"""

TRANSFORMER = """
    <ir_version: 10, opset_import: ["" : 21]>
    layer (float[N, T, 24] x) => (float[N, T, 24] y, float[N, T] means)
    <int64[4] heads = {0, 0, 3, 8}, int64[3] joined = {0, 0, 24}, int64[1] last = {-1},
     float scale = {0.35355338}>
    {
        q0 = MatMul (x, wq) k0 = MatMul (x, wk) v0 = MatMul (x, wv)
        q1 = Reshape (q0, heads) k1 = Reshape (k0, heads) v1 = Reshape (v0, heads)
        q = Transpose <perm = [0, 2, 1, 3]> (q1)
        k = Transpose <perm = [0, 2, 3, 1]> (k1)
        v = Transpose <perm = [0, 2, 1, 3]> (v1)
        s = MatMul (q, k) scaled = Mul (s, scale) p = Softmax <axis = -1> (scaled)
        o = MatMul (p, v) o1 = Transpose <perm = [0, 2, 1, 3]> (o) o2 = Reshape (o1, joined)
        attended = MatMul (o2, wo) r = Add (x, attended)
        n = LayerNormalization <axis = -1> (r, g, h)
        f = MatMul (n, w1) e = Gelu (f) m = MatMul (e, w2)
        y = Add (n, m) means = ReduceMean <keepdims = 0> (y, last)
    }
"""

CONVOLUTION = """
    <ir_version: 10, opset_import: ["" : 21]>
    network (float[N, 3, 12, 10] image) => (float[N, 5] y, float[N, 8, 6, 5] pooled)
    {
        a = Conv <pads = [1, 1, 1, 1]> (image, w, b) c = Relu (a)
        pooled = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (c)
        d = Conv <pads = [1, 1, 1, 1], group = 8> (pooled, dw) e = Add (d, pooled)
        f = Flatten (e) y = Gemm (f, v)
    }
"""

WEIGHTS: Mapping[str, Mapping[str, tuple[int, ...]]] = {
    MLP: {"w": (12, 33), "b": (33,), "v": (33, 5)},
    TRANSFORMER: {
        **{name: (24, 24) for name in ("wq", "wk", "wv", "wo")},
        **{"g": (24,), "h": (24,), "w1": (24, 96), "w2": (96, 24)},
    },
    CONVOLUTION: {"w": (8, 3, 3, 3), "b": (8,), "dw": (8, 1, 3, 3), "v": (240, 5)},
}


def model_of(text: str) -> onnx.ModelProto:
    model = onnx.parser.parse_model(text)
    random = np.random.default_rng(7)
    for name, shape in WEIGHTS[text].items():
        array = random.normal(size=shape).astype(np.float32) / 4
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


def client(
    written: CFolder, sizes: Mapping[str, int], inputs: Sequence[Array], *launcher: str
) -> list[bytes]:
    """Run the client at some sizes; return the bytes of the outputs."""
    folder = written.path
    names = [f"in{number}" for number in range(len(inputs))]
    for name, array in zip(names, inputs, strict=True):
        array.tofile(folder / name)
    outputs = [f"out{number}" for number in range(len(written.contents.outputs))]
    words = [f"{name}={size}" for name, size in sizes.items()]
    flags = [word for name in outputs for word in ("-o", name)]
    done = run([*launcher, "./main", *words, *flags, *names], folder)
    assert not done.returncode, done.stderr
    return [(folder / name).read_bytes() for name in outputs]


def check(
    model: onnx.ModelProto, written: CFolder, sizes: Mapping[str, int], shape, session
) -> None:
    x = np.random.default_rng(sum(sizes.values())).normal(size=shape).astype(np.float32)
    (name,) = (port.name for port in model.graph.input)
    made = client(written, sizes, [x], "env", "ASAN_OPTIONS=detect_leaks=0")
    for data, y in zip(made, session.run(None, {name: x}), strict=True):
        np.testing.assert_allclose(
            np.frombuffer(data, np.float32).reshape(y.shape), y, rtol=1e-4, atol=2e-6
        )


@needs_gcc
@pytest.mark.parametrize(
    ("text", "machine", "runs"),
    [
        (MLP, "x86-64", [((1, 12), {"N": 1}), ((37, 12), {"N": 37}), ((8, 12), {"N": 8})]),
        (TRANSFORMER, "native", [((3, 7, 24), {"N": 3, "T": 7}), ((1, 1, 24), {"N": 1, "T": 1})]),
        (TRANSFORMER, "generic", [((2, 131, 24), {"N": 2, "T": 131})]),
        (CONVOLUTION, "x86-64-v3", [((5, 3, 12, 10), {"N": 5}), ((1, 3, 12, 10), {"N": 1})]),
        (CONVOLUTION, "generic", [((3, 3, 12, 10), {"N": 3})]),
    ],
    ids=["mlp", "transformer", "plain-transformer", "convolution", "plain-convolution"],
)
def test_one_program_runs_at_all_sizes(text, machine, runs, tmp_path: Path) -> None:
    model = model_of(text)
    written = emit_c(model, tmp_path, machine=machine)
    build(tmp_path, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", THREADS="1")
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for shape, sizes in runs:
        check(model, written, sizes, shape, session)


POOL_CLIENT = """
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include "model.h"
static void *memory_of(size_t bytes) {
  void *memory = 0;
  if (posix_memalign(&memory, 64, bytes + 64)) exit(99);
  return memory;
}
static char file[MODEL_WEIGHTS_BYTES] __attribute__((aligned(64)));
int main(void) {
  static struct model_pool pool;
  static const int64_t lengths[] = {7, 160, 1, 63, 160, 2, 200};
  struct model_weights weights;
  struct model_shapes most, shapes;
  struct model_sizes sizes = {2, 200};
  FILE *f = fopen("model.weights", "rb");
  if (fread(file, 1, sizeof file, f) != sizeof file) return 1;
  void *const prepared = memory_of(MODEL_PREPARED_BYTES);
  if (model_open_weights(&weights, file, sizeof file, prepared, MODEL_PREPARED_BYTES)) return 2;
  if (model_find_shapes(&sizes, &most)) return 3;
  const size_t bytes = MODEL_POOL_BYTES(3, most.thread_bytes);
  void *const memory = memory_of(bytes);
  if (model_pool_start(&pool, 3, memory, bytes)) return 4;
  char *const arena = memory_of(most.arena_bytes);
  float *const x = memory_of(most.input_bytes[0]), *const y = memory_of(most.output_bytes[0]);
  float *const means = memory_of(most.output_bytes[1]), *const z = memory_of(most.output_bytes[0]);
  for (size_t n = 0; n < most.input_bytes[0] / 4; ++n) x[n] = (float)(n % 17) / 8 - 1;
  const void *inputs[] = {x};
  void *alone[] = {y, means}, *together[] = {z, means};
  for (int n = 0; n < 70; ++n) {
    sizes.T = lengths[n % 7];
    if (model_find_shapes(&sizes, &shapes)) return 5;
    if (shapes.output_shapes[1][0] != 2 || shapes.output_shapes[1][1] != sizes.T) return 6;
    const size_t own = shapes.arena_bytes;
    if (model_run(&sizes, inputs, alone, arena, own, &weights)) return 7;
    if (model_pool_run(&pool, &sizes, inputs, together, arena, own, &weights)) return 8;
    if (memcmp(y, z, shapes.output_bytes[0])) return 9;
  }
  if (model_run(&sizes, inputs, alone, arena, shapes.arena_bytes - 1, &weights) !=
      MODEL_SMALL_ARENA) return 10;
  sizes.T = 0;
  const size_t bytes_of_all = most.arena_bytes;
  if (model_run(&sizes, inputs, alone, arena, bytes_of_all, &weights) != MODEL_SIZE_T) return 11;
  model_pool_stop(&pool);
  return 0;
}
"""


@needs_gcc
@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
def test_threads_follow_sizes_from_run_to_run(sanitizer, tmp_path: Path) -> None:
    emit_c(model_of(TRANSFORMER), tmp_path, machine="x86-64-v3")
    (tmp_path / "own.c").write_text(POOL_CLIENT)
    flags = ["-O1", "-march=x86-64-v3", "-fno-math-errno", "-DMODEL_THREADS", "-pthread"]
    flags += [f"-fsanitize={sanitizer}", "-fno-sanitize-recover=undefined"]
    made = run(["gcc", *flags, "own.c", "model.c", "-lm", "-o", "own"], tmp_path)
    if "cannot find" in made.stderr:
        pytest.skip(f"there is no sanitizer of {sanitizer}")
    assert not made.returncode, made.stderr
    done = run(
        ["env", "ASAN_OPTIONS=detect_leaks=0", *fixed_addresses(tmp_path), "./own"], tmp_path
    )
    assert done.returncode == 0, (done.returncode, done.stderr)


SUM = """
    <ir_version: 10, opset_import: ["" : 21]>
    sum (float[N, int] x, float[N, S] other) => (float[N, int] y)
    { [total] y = Add (x, other) }
"""


@needs_gcc
def test_sizes_that_do_not_fit_have_codes_with_words(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(SUM)
    shapes = {"N": trivium.Range(2, 512, step=2)}
    written = emit_c(model, tmp_path, machine="generic", shapes=shapes)
    assert "int64_t size_int;" in (tmp_path / "model.h").read_text()
    build(tmp_path)
    x = np.ones((4, 3), np.float32)
    (y,) = client(written, {"N": 4, "int": 3, "S": 3}, [x, x])
    assert np.frombuffer(y, np.float32).tolist() == [2] * 12
    refused = {
        "N=0 int=3 S=3": "N must be from 2 to 512, a multiple of 2",
        "N=514 int=3 S=3": "N must be from 2 to 512",
        "N=3 int=3 S=3": "a multiple of 2",
        "N=4 int=3 S=4": "total: 'Add' node has sizes",
        "N=4 int=0 S=3": "int must be 1 or more",
        "N=4 int=4611686018427387904 S=4611686018427387904": "too many bytes",
        "N=4 int=70368744177664 S=70368744177664": "too many bytes",
        "N=4 int=4 S=4": "in0: error: has not the size",
        "N=4": "must be 1 or more",
    }
    for words, fault in refused.items():
        done = run(["./main", *words.split(), "in0", "in1"], tmp_path)
        assert done.returncode == 1
        assert fault in done.stderr


def test_the_entry_of_onnc_knows_no_sizes(tmp_path: Path) -> None:
    with pytest.raises(trivium.CompileError, match=r"sizes N change(.|\n)*--shape"):
        emit_c(model_of(MLP), tmp_path / "made", onnc=True)
    assert not (tmp_path / "made").exists()
