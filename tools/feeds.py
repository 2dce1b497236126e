"""Arrays on their way in and out: files, made-up inputs, and a line that describes one."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast
from urllib.parse import quote
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ..dialects.core.files import replaced_file
from ..runtime.contents import Port
from ..runtime.dtypes import resolve
from ..runtime.errors import RunError
from ..runtime.manifest import Manifest
from ..runtime.sizes.symbols import range_fault, spelled_ports
from ..runtime.sizes.values import SizeFault
from ..runtime.spelling import spell_shape

Arrays = dict[str, NDArray[Any]]

TENSOR = ".pb"
"""The suffix of files of one tensor of ONNX."""


def read(files: Mapping[str, str]) -> Arrays:
    """Read one array from each .npy file, or tensor of ONNX (.pb); RunError where that fails.

    Raises CompileError for tensors of ONNX.
    """
    return {name: _read(path) for name, path in files.items()}


def _read(path: str) -> NDArray[Any]:
    if path.endswith(TENSOR):
        from ..compiler.frontends.onnx.tensor_proto import read_tensor

        return read_tensor(path)
    try:
        array: Any = np.load(path, allow_pickle=False)
    except OSError as error:
        reason = f"cannot be read: {error.strerror}" if error.strerror else "is not a .npy file"
        raise RunError(f"{path}: {reason}") from None
    except (ValueError, EOFError):
        raise RunError(
            f"{path}: is not a .npy file of numbers: tensors of ONNX are read from {TENSOR} files"
        ) from None
    if not isinstance(array, np.ndarray):
        raise RunError(f"{path}: holds several arrays, must be a .npy file of one")
    return cast("NDArray[Any]", array)


def of_run(manifest: Manifest, files: Mapping[str, str], seed: int | None) -> Arrays:
    """Read the inputs of a run from files; with a seed, make up those that no file gives.

    Raises as `read` and `complete`.
    """
    given = read(files)
    return given if seed is None else complete(given, ports_of_run(manifest, given), seed)


def read_all(path: str) -> Arrays:
    """Read the arrays of an .npz file by their names; RunError when that does not work."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except OSError as error:
        reason = f"cannot be read: {error.strerror}" if error.strerror else "is not a .npz file"
        raise RunError(f"{path}: {reason}") from None
    except (ValueError, EOFError, AttributeError, TypeError, BadZipFile):
        raise RunError(f"{path}: is not a .npz file of numbers") from None


def dump(folder: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write each array to FOLDER/NAME.npy; names are quoted as in addresses of the web: %2F."""
    os.makedirs(folder, exist_ok=True)
    for name, array in arrays.items():
        write(os.path.join(folder, f"{quote(name, safe=' ')}.npy"), array)


def complete(given: Arrays, ports: Sequence[Port], seed: int) -> Arrays:
    """Make up the inputs that are not given: normal floats, zeros and ones for anything else.

    Raises RunError for one of which a size is no number.
    """
    free = [port for port in ports if any(type(size) is not int for size in port.shape)]
    for port in free:
        if port.name not in given:
            shape = spell_shape(port.shape)
            raise RunError(f"input '{port.name}' has shape {shape}, give an array of such a shape")
    generator = np.random.default_rng(seed)
    made: Arrays = {}
    for port in ports:
        if port in free:
            continue
        dtype = resolve(port.dtype)
        # By the kind of number and not by the type: those of ml_dtypes have a kind of their own.
        whole = port.dtype.startswith(("int", "uint", "bool"))
        numbers = (
            generator.integers(0, 2, port.shape) if whole else generator.normal(size=port.shape)
        )
        if dtype.kind == "c":
            numbers = numbers + 1j * generator.normal(size=port.shape)
        made[port.name] = np.asarray(numbers).astype(dtype)
    return {**made, **given}


def ports_of_run(manifest: Manifest, given: Arrays) -> tuple[Port, ...]:
    """Return the inputs of a package with the sizes of a run.

    Symbols have the sizes that the given arrays have for them, and else their likely ones.
    """
    sizes = {symbol.name: symbol.likely for symbol in manifest.symbols}
    for port in spelled_ports(manifest.inputs, manifest.symbols):
        if port.name in given and given[port.name].ndim == len(port.shape):
            pairs = zip(map(str, port.shape), given[port.name].shape, strict=True)
            sizes |= {name: found for name, found in pairs if name in sizes}
    return ports_at(manifest, sizes)


def sizes_of_run(manifest: Manifest, given: Mapping[str, int]) -> dict[str, int]:
    """Return the size of each symbol that inputs give, the likely one where none is given.

    Raises RunError for what is no such symbol, and for a size that is out of its range.
    """
    symbols = [symbol for symbol in manifest.symbols if not symbol.stage]
    known = ", ".join(symbol.name for symbol in symbols) or "none"
    for name in given.keys() - {symbol.name for symbol in symbols}:
        raise RunError(f"'{name}' is no free size of the inputs, there are {known}")
    sizes = {symbol.name: given.get(symbol.name, symbol.likely) for symbol in symbols}
    for symbol in symbols:
        if fault := range_fault(symbol, sizes[symbol.name]):
            raise RunError(fault)
    return sizes


def ports_at(manifest: Manifest, sizes: Mapping[str, int]) -> tuple[Port, ...]:
    """Return the inputs of a package at sizes of its symbols; found ones are likely ones."""
    if not manifest.symbols:
        return manifest.inputs
    sizes = {symbol.name: sizes.get(symbol.name, symbol.likely) for symbol in manifest.symbols}
    try:
        values = manifest.evaluation.unchecked(sizes)
    except SizeFault as error:
        raise RunError(f"no inputs can be made up: {error}") from None
    return tuple(replace(port, shape=tuple(map(values, port.shape))) for port in manifest.inputs)


def write(path: str, array: NDArray[Any]) -> None:
    """Write an array to a .npy file, or a tensor of ONNX (.pb), as a whole or not at all.

    Raises as `replaced_file`.
    """
    if path.endswith(TENSOR):
        from ..compiler.frontends.onnx.tensor_proto import write_tensor

        write_tensor(path, array)
        return
    with replaced_file(path) as file:
        np.save(file, array, allow_pickle=False)


def describe(name: str, array: NDArray[Any]) -> str:
    """Describe an output in a line: type, shape, and the range of its numbers.

    Of complex numbers it is the range of their sizes.
    """
    head = f"{name}  {array.dtype}  {spell_shape(array.shape)}"
    if not array.size:
        return head
    wide = np.abs(array) if array.dtype.kind == "c" else array.astype(np.float64)
    return f"{head}  min {wide.min():.6g}  mean {wide.mean():.6g}  max {wide.max():.6g}"
