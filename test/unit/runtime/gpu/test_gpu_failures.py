"""Sessions on a GPU where calls fail, and packages that the GPU cannot run."""

import ctypes
import gc
from typing import Any

import numpy as np
import pytest
from trivium.runtime.errors import RunError
from trivium.runtime.gpu.device import Device
from trivium.runtime.gpu.space import GpuMemory
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.test.unit.runtime.gpu.conftest import (
    KERNELS,
    SHAPE,
    SIZE,
    code,
    expected,
    package,
    refusal,
)
from trivium.test.unit.runtime.gpu.stand_in import Run, StandIn, tiny_cubin

x = np.linspace(-20, 20, 32, dtype=np.float32).reshape(SHAPE)


def test_every_call_that_fails_is_one_line_and_leaves_nothing(
    stand_in: StandIn, layer: Package, stand_in_library: Any, tmp_path: Any
):
    """Let each call of each function fail, one at a time."""
    functions = (
        *("cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName"),
        *("cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2"),
        *("cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuStreamCreate"),
        *("cuStreamSynchronize", "cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuEventCreate"),
        *("cuGraphInstantiateWithFlags", "cuGraphLaunch", "cuModuleLoadData"),
        *("cuModuleGetFunction", "cuFuncGetAttribute", "cuFuncSetAttribute", "cuLaunchKernel"),
        *("cuTensorMapEncodeTiled", "cuGraphDestroy"),
    )
    for function in functions:
        failed = 0
        for nth in range(1, 60):
            folder = tmp_path / f"{function}{nth}"
            folder.mkdir()
            driver = StandIn(folder, stand_in_library, f"fail={function}:{nth}:2")
            driver.execute(layer, KERNELS)
            message = attempt(layer, driver)
            gc.collect()
            if not message:
                break
            failed += 1
            assert "\n" not in message
            # A graph that could not be destroyed is still there, and what could not be recorded.
            if function not in ("cuGraphDestroy", "cuStreamEndCapture", "cuCtxPushCurrent_v2"):
                assert (driver.live, driver.misuses) == (0, []), (function, nth, message)
        assert failed, function


def attempt(made: Package, driver: StandIn) -> str:
    try:
        with Session(made, device=driver.device()) as session:
            for k in (1, 2):
                np.testing.assert_array_equal(session(k * x), expected(k * x))
    except RunError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("free", "message"),
    [
        (SIZE - 1, f"the package for its weights needs {SIZE} bytes, {SIZE - 1} of {SIZE - 1} are"),
        (4 * SIZE - 1, f"a session for its activations needs {3 * SIZE} bytes, {3 * SIZE - 1} of"),
    ],
)
def test_too_little_memory_is_said_with_what_is_free(
    stand_in: StandIn, layer: Package, free: int, message: str
):
    stand_in.configure(f"memory={free}")
    text = refusal(Session, layer, device=stand_in.device())
    assert text.startswith("the GPU has too little memory: ")
    assert message in text


@pytest.mark.parametrize(
    ("device", "codes", "chosen"),
    [
        (90, ("sm_80", "sm_90"), "sm_90"),
        (80, ("sm_80", "sm_90"), "sm_80"),
        (89, ("sm_80", "sm_86", "sm_90"), "sm_86"),
        (86, ("sm_86", "sm_80"), "sm_86"),
        (75, ("sm_80", "sm_90"), None),
        (80, ("sm_86",), None),
        (90, ("sm_80",), None),
        (100, ("sm_90",), None),
        (103, ("sm_100",), None),
        (120, ("sm_100", "sm_120"), "sm_120"),
    ],
)
def test_the_code_for_the_architecture_is_chosen(
    stand_in: StandIn, device: int, codes: tuple[str, ...], chosen: str | None
):
    stand_in.configure(f"architecture={device}")
    made = package(codes=[code(name) for name in codes])
    if chosen is None:
        assert refusal(Session, made, device=stand_in.device()) == (
            f"the package has code for {' and '.join(codes)}, the GPU (Stand-in 0) is sm_{device}: "
            f"compile the model again with --target gpu:sm_{device}"
        )
        return
    stand_in.execute(made, KERNELS)
    with Session(made, device=stand_in.device()) as session:
        memory = session._program.spaces["gpu"]
        assert isinstance(memory, GpuMemory)
        assert memory.code.architecture == chosen


def test_an_old_driver_is_refused(stand_in: StandIn):
    stand_in.configure("driver=12040")
    made = package(codes=[code("sm_90", driver=13000)])
    assert refusal(Session, made, device=stand_in.device()) == (
        "the package needs a driver for CUDA 13.0, this one is for CUDA 12.4: update the driver of "
        "the GPU"
    )
    stand_in.configure("driver=13000")


@pytest.mark.parametrize(("error", "name"), [(209, "NO_BINARY_FOR_GPU"), (222, "UNSUPPORTED_PTX")])
def test_code_that_the_driver_does_not_know_says_what_to_do(
    stand_in: StandIn, layer: Package, error: int, name: str
):
    stand_in.configure(f"fail=cuModuleLoadData:1:{error}")
    message = refusal(Session, layer, device=stand_in.device())
    assert message.startswith(f"cuModuleLoadData gave CUDA_ERROR_{name}")
    assert message.endswith("update the driver, or compile the model again for this GPU")


