"""Read archives `.pt2`: a zip of JSON and of little-endian weights. Neither torch nor MLIR.

Source: "PT2 Archive Spec" of torch, `torch/export/pt2_archive`.
"""

import json
import os
import zipfile
from typing import IO, Any

import numpy as np

from ....dialects.core.errors import CompileError, Unsupported
from ....dialects.core.tensor import Array, numpy_dtype
from ..torch.element_types import torch_type
from ..torch.node import Weight
from .graph import Program
from .reader import read_program
from .scalar_types import scalar_type

_COMPLEX = {"torch.complex64": "c8", "torch.complex128": "c16"}
Source = str | os.PathLike[str] | IO[bytes]


class ArchiveWeight(Weight):
    """A tensor in an archive; its bytes are read when somebody asks for them."""

    def __init__(self, archive: zipfile.ZipFile, entry: str, meta: Any) -> None:
        self._archive = archive
        self._entry = entry
        self.dtype = scalar_type(meta["dtype"])
        self._shape = _static(meta["sizes"])
        self._strides = _static(meta["strides"])
        (self._offset,) = _static([meta["storage_offset"]])
        self._bytes: bytes | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """What is equal for tied weights alone."""
        return self._entry, self.dtype, self._shape, self._strides, self._offset

    @property
    def is_complex(self) -> bool:
        return self.dtype in _COMPLEX

    def array(self) -> Array:
        """Return the tensor; CompileError for one that reaches beyond its storage."""
        if self._bytes is None:
            self._bytes = self._archive.read(self._entry)
        raw = np.frombuffer(self._bytes, np.uint8)
        dtype = np.dtype(_COMPLEX.get(self.dtype) or numpy_dtype(torch_type(self.dtype)))
        storage = raw[: raw.size // dtype.itemsize * dtype.itemsize].view(dtype)
        steps = zip(self._shape, self._strides, strict=True)
        last = self._offset + sum((size - 1) * step for size, step in steps)
        empty = 0 in self._shape
        if min(self._strides, default=0) < 0 or (not empty and not 0 <= last < storage.size):
            raise CompileError(f"'{self._entry}' has {storage.size} elements, needs {last + 1}")
        if empty:
            return np.empty(self._shape, dtype)
        strides = [step * dtype.itemsize for step in self._strides]
        view = np.lib.stride_tricks.as_strided(
            storage[self._offset :], self._shape, strides, writeable=False
        )
        return np.array(view, order="C")  # ascontiguousarray gives scalars an axis


def _static(sizes: Any) -> tuple[int, ...]:
    return tuple(int(size["as_int"]) for size in sizes)


def read_archive(source: Source) -> Program:
    """Read an exported program; its weights stay in the archive until somebody asks for them.

    Raises CompileError for what is no archive of the version that is read, or breaks off.
    """
    try:
        archive = zipfile.ZipFile(source)
        return _read(archive)
    except (zipfile.BadZipFile, EOFError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise CompileError(f"{_spell(source)} is no archive of torch.export: {error}") from None
    except Unsupported as error:
        raise CompileError(f"{_spell(source)} {error}") from None
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        what = f"{type(error).__name__}: {error}"
        raise CompileError(f"{_spell(source)} has a program that cannot be read: {what}") from None


def _read(archive: zipfile.ZipFile) -> Program:
    roots = {name.split("/")[0] for name in archive.namelist()}
    if len(roots) != 1:
        raise zipfile.BadZipFile("it must have one folder")
    (root,) = roots
    model = json.loads(archive.read(f"{root}/models/model.json"))
    weights = {
        name: weight
        for kind in ("weights", "constants")
        for name, weight in _weights(archive, root, kind).items()
    }
    return read_program(model, _tied(weights))


def _weights(archive: zipfile.ZipFile, root: str, kind: str) -> dict[str, ArchiveWeight]:
    config = json.loads(archive.read(f"{root}/data/{kind}/model_{kind}_config.json"))["config"]
    made: dict[str, ArchiveWeight] = {}
    for name, entry in config.items():
        if entry["use_pickle"]:
            raise Unsupported(f"'{name}' is pickled, must be a plain tensor")
        path = f"{root}/data/{kind}/{entry['path_name']}"
        made[name] = ArchiveWeight(archive, path, entry["tensor_meta"])
    return made


def _tied(weights: dict[str, ArchiveWeight]) -> dict[str, Weight]:
    """Return one weight for all names of the same tensor."""
    by_key: dict[tuple[object, ...], ArchiveWeight] = {}
    return {name: by_key.setdefault(weight.key, weight) for name, weight in weights.items()}


def _spell(source: Source) -> str:
    return f"'{source}'" if isinstance(source, (str, os.PathLike)) else "the program"
