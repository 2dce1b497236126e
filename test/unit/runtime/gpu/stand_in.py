"""Run packages for a GPU on a machine without one.

`StandIn` loads a driver that is made of C (cuda_stand_in.c) and checks what is asked of it. Kernels
are what a test says they are: functions in Python on arrays in the memory of the "device".

    stand_in = StandIn(folder, library)
    stand_in.execute(package, {"add": lambda x, w, y: np.add(x, w, y)})
    session = Session(package, device=stand_in.device())

Before runs of a package with symbols, `stand_in.sizes` gets their values, which kernels must get.
"""

import ctypes
import json
import shutil
import struct
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from trivium.runtime.dtypes import resolve
from trivium.runtime.gpu.code import GpuKernel, GpuParameter
from trivium.runtime.gpu.device import Device
from trivium.runtime.gpu.part import GpuPart
from trivium.runtime.gpu.tensor_map import MAP_DTYPES
from trivium.runtime.package import Package
from trivium.runtime.sizes.fields import with_sizes

SOURCE = Path(__file__).with_name("cuda_stand_in.c")

Array = NDArray[Any]


@dataclass(frozen=True)
class Run:
    """Describe one run of a kernel: its arrays are in the order of its parameters."""

    kernel: GpuKernel
    arrays: tuple[Array, ...]
    grid: tuple[int, ...]


Executor = Callable[[Run], None]

_Callback = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_char_p,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_uint32),
)


def build(folder: Path) -> Path:
    """Compile the driver."""
    path = folder / "libcuda.so.1"
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-O1", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-pthread", "-o", path, SOURCE], check=True)
    return path


class StandIn:
    """Hold one driver, with a state of its own."""

    def __init__(self, folder: Path, library: Path, words: str = "") -> None:
        """Load a copy of `library` in `folder`; `words` are for `stand_in_configure`."""
        self.path = folder / "libcuda.so.1"
        self.log = folder / "calls.jsonl"
        shutil.copy(library, self.path)
        self.library = ctypes.CDLL(str(self.path))
        self.configure(f"log={self.log} {words}")
        self.errors: list[Exception] = []
        self.sizes: dict[str, int] = {}
        self._kernels: dict[tuple[bytes, str], tuple[GpuKernel, Executor]] = {}
        self._callback = _Callback(self._run)
        self.library.stand_in_set_callback(self._callback)

    def configure(self, words: str) -> None:
        """Change how it behaves: `memory=1000 driver=12000 fail=cuMemAlloc_v2:2:2`."""
        self.library.stand_in_configure(words.encode())

    def device(self, ordinal: int = 0) -> Device:
        """Return one of its GPUs, for `Session` and `load`."""
        return Device.open(ordinal, library=str(self.path))

    @property
    def live(self) -> int:
        """Return how many things are not freed: memory, streams, modules, contexts and others."""
        return self.library.stand_in_live()

    @property
    def misuses(self) -> list[str]:
        """Return what no caller may do, yet was done."""
        return [f"{r['function']}: {r['misuse']}" for r in self.records() if "misuse" in r]

    def records(self, *calls: str) -> list[dict[str, Any]]:
        """Return what happened; only certain calls if they are named."""
        if not self.log.exists():
            return []
        records = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [r for r in records if r.get("call") in calls] if calls else records

    @property
    def runs(self) -> list[str]:
        """Return the kernels that ran, in order, by the names of their functions."""
        return [record["run"] for record in self.records() if "run" in record]

    def spend(self, microseconds: float) -> None:
        """Let time pass, as events tell it; kernels call it for the time that they take."""
        self.library.stand_in_spend(ctypes.c_double(microseconds))

    def execute(
        self, package: Package, kernels: Mapping[str, Callable[..., object]] | Executor
    ) -> None:
        """Say what the kernels of a package do: functions of arrays, by symbol; or one for all."""
        for code in package.manifest.part(GpuPart).codes:
            for kernel in (*code.kernels, *code.candidates):
                executor = kernels if callable(kernels) else _applied(kernels[kernel.symbol])
                image = _image(package.entries[kernel.entry])
                self._kernels[image, kernel.function] = kernel, executor
                listed = [*map(_spell, kernel.parameters), *("i" for _ in kernel.sizes)]
                words = " ".join(listed).encode()
                function = kernel.function.encode()
                self.library.stand_in_describe(image, ctypes.c_size_t(len(image)), function, words)

    def _run(self, image: int, size: int, function: bytes, arguments: Any, grid: Any) -> None:
        try:
            kernel, execute = self._kernels[ctypes.string_at(image, size), function.decode()]
            kernel = with_sizes(kernel, lambda text: eval(text, {"max": max}, self.sizes))
            arrays: list[Array] = []
            at = 0
            for parameter in kernel.parameters:
                arrays.append(_array(parameter, arguments[at]))
                at += 1 if parameter.kind == "pointer" else 1 + 2 * len(parameter.shape)
            places = range(at, at + len(kernel.sizes))
            given = [ctypes.c_int32.from_address(arguments[i]).value for i in places]
            assert (*given, *grid[:3]) == (*kernel.sizes, *kernel.grid)
            execute(Run(kernel, tuple(arrays), tuple(grid[:3])))
        except Exception as error:  # nothing may be raised through C
            self.errors.append(error)


