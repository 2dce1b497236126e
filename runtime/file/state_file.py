"""Write and read the values of a session's state: a file of numpy's, `.npz`, without pickle.

`ports` in it is a list in JSON of name, type and shape; the values are `0`, `1` and so on, in that
order, as bytes where numpy alone does not have the type.
"""

import json
import math
import os
import struct
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from operator import eq
from typing import IO, Any, BinaryIO, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import RunError
from ..slots import Slot
from .atomic_file import atomic_file
from .file_bytes import path_of

StateFile: TypeAlias = str | os.PathLike[str] | IO[bytes]

_PORTS = "ports"
_FIRST_OF_1980 = (1980, 1, 1, 0, 0, 0)
_MOST_PORT_BYTES = 1 << 24

# What zipfile, json and the reader of numpy's headers raise for a file that is none of theirs.
_FAULTS = (
    *(zipfile.BadZipFile, struct.error, EOFError, LookupError, ValueError, TypeError),
    *(ArithmeticError, MemoryError, RuntimeError, SyntaxError),
)


def write_state(file: StateFile, slots: Sequence[Slot], values: Mapping[str, NDArray[Any]]) -> None:
    """Write the value of each slot; equal values make equal bytes. Raise RunError."""
    arrays = [values[slot.name] for slot in slots]
    ports = [_describe(slot, array.shape) for slot, array in zip(slots, arrays, strict=True)]
    text = json.dumps(ports).encode()
    try:
        with _opened_to_write(file) as opened, zipfile.ZipFile(opened, "w") as archive:
            _write(archive, _PORTS, np.frombuffer(text, np.uint8))
            for i, array in enumerate(arrays):
                _write(archive, str(i), array if _is_numpy(array.dtype) else _bytes_of(array))
    except OSError as error:
        raise RunError(f"{_spell(file)}: cannot be written: {_reason(error)}") from None


def read_state(file: StateFile, slots: Sequence[Slot]) -> dict[str, NDArray[Any]]:
    """Return the value of each slot; raise RunError for a file that does not fit them."""
    try:
        with _opened_to_read(file) as opened, zipfile.ZipFile(opened) as archive:
            shapes = _shapes(archive, slots)
            return {
                slot.name: _read(archive, str(i), slot, shapes[i]) for i, slot in enumerate(slots)
            }
    except RunError as error:
        raise RunError(f"{_spell(file)}: {error}") from None
    except OSError as error:
        raise RunError(f"{_spell(file)}: cannot be read: {_reason(error)}") from None
    except _FAULTS as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise RunError(f"{_spell(file)}: is not the state of a session: {reason}") from None


def _write(archive: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    entry = zipfile.ZipInfo(f"{name}.npy", _FIRST_OF_1980)
    with archive.open(entry, "w", force_zip64=True) as file:
        np.lib.format.write_array(cast("BinaryIO", file), array, allow_pickle=False)


def _shapes(archive: zipfile.ZipFile, slots: Sequence[Slot]) -> list[tuple[int, ...]]:
    """Compare the list of ports with those of the session; return the shapes of the values."""
    with _open(archive, _PORTS) as file:
        shape, _ = _header(file)
        size = math.prod(shape)
        if not 0 <= size <= _MOST_PORT_BYTES:
            raise ValueError(f"its list of ports has {size} bytes")
        ports = json.loads(file.read(size))
    if not isinstance(ports, list) or not all(map(_is_port, cast("list[object]", ports))):
        raise ValueError("its list of ports is none")
    found, wanted = cast("list[dict[str, Any]]", ports), [_describe(s, s.shape) for s in slots]
    if len(found) != len(wanted) or not all(map(_fits, found, wanted)):
        spelled = ", ".join(map(_spell_port, found)) or "nothing"
        raise RunError(f"has {spelled}, must have {', '.join(map(_spell_port, wanted))}")
    return [tuple(port["shape"]) for port in found]


def _read(archive: zipfile.ZipFile, name: str, slot: Slot, shape: tuple[int, ...]) -> NDArray[Any]:
    size = math.prod(shape) * slot.dtype.itemsize
    stored = (shape, slot.dtype) if _is_numpy(slot.dtype) else ((size,), np.dtype(np.uint8))
    with _open(archive, name) as file:
        found = _header(file)
        if found != stored:
            raise ValueError(f"'{slot.name}' is {found[1]}{list(found[0])}")
        data = file.read(size + 1)
    if len(data) != size:
        raise ValueError(f"'{slot.name}' has {len(data)} bytes, must have {size}")
    array = np.empty(shape, slot.dtype)
    _bytes_of(array)[:] = np.frombuffer(data, np.uint8)
    return array


def _open(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    entry = archive.getinfo(f"{name}.npy")
    if entry.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"'{entry.filename}' is compressed")
    return archive.open(entry)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read the header of an array, which must be in C order and of version 1."""
    stream = cast("BinaryIO", file)
    if (version := np.lib.format.read_magic(stream)) != (1, 0):
        raise ValueError(f"an array in it has version {version}")
    shape, in_columns, dtype = np.lib.format.read_array_header_1_0(stream)
    if in_columns:
        raise ValueError("an array in it is in Fortran's order")
    return shape, dtype


def _bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)


def _is_numpy(dtype: np.dtype[Any]) -> bool:
    return dtype.isbuiltin == 1


def _describe(slot: Slot, shape: Sequence[int]) -> dict[str, Any]:
    return {"name": slot.name, "dtype": slot.dtype.name, "shape": list(shape)}


def _is_port(value: object) -> bool:
    table = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    shape = cast("list[object]", table["shape"]) if isinstance(table.get("shape"), list) else [None]
    return sorted(table) == ["dtype", "name", "shape"] and all(
        type(size) is int and size >= 0 for size in shape
    )


def _fits(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Return whether a value fits a port, whose sizes may change where they are no numbers."""
    sizes, free = found["shape"], [type(size) is not int for size in wanted["shape"]]
    return (found["name"], found["dtype"], len(sizes)) == (
        wanted["name"],
        wanted["dtype"],
        len(free),
    ) and all(any(pair) for pair in zip(free, map(eq, sizes, wanted["shape"]), strict=True))


def _spell_port(port: Mapping[str, Any]) -> str:
    return f"'{port['name']}' {port['dtype']}[{', '.join(map(str, port['shape']))}]"


def _opened_to_write(file: StateFile) -> AbstractContextManager[IO[bytes]]:
    if hasattr(file, "write"):
        return nullcontext(cast("IO[bytes]", file))
    return atomic_file(path_of(file, "a state"), sync=True)


def _opened_to_read(file: StateFile) -> AbstractContextManager[IO[bytes]]:
    if hasattr(file, "read"):
        return nullcontext(cast("IO[bytes]", file))
    return open(path_of(file, "a state"), "rb")


def _spell(file: StateFile) -> str:
    return path_of(file, "a state") if isinstance(file, (str, bytes, os.PathLike)) else "the file"


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