def test_a_machine_without_a_gpu_is_refused(stand_in: StandIn):
    assert refusal(Device.open, 0, "libcuda.so.none") == (
        "there is no driver for a GPU: 'libcuda.so.none' cannot be loaded; install "
        "NVIDIA's driver, or compile the model for the CPU"
    )
    stand_in.configure("devices=0")
    message = "there is no GPU that the driver can use: compile the model for the CPU"
    assert refusal(stand_in.device) == message


def test_a_device_that_is_not_there_is_refused(stand_in: StandIn, layer: Package):
    stand_in.configure("devices=2")
    assert refusal(stand_in.device, 2) == "device is 2, must be below 2, the number of GPUs"
    assert refusal(stand_in.device, -1).startswith("device is -1, must be below 2")
    for odd in (True, "0", None, 1.0):
        wanted = f"device is {odd!r}, must be the number of a GPU"
        assert refusal(Session, layer, device=odd) == wanted


def test_a_package_runs_on_the_device_that_was_asked_for(stand_in: StandIn, layer: Package):
    stand_in.configure("devices=2")
    with Session(layer, device=stand_in.device(1)) as session:
        np.testing.assert_array_equal(session(x), expected(x))
        assert session.device is not None
        assert session.device.ordinal == 1
    assert [r["device"] for r in stand_in.records("cuDevicePrimaryCtxRetain")] == [1]


def test_a_kernel_that_fails_first_is_named(tmp_path: Any, stand_in_library: Any):
    driver = StandIn(tmp_path, stand_in_library, "fail=kernel.relu_kernel:1:700")
    assert attempt(package(), driver) == (
        "kernel 'relu' of Relu_1 failed: cuStreamSynchronize gave CUDA_ERROR_ILLEGAL_ADDRESS: an "
        "illegal memory access was encountered; what the process has on the GPU is lost: start it "
        "again"
    )
    assert driver.misuses == []


def test_a_kernel_that_fails_later_is_said_so(tmp_path: Any, stand_in_library: Any):
    driver = StandIn(tmp_path, stand_in_library, "fail=kernel.relu_kernel:2:719")
    made = package()
    driver.execute(made, KERNELS)
    message = attempt(made, driver)
    assert message == (
        "a kernel of the package failed: cuMemcpyDtoHAsync gave CUDA_ERROR_LAUNCH_FAILED: "
        "unspecified launch failure; what the process has on the GPU is lost: start it again"
    )
    # Another try says what the driver says, and nothing hangs.
    assert "CUDA_ERROR_LAUNCH_FAILED" in attempt(made, driver)


def test_a_launch_that_is_refused_is_named(stand_in: StandIn):
    stand_in.configure("fail=cuLaunchKernel:2:1")
    message = attempt(package(), stand_in)
    wanted = "kernel 'relu' of Relu_1 cannot be launched: cuLaunchKernel gave CUDA_ERROR_INVALID"
    assert message.startswith(wanted)


def test_limits_of_the_gpu_are_checked(stand_in: StandIn):
    stand_in.configure("shared=50000")
    assert refusal(Session, package(), device=stand_in.device()) == (
        "kernel 'relu' of Relu_1 needs 60000 bytes of shared memory, the GPU (Stand-in 0) has "
        "50000: compile the model again on a machine with this GPU"
    )


@pytest.mark.parametrize(
    ("cubin", "message"),
    [
        (b"", "is not code for a GPU"),
        (b".version 8.4\n.target sm_90", "is not code for a GPU"),
        (tiny_cubin("add_kernel")[:-1], "is truncated: it has"),
        (tiny_cubin("add_kernel")[:40], "is not code for a GPU"),
    ],
)
def test_what_is_no_code_is_not_given_to_the_driver(stand_in: StandIn, cubin: bytes, message: str):
    made = package()
    name = "gpu/sm_90/both.cubin"
    made = Package.create(made.manifest, {**made.entries, name: cubin})
    text = refusal(Session, made, device=stand_in.device())
    assert text.startswith(f"entry '{name}' {message}")
    assert not stand_in.records("cuModuleLoadData")


def test_a_kernel_that_its_code_lacks_is_an_error(stand_in: StandIn):
    made = package()
    cubin = tiny_cubin("add_kernel")
    made = Package.create(made.manifest, {**made.entries, "gpu/sm_90/both.cubin": cubin})
    message = refusal(Session, made, device=stand_in.device())
    assert message == "cuModuleGetFunction gave CUDA_ERROR_NOT_FOUND: named symbol not found"


def test_a_kernel_that_writes_out_of_bounds_shows(tmp_path: Any, stand_in_library: Any):
    """The stand-in looks at what is around memory when it is freed."""
    driver = StandIn(tmp_path, stand_in_library)
    made = package()

    def spill(run: Run) -> None:
        end = run.arrays[-1].ctypes.data + SIZE
        (ctypes.c_float * 1).from_address(end)[0] = 1

    driver.execute(made, spill)
    with Session(made, device=driver.device()) as session:
        session(x)
    gc.collect()
    assert "memory was written out of bounds" in driver.misuses[0]