def _applied(function: Callable[..., object]) -> Executor:
    def execute(run: Run) -> None:
        function(*run.arrays)

    return execute


def _spell(parameter: GpuParameter) -> str:
    if parameter.kind == "tensor_map":
        return f"t{len(parameter.shape)}"
    if any(isinstance(size, str) for size in (*parameter.shape, *parameter.strides)):
        return "p0"
    return f"p{_extent(parameter)}"


def _extent(parameter: GpuParameter) -> int:
    if not parameter.dtype or 0 in parameter.shape:
        return 0
    steps = zip(parameter.shape, parameter.strides, strict=True)
    return (1 + sum((n - 1) * s for n, s in steps)) * resolve(parameter.dtype).itemsize


def _array(parameter: GpuParameter, argument: int) -> Array:
    """Return the array that an argument points to, in place; bytes where nothing is known of it."""
    address = ctypes.c_uint64.from_address(argument).value
    if parameter.kind == "tensor_map":
        _check_map(parameter, argument)
    if not parameter.dtype:
        return np.frombuffer((ctypes.c_ubyte * 0).from_address(address), np.uint8)
    dtype = resolve(parameter.dtype)
    block = (ctypes.c_ubyte * _extent(parameter)).from_address(address)
    strides = tuple(stride * dtype.itemsize for stride in parameter.strides)
    return np.ndarray(parameter.shape, dtype, memoryview(block).cast("B"), 0, strides)


def _check_map(parameter: GpuParameter, argument: int) -> None:
    """Compare what the driver was told with the manifest; axes are from the innermost there."""
    rank, dtype, *rest = struct.unpack_from("<2I9Q5HB", ctypes.string_at(argument + 8, 128 - 8))
    width = resolve(parameter.dtype).itemsize
    found = (dtype, rest[:rank], rest[5 : 4 + rank], rest[9 : 9 + rank], rest[14])
    shape, block = list(parameter.shape[::-1]), list(parameter.block[::-1])
    strides = [stride * width for stride in parameter.strides[-2::-1]]
    assert found == (MAP_DTYPES[parameter.dtype], shape, strides, block, parameter.swizzle)


def _image(data: memoryview) -> bytes:
    """Return as much of a cubin as the driver looks at."""
    (start,), (size, count) = (
        struct.unpack_from("<Q", data, 40),
        struct.unpack_from("<2H", data, 58),
    )
    return bytes(data[: start + size * count])


def tiny_cubin(*functions: str) -> bytes:
    """Return an ELF file that names functions, and has no code."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in functions)
    names += bytes(-len(names) % 8)
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    sections = 64 + len(names)
    header = struct.pack("<2HI3QI6H", 2, 190, 1, 0, 0, sections, 0, 64, 0, 0, 64, 2, 1)
    strings = struct.pack("<2I4Q2I2Q", 0, 3, 0, 0, 64, len(names), 0, 0, 1, 0)
    return identity + header + names + bytes(64) + strings
