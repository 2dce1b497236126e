"""What Triton compiles is what the runtime loads: the code, its parameters and their sizes."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trivium.runtime.errors import PackageError
from trivium.runtime.gpu.code import GpuCode, GpuKernel
from trivium.runtime.gpu.kernels import bind
from trivium.runtime.gpu.space import GpuMemory
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.test.unit.runtime.gpu.conftest import (
    ADD,
    COMPUTE,
    DOWNLOAD,
    SHAPE,
    UPLOAD,
    code,
    package,
)
from trivium.test.unit.runtime.gpu.stand_in import StandIn

triton = pytest.importorskip("triton")

SOURCE = """
import triton
import triton.language as tl

@triton.jit
def add_block(x, w, y, BM: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    at = rows * 8 + tl.arange(0, 4)[None, :]
    block = w.load([tl.program_id(0) * BM, 0])
    tl.store(y + at, tl.load(x + at) + block)
"""

# ".param .u64 .ptr .global .align 1 f_param_0", ".param .align 64 .b8 f_param_1[128]"
PARAMETER = r"\.param (?:\.align \d+ )?\.(\w+)[^,\[]*(?:\[(\d+)\])?"
SIZES = {"u64": 8, "s64": 8, "b64": 8, "u32": 4, "b32": 4, "s32": 4}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a kernel with a pointer, a tensor map and a pointer, for sm_90."""
    from importlib.util import module_from_spec, spec_from_file_location

    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    path: Path = tmp_path_factory.mktemp("triton") / "add_block.py"
    path.write_text(SOURCE)
    spec = spec_from_file_location("add_block", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    signature = {"x": "*fp32", "w": "tensordesc<fp32[2, 4]>", "y": "*fp32", "BM": "constexpr"}
    aligned: dict[Any, Any] = {(i,): [["tt.divisibility", 16]] for i in (0, 2)}
    source = ASTSource(module.add_block, signature, {"BM": 2}, aligned)
    options = {"num_warps": 4, "enable_fp_fusion": True}
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)


@pytest.fixture
def made(compiled: Any) -> Package:
    """Return a package with that kernel in place of the one that adds."""
    layer = code("sm_90")
    (meta,) = compiled.metadata.tensordesc_meta
    pointer, tensor_map, result = layer.kernels[0].parameters
    tensor_map = replace(tensor_map, block=tuple(meta["block_size"]), swizzle=meta["swizzle"])
    kernel = GpuKernel(
        "add",
        "gpu/sm_90/add.cubin",
        compiled.metadata.name,
        (2, 1, 1),
        compiled.metadata.num_warps,
        compiled.metadata.shared,
        parameters=(pointer, tensor_map, result),
    )
    gpu = GpuCode("sm_90", (kernel, layer.kernels[1]))
    plain = package(codes=(gpu,), steps=(UPLOAD, replace(COMPUTE, launches=(ADD,)), DOWNLOAD))
    return Package.create(plain.manifest, {**plain.entries, kernel.entry: compiled.asm["cubin"]})


def test_the_arguments_are_those_of_the_code(compiled: Any, made: Package, stand_in: StandIn):
    """Triton's assembly lists what the code takes, in order, with its sizes."""
    head = compiled.asm["ptx"].partition(".entry")[2].partition(")")[0]
    wanted = [
        int(array) if array else SIZES[kind]
        for kind, array in re.findall(
            r"\.param (?:\.align \d+ )?\.(\w+)[^,\[]*(?:\[(\d+)\])?", head
        )
    ]
    with Session(made, device=stand_in.device()) as session:
        memory = session._program.spaces["gpu"]
        assert isinstance(memory, GpuMemory)
        address = memory.weights.address
        launch = bind(memory.device, ADD, memory.kernels([ADD])["add"], lambda _: address)
        values = [bytes(memoryview(value)) for value in launch.values]
        del launch, memory
    assert [len(value) for value in values] == wanted == [8, 128, 4, 4, 8, 8, 8, 8, 8]
    shape = [int.from_bytes(value, "little") for value in values[2:4]]
    assert (tuple(shape), values[-2:]) == (SHAPE, [bytes(8)] * 2)


def test_the_code_is_loaded_and_launched(made: Package, stand_in: StandIn, compiled: Any):
    def add(x: np.ndarray, w: np.ndarray, y: np.ndarray) -> None:
        np.add(x, w, out=y)

    stand_in.execute(made, {"add": add, "relu": add})
    x = np.linspace(-1, 1, 32, dtype=np.float32).reshape(SHAPE)
    with Session(made, device=stand_in.device()) as session:
        session(x)
        assert stand_in.runs == [compiled.metadata.name]
    (launch, _) = stand_in.records("cuLaunchKernel")
    assert (launch["block"], launch["shared"]) == (128, compiled.metadata.shared)


def test_code_that_is_cut_off_is_not_loaded(made: Package, stand_in: StandIn):
    name = "gpu/sm_90/add.cubin"
    for size in (64, 1000, len(made.entries[name]) // 2):
        cut = Package.create(made.manifest, {**made.entries, name: made.entries[name][:size]})
        with pytest.raises(PackageError, match="is truncated") as caught:
            Session(cut, device=stand_in.device())
        caught.value.__traceback__ = None
