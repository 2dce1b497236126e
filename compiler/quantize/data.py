"""Calibration data: arrays of samples for each input, refused by name when they do not fit."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ...dialects.core.errors import CompileError
from ...dialects.core.sizes.atoms import is_symbolic
from ...dialects.core.tensor import Array, Tensor, numpy_dtype
from .folder import Preprocessing, read_folder

Data = Mapping[str, Array] | str | os.PathLike[str]


def read_data(
    data: Data, inputs: Mapping[str, Tensor], preprocessing: Preprocessing | None = None
) -> dict[str, Array]:
    """Return arrays by the names of inputs: those given, or those of an `.npz` file or a folder.

    Raises CompileError for what cannot be read, and for preprocessing of anything but a folder.
    """
    if not isinstance(data, Mapping) and os.path.isdir(data):
        return read_folder(Path(data), inputs, preprocessing)
    if preprocessing is not None:
        raise CompileError(
            "preprocessing is for a folder of images, other data are used as they are"
        )
    if isinstance(data, Mapping):
        return {name: np.asarray(array) for name, array in data.items()}
    try:
        found: Any = np.load(data, allow_pickle=False)
        if isinstance(found, np.ndarray):
            raise CompileError(f"'{data}' holds one array, must be an .npz of one for each input")
        with found:
            return {name: found[name] for name in found.files}
    except OSError as error:
        raise CompileError(f"cannot read '{data}': {error.strerror or 'is no .npz'}") from None
    except (ValueError, EOFError, BadZipFile):
        raise CompileError(f"cannot read '{data}': is no .npz of numbers") from None


def batches(data: Mapping[str, Array], inputs: Mapping[str, Tensor]) -> list[dict[str, Array]]:
    """Cut data into feeds of the model's shapes, along the first axis.

    Where a size is a symbol, data may have any; a batch whose size is one has one sample.

    Raises CompileError for the first input that is missing, unknown, of another type or shape, has
    no samples or not as many as others, or has numbers that are not finite.
    """
    for name in inputs:
        if name not in data:
            raise CompileError(f"calibration data lacks input '{name}'")
    for name in data:
        if name not in inputs:
            known = ", ".join(f"'{each}'" for each in inputs)
            raise CompileError(f"calibration data has '{name}', the inputs are {known}")
    counts = {name: _count(name, data[name], tensor) for name, tensor in inputs.items()}
    (first, count), *others = counts.items()
    for name, other in others:
        if other != count:
            raise CompileError(
                f"calibration data has {count} batches of '{first}' and {other} of '{name}'"
            )
    return list(_feeds(data, inputs, count))


def _count(name: str, array: Array, tensor: Tensor) -> int:
    """Check an input's samples and return how many feeds they make."""
    where = f"calibration data of '{name}'"
    dtype = numpy_dtype(tensor.dtype)
    if array.dtype != dtype:
        raise CompileError(f"{where} is {array.dtype}, must be {dtype}")
    shape = "x".join(map(str, tensor.shape[1:])) or "scalar"
    if not tensor.shape or array.ndim != tensor.rank or not _fits(array, tensor):
        have = "x".join(map(str, array.shape)) or "scalar"
        raise CompileError(f"{where} has shape {have}, must be samples of {shape}")
    if not array.shape[0]:
        raise CompileError(f"{where} is empty, must have 1 sample or more")
    batch = _batch(tensor)
    if array.shape[0] % batch:
        have = array.shape[0]
        raise CompileError(f"{where} has {have} samples, must be a multiple of the batch, {batch}")
    finite: Any = np.isfinite(array) if array.dtype.kind == "f" else np.True_
    if not finite.all():
        place = tuple(int(index) for index in np.argwhere(~finite)[0])
        raise CompileError(f"{where} has {array[place]} at {list(place)}, must be finite")
    return array.shape[0] // batch


def _fits(array: Array, tensor: Tensor) -> bool:
    pairs = zip(array.shape[1:], tensor.shape[1:], strict=True)
    return all(is_symbolic(wanted) or have == wanted for have, wanted in pairs)


def _batch(tensor: Tensor) -> int:
    """Return how many samples are fed at once."""
    first = tensor.shape[0]
    return 1 if is_symbolic(first) else first


def _feeds(
    data: Mapping[str, Array], inputs: Mapping[str, Tensor], count: int
) -> Iterator[dict[str, Array]]:
    for index in range(count):
        yield {
            name: np.ascontiguousarray(data[name][index * _batch(t) : (index + 1) * _batch(t)])
            for name, t in inputs.items()
        }
