"""Call the driver of CUDA by way of ctypes; every call is checked."""

import ctypes
from ctypes import POINTER, c_char_p, c_float, c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p
from functools import cache
from typing import Any

from ..errors import RunError

LIBRARY = "libcuda.so.1"
"""The name of the driver's library on all systems."""

OUT_OF_MEMORY = 2
_NO_DEVICE = 100
_FOR_OTHERS = (200, 209, 222)  # invalid image, no binary for GPU, unsupported PTX version
_LASTING = (700, 702, 710, *range(714, 720))  # illegal address, timeout, assertion and so on

_Handle, _Address, _Stream = c_void_p, c_uint64, c_void_p
_NewHandle, _Number = POINTER(c_void_p), POINTER(c_int)

_PARAMETERS: dict[str, tuple[Any, ...]] = {
    "cuInit": (c_uint,),
    "cuDriverGetVersion": (_Number,),
    "cuDeviceGetCount": (_Number,),
    "cuDeviceGet": (_Number, c_int),
    "cuDeviceGetName": (c_char_p, c_int, c_int),
    "cuDeviceGetAttribute": (_Number, c_int, c_int),
    "cuDevicePrimaryCtxRetain": (_NewHandle, c_int),
    "cuDevicePrimaryCtxRelease_v2": (c_int,),
    "cuCtxPushCurrent_v2": (_Handle,),
    "cuCtxPopCurrent_v2": (_NewHandle,),
    "cuMemGetInfo_v2": (POINTER(c_size_t), POINTER(c_size_t)),
    "cuMemAlloc_v2": (POINTER(_Address), c_size_t),
    "cuMemFree_v2": (_Address,),
    "cuMemcpyHtoDAsync_v2": (_Address, c_void_p, c_size_t, _Stream),
    "cuMemcpyDtoHAsync_v2": (c_void_p, _Address, c_size_t, _Stream),
    "cuMemcpyDtoDAsync_v2": (_Address, _Address, c_size_t, _Stream),
    "cuMemsetD8Async": (_Address, c_ubyte, c_size_t, _Stream),
    "cuPointerGetAttribute": (c_void_p, c_int, _Address),
    "cuStreamCreate": (_NewHandle, c_uint),
    "cuStreamDestroy_v2": (_Stream,),
    "cuStreamSynchronize": (_Stream,),
    "cuStreamWaitEvent": (_Stream, _Handle, c_uint),
    "cuStreamBeginCapture_v2": (_Stream, c_int),
    "cuStreamEndCapture": (_Stream, _NewHandle),
    "cuEventCreate": (_NewHandle, c_uint),
    "cuEventRecord": (_Handle, _Stream),
    "cuEventElapsedTime": (POINTER(c_float), _Handle, _Handle),
    "cuEventDestroy_v2": (_Handle,),
    "cuGraphInstantiateWithFlags": (_NewHandle, _Handle, c_uint64),
    "cuGraphLaunch": (_Handle, _Stream),
    "cuGraphDestroy": (_Handle,),
    "cuGraphExecDestroy": (_Handle,),
    "cuModuleLoadData": (_NewHandle, c_void_p),
    "cuModuleUnload": (_Handle,),
    "cuModuleGetFunction": (_NewHandle, _Handle, c_char_p),
    "cuFuncGetAttribute": (_Number, c_int, _Handle),
    "cuFuncSetAttribute": (_Handle, c_int, c_int),
    "cuLaunchKernel": (_Handle, *[c_uint] * 7, _Stream, POINTER(c_void_p), c_void_p),
    "cuTensorMapEncodeTiled": (
        *(c_void_p, c_int, c_uint, c_void_p, POINTER(c_uint64), POINTER(c_uint64)),
        *(POINTER(c_uint), POINTER(c_uint), c_int, c_int, c_int, c_int),
    ),
    "cuGetErrorName": (c_int, POINTER(c_char_p)),
    "cuGetErrorString": (c_int, POINTER(c_char_p)),
}


class DriverError(RunError):
    """Report a call that the driver refused; `name` is that of its error."""

    def __init__(self, function: str, code: int, name: str, words: str) -> None:
        self.code = code
        self.name = name
        self.lasting = code in _LASTING
        super().__init__(f"{function.partition('_v')[0]} gave {name}: {words}")


class Driver:
    """Hold the functions of the driver."""

    def __init__(self, library: str = LIBRARY) -> None:
        """Load and start the driver; raise RunError where there is none."""
        try:
            self._library = ctypes.CDLL(library)
        except OSError:
            raise RunError(
                f"there is no driver for a GPU: '{library}' cannot be loaded; install NVIDIA's "
                "driver, or compile the model for the CPU"
            ) from None
        self._functions: dict[str, Any] = {}
        try:
            self.call("cuInit", 0)
        except DriverError as error:
            if error.code == _NO_DEVICE:
                raise no_device() from None
            raise RunError(f"the driver of the GPU does not start: {error}") from None
        self.version = self.number("cuDriverGetVersion")

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function; raise DriverError where it reports an error."""
        if code := self.function(name)(*arguments):
            raise self.error(name, code)

    def function(self, name: str) -> Any:
        """Return a function that is not checked: it returns a code for `error`, or 0."""
        if name not in self._functions:
            self._functions[name] = self._find(name)
        return self._functions[name]

    def number(self, name: str, *arguments: Any) -> int:
        """Call a function that returns a number through its first parameter."""
        value = c_int()
        self.call(name, ctypes.byref(value), *arguments)
        return value.value

    def handle(self, name: str, *arguments: Any) -> c_void_p:
        """Call a function that returns a handle through its first parameter."""
        value = c_void_p()
        self.call(name, ctypes.byref(value), *arguments)
        return value

    def error(self, function: str, code: int) -> DriverError:
        """Return the error for the return code of a function."""
        name, words = self._spell("cuGetErrorName", code), self._spell("cuGetErrorString", code)
        if code in _FOR_OTHERS:
            words += "; update the driver, or compile the model again for this GPU"
        if code in _LASTING:
            words += "; what the process has on the GPU is lost: start it again"
        return DriverError(function, code, name or f"error {code}", words or "nobody knows why")

    def _find(self, name: str) -> Any:
        try:
            function = getattr(self._library, name)
        except AttributeError:
            raise RunError(
                f"the driver of the GPU has no '{name}': update it, CUDA 12.0 is the least"
            ) from None
        function.argtypes = _PARAMETERS[name]
        function.restype = c_int
        return function

    def _spell(self, function: str, code: int) -> str:
        words = c_char_p()
        self.function(function)(code, ctypes.byref(words))
        return (words.value or b"").decode(errors="replace")


def no_device() -> RunError:
    """Return the error for a machine without a GPU."""
    return RunError("there is no GPU that the driver can use: compile the model for the CPU")


@cache
def open_driver(library: str, process: int) -> Driver:
    """Return the driver of a process; a forked process must not use that of its parent."""
    return Driver(library)


def spell_version(version: int) -> str:
    """Spell a version of CUDA as the driver numbers it: 12040 is 12.4."""
    return f"{version // 1000}.{version % 1000 // 10}"
