"""Small packages for a GPU, and what their kernels do."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from trivium.runtime.contents import FIRST_PORT, Buffer, Memory, MemorySpace, Port
from trivium.runtime.copy.step import CopyStep
from trivium.runtime.errors import PackageError, RunError
from trivium.runtime.gpu.code import GpuCode, GpuKernel, GpuParameter, Launch
from trivium.runtime.gpu.part import GpuPart
from trivium.runtime.gpu.step import GpuStep
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.runtime.step import Step
from trivium.test.unit.runtime.gpu.stand_in import StandIn, tiny_cubin

SHAPE = (4, 8)
SIZE = 4 * 8 * 4
WEIGHTS = np.arange(32, dtype=np.float32).reshape(SHAPE) - 16

KERNELS: dict[str, Callable[..., Any]] = {
    "add": lambda x, w, y: np.add(x, w, out=y),
    "relu": lambda x, y: np.maximum(x, 0, out=y),
}


def buffer(name: str, base: int, offset: int = 0) -> Buffer:
    return Buffer(name, base, offset, SHAPE, "float32")


def pointer(index: int) -> GpuParameter:
    return GpuParameter("pointer", index, SHAPE, (8, 1), "float32")


# The bases after those of one input and one output.
DEVICE_ARENA, DEVICE_WEIGHTS = FIRST_PORT + 2, FIRST_PORT + 3

# Numbers of buffers.
X, Y, DEVICE_X, W, SUM, DEVICE_Y = range(6)

BUFFERS = (
    buffer("x", FIRST_PORT),
    buffer("y", FIRST_PORT + 1),
    buffer("x", DEVICE_ARENA),
    buffer("w", DEVICE_WEIGHTS),
    buffer("sum", DEVICE_ARENA, SIZE),
    buffer("y", DEVICE_ARENA, 2 * SIZE),
)

UPLOAD = CopyStep(operands=(X,), results=(DEVICE_X,))
DOWNLOAD = CopyStep(operands=(DEVICE_Y,), results=(Y,))
ADD = Launch("add", (DEVICE_X, W, SUM), ("Add_0",))
RELU = Launch("relu", (SUM, DEVICE_Y), ("Relu_1",))
COMPUTE = GpuStep(launches=(ADD, RELU), nodes=("Add_0", "Relu_1"))


def code(architecture: str, shared: int = 60000, **change: Any) -> GpuCode:
    """Return kernels for add, by way of a tensor map, and for relu."""
    block = GpuParameter("tensor_map", 1, SHAPE, (8, 1), "float32", (2, 4), 1)
    entry = f"gpu/{architecture}/both.cubin"
    parameters = (pointer(0), block, pointer(2))
    add = GpuKernel("add", entry, "add_kernel", (2, 1, 1), 4, 0, parameters=parameters)
    parameters = (pointer(0), pointer(1))
    relu = GpuKernel("relu", entry, "relu_kernel", (3, 2, 1), 8, shared, parameters=parameters)
    return GpuCode(architecture, (add, relu), **change)


def package(
    steps: Sequence[Step] = (UPLOAD, COMPUTE, DOWNLOAD),
    codes: Sequence[GpuCode] = (code("sm_90"),),
    weights: np.ndarray = WEIGHTS,
    **change: Any,
) -> Package:
    """Return the package of y = relu(x + w)."""
    manifest = Manifest(
        producer="test",
        source="layer.onnx",
        target="gpu",
        inputs=(Port("x", SHAPE, "float32", X),),
        outputs=(Port("y", SHAPE, "float32", Y),),
        buffers=BUFFERS,
        steps=tuple(steps),
        memory=Memory(SIZE, 0, 0),
        spaces=(MemorySpace("gpu", 3 * SIZE, 3 * SIZE, SIZE),),
        parts=(GpuPart(tuple(codes)),),
    )
    cubins = {k.entry: tiny_cubin("add_kernel", "relu_kernel") for c in codes for k in c.kernels}
    entries = {"gpu/weights.bin": weights.tobytes(), **cubins}
    return Package.create(replace(manifest, **change), entries)


@pytest.fixture
def layer(stand_in: StandIn) -> Package:
    made = package()
    stand_in.execute(made, KERNELS)
    return made


@pytest.fixture
def session(stand_in: StandIn, layer: Package) -> Iterator[Session]:
    with Session(layer, device=stand_in.device()) as session:
        yield session


def expected(x: np.ndarray, w: np.ndarray = WEIGHTS) -> np.ndarray:
    return np.maximum(x + w, 0)


def refusal(make: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises((RunError, PackageError)) as caught:
        make(*arguments, **named)
    text = str(caught.value)
    # Frames of the error keep what is on the device.
    caught.value.__traceback__ = None
    assert "\n" not in text
    return text
