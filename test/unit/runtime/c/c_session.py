"""Sessions of libtrivium in Python, by ctypes: as a program in C would have them."""

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from trivium.runtime.dtypes import resolve

Array = NDArray[Any]


class Error(ctypes.Structure):
    """`trivium_error`."""

    _fields_ = (("status", ctypes.c_int), ("text", ctypes.c_char * 500))


class Port(ctypes.Structure):
    """`trivium_port`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("dtype", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_size_t),
        ("item_bytes", ctypes.c_size_t),
        ("size_bytes", ctypes.c_size_t),
    )


class Refused(Exception):
    """What libtrivium refuses: a status, and a text."""


def load(folder: Path) -> ctypes.CDLL:
    """Load the library of a folder."""
    library = ctypes.CDLL(str(folder / "libtrivium.so"))
    for kind in ("input", "output"):
        count, port = f"trivium_{kind}_count", f"trivium_{kind}"
        getattr(library, count).restype = ctypes.c_size_t
        getattr(library, count).argtypes = (ctypes.c_void_p,)
        getattr(library, port).restype = ctypes.POINTER(Port)
        getattr(library, port).argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    for name in ("trivium_close", "trivium_session_free"):
        getattr(library, name).restype = None
        getattr(library, name).argtypes = (ctypes.c_void_p,)
    return library


def checked(error: Error, status: int) -> None:
    assert status == error.status
    if status:
        raise Refused(status, error.text.decode("ascii"))


class CPackage:
    """A package that libtrivium has opened."""

    def __init__(self, library: ctypes.CDLL, path: Path) -> None:
        self.library = library
        self.handle = ctypes.c_void_p()
        error = Error()
        path_of = ctypes.c_char_p(str(path).encode())
        status = library.trivium_open(path_of, ctypes.byref(self.handle), ctypes.byref(error))
        assert bool(self.handle) == (status == 0)
        checked(error, status)
        self.inputs, self.outputs = self._ports("input"), self._ports("output")

    def _ports(self, kind: str) -> list[Port]:
        count = getattr(self.library, f"trivium_{kind}_count")(self.handle)
        port = getattr(self.library, f"trivium_{kind}")
        assert not port(self.handle, count)
        return [port(self.handle, number).contents for number in range(count)]

    def close(self) -> None:
        self.library.trivium_close(self.handle)


class CSession:
    """A session of such a package."""

    def __init__(self, package: CPackage, threads: int = 1) -> None:
        self.package, self.library = package, package.library
        self.handle = ctypes.c_void_p()
        error = Error()
        status = self.library.trivium_session_create(
            package.handle, threads, ctypes.byref(self.handle), ctypes.byref(error)
        )
        checked(error, status)

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        given = [np.ascontiguousarray(feeds[port.name.decode()]) for port in self.package.inputs]
        for port, array in zip(self.package.inputs, given, strict=True):
            assert (array.nbytes, array.dtype.name) == (port.size_bytes, port.dtype.decode())
        made = [empty(port) for port in self.package.outputs]
        self.run_arrays(given, made)
        names = [port.name.decode() for port in self.package.outputs]
        return dict(zip(names, made, strict=True))

    def run_arrays(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        error = Error()
        tables = (pointers([a.ctypes.data for a in each]) for each in (inputs, outputs))
        status = self.library.trivium_session_run(self.handle, *tables, ctypes.byref(error))
        checked(error, status)

    def close(self) -> None:
        self.library.trivium_session_free(self.handle)


def pointers(addresses: Sequence[int]) -> Any:
    return (ctypes.c_void_p * len(addresses))(*addresses)


def empty(port: Port) -> Array:
    """Return an array for an output, with bytes that a run must replace."""
    shape = tuple(port.shape[: port.rank])
    made = np.empty(shape, resolve(port.dtype.decode()))
    made.reshape(-1).view(np.uint8)[...] = 0xA5
    return made
