"""Objects made by the real code generator, and a small package around them."""

import copy
import ctypes
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trivium.runtime.contents import FIRST_PORT, Buffer, Memory, Port
from trivium.runtime.cpu.code import CpuRequirements, Kernel
from trivium.runtime.cpu.part import CpuPart
from trivium.runtime.cpu.step import CpuStep
from trivium.runtime.cpu.thread_pool import CODE
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package

Compile = Callable[..., memoryview]

# y = x * w + 1 by way of the arena, 16 floats; bases 0, 1, 3 and 4 are arena, weights, x and y.
# It is one phase of one iteration: a thread that is late must find nothing to do, for by then the
# caller may have freed x and y.
SEGMENT = """
llvm.func @share(!llvm.ptr, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64)
llvm.func @scale(%bases: !llvm.ptr, %phase: i64, %begin: i64, %end: i64) {
  %q1 = llvm.getelementptr %bases[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %q2 = llvm.getelementptr %bases[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %q3 = llvm.getelementptr %bases[4] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %arena = llvm.load %bases : !llvm.ptr -> !llvm.ptr
  %w = llvm.load %q1 : !llvm.ptr -> !llvm.ptr
  %x = llvm.load %q2 : !llvm.ptr -> !llvm.ptr
  %y = llvm.load %q3 : !llvm.ptr -> !llvm.ptr
  %one = llvm.mlir.constant(dense<1.0> : vector<16xf32>) : vector<16xf32>
  %vx = llvm.load %x {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  %vw = llvm.load %w {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  %p = llvm.fmul %vx, %vw : vector<16xf32>
  llvm.store %p, %arena {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  %r = llvm.fadd %p, %one : vector<16xf32>
  llvm.store %r, %y {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  llvm.return
}
llvm.func @segment_0(%job: !llvm.ptr, %thread: i64, %run: i64) {
  %q0 = llvm.getelementptr %job[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %bases = llvm.load %q0 : !llvm.ptr -> !llvm.ptr
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %scale = llvm.mlir.addressof @scale : !llvm.ptr
  llvm.call @share(%job, %thread, %run, %zero, %one, %one, %one, %scale, %bases, %zero)
      : (!llvm.ptr, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}
"""


@pytest.fixture(scope="session")
def compile_object(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Return a function from a module in the llvm dialect to the bytes of an object."""
    ir = pytest.importorskip("torch_mlir.ir")
    engine = pytest.importorskip("torch_mlir.execution_engine")
    folder = tmp_path_factory.mktemp("objects")

    def compile_text(
        text: str, entry: str, pic: bool = False, externals: Sequence[str] = ()
    ) -> memoryview:
        path = folder / f"{entry}.o"
        with ir.Context() as context, ir.Location.unknown():
            context.enable_multithreading(False)
            module = ir.Module.parse(text)
            jit = engine.ExecutionEngine(
                module, opt_level=2, enable_object_dump=True, enable_pic=pic
            )
            for name in externals:  # any address will do: nothing runs here
                jit.raw_register_runtime(name, ctypes.c_void_p(1))
            jit.raw_lookup(entry)
            jit.dump_to_object_file(str(path))
        return memoryview(path.read_bytes())

    return compile_text


@pytest.fixture(scope="session")
def segment_object(compile_object: Compile) -> memoryview:
    return compile_object(SEGMENT, "segment_0", externals=("share",))


@pytest.fixture(scope="session")
def threads_object() -> memoryview:
    """Return the code that packages have: the pool of the process is that of this code."""
    compiler = pytest.importorskip("trivium.targets.cpu.emit.form")
    return memoryview(compiler.compile_threads())


KERNEL = Kernel("segment_0", "cpu/scale.o", ("Mul_0", "Add_1"), ("tri.mul", "tri.add"))


def scale_manifest() -> Manifest:
    return Manifest(
        producer="test",
        source="scale.onnx",
        target="cpu",
        inputs=(Port("x", (16,), "float32", 0),),
        outputs=(Port("y", (16,), "float32", 1),),
        buffers=(
            Buffer("x", FIRST_PORT, 0, (16,), "float32"),
            Buffer("y", FIRST_PORT + 1, 0, (16,), "float32"),
            Buffer("w", 1, 0, (16,), "float32"),
            Buffer("t", 0, 0, (16,), "float32"),
        ),
        steps=(CpuStep(symbol="segment_0", nodes=("Mul_0", "Add_1"), phases=1),),
        memory=Memory(arena_bytes=64, arena_lower_bound=64, weight_bytes=64),
        parts=(CpuPart((KERNEL,), (CpuRequirements(),)),),
    )


@pytest.fixture
def manifest() -> Manifest:
    return scale_manifest()


@pytest.fixture(scope="session")
def scale(segment_object: memoryview, threads_object: memoryview) -> Package:
    """Return the package of y = x * (0, 1, ..., 15) + 1."""
    weights = np.arange(16, dtype=np.float32).tobytes()
    entries = {"weights.bin": weights, "cpu/scale.o": segment_object, CODE: threads_object}
    return Package.create(scale_manifest(), entries)


@pytest.fixture
def scale_file(scale: Package, tmp_path: Path) -> Path:
    path = tmp_path / "scale.trv"
    scale.save(path)
    return path


ODD: list[Any] = [
    None, True, -1, 0, 1, 3, 1 << 31, 1 << 63, 1 << 200, 1e300, "", "x", "int8", "\ud800",
    [], [0], [1 << 40, 1 << 40], {}, {"float": "nan"}, {"a": 1},
]  # fmt: skip


def places(document: Any) -> list[tuple[Any, Any]]:
    keys = (
        list(document)
        if isinstance(document, dict)
        else list(range(len(document)))
        if isinstance(document, list)
        else []
    )
    return [(document, key) for key in keys] + [p for key in keys for p in places(document[key])]


def forged(document: Any, seed: int) -> Any:
    """Put odd things into a document of JSON."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        parent, key = chance.choice(places(document))
        if chance.random() < 0.2:
            del parent[key]
        else:
            parent[key] = copy.deepcopy(chance.choice(ODD))
    return document


@pytest.fixture(scope="session")
def forge() -> Callable[[Any, int], Any]:
    """Return a function that puts odd things into a document of JSON."""
    return forged
