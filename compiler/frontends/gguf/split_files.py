"""Read a model that is in several GGUF files: `name-00001-of-00003.gguf` and so on.

The first file has all keys, and each file some of the tensors. Source: llama.cpp, which writes such
files by `llama-gguf-split`.
"""

import os
import re

from ....dialects.core.errors import CompileError, Diagnostic
from .file import GgufFile, GgufTensor, Value, read_gguf

_NUMBER, _COUNT, _TENSORS = "split.no", "split.count", "split.tensors.count"
_NAME = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf", re.DOTALL)

MOST_FILES = 1 << 10


def read_model(path: str | os.PathLike[str]) -> GgufFile:
    """Read a file, and those of the same model beside it where it is one of several.

    Any of them may be named. Raises CompileError as `read_gguf` does, and for files that are not
    parts of one model.
    """
    file = read_gguf(path)
    count = _whole(file, _COUNT, 1)
    if count <= 1:
        return file
    if count > MOST_FILES:
        raise _fault(file, _COUNT, f"is {count}, must be at most {MOST_FILES} files")
    files = [read_gguf(name) for name in _names(file, count)]
    tensors: dict[str, GgufTensor] = {}
    for number, each in enumerate(files):
        found = (_whole(each, _NUMBER, -1), _whole(each, _COUNT, 1))
        if found != (number, count):
            fault = f"says that it is part {found[0]} of {found[1]}, must be {number} of {count}"
            raise CompileError(f"'{each.path}' {fault}: parts are counted from 0")
        if twice := tensors.keys() & each.tensors.keys():
            raise CompileError(f"'{each.path}' has tensor '{min(twice)}', as an earlier part does")
        tensors |= each.tensors
    wanted = _whole(files[0], _TENSORS, len(tensors))
    if wanted != len(tensors):
        raise _fault(files[0], _TENSORS, f"is {wanted}, the files have {len(tensors)} tensors")
    return GgufFile(files[0].path, files[0].metadata, tensors)


def _names(file: GgufFile, count: int) -> list[str]:
    """Return the paths of all files of a model, by that of one of them."""
    found = _NAME.fullmatch(file.path)
    if found is None or int(found[3]) != count:
        raise _fault(
            file,
            _COUNT,
            f"is {count}, so its name must end in -00001-of-{count:05}.gguf, with the other files "
            "beside it",
        )
    return [f"{found[1]}-{number:05}-of-{count:05}.gguf" for number in range(1, count + 1)]


def _whole(file: GgufFile, key: str, default: int) -> int:
    found: Value = file.metadata.get(key, default)
    if isinstance(found, bool) or not isinstance(found, int):
        raise _fault(file, key, f"is {found!r}, must be a whole number")
    return found


def _fault(file: GgufFile, key: str, fault: str) -> CompileError:
    return CompileError([Diagnostic(file.path, f"key '{key}' {fault}")])
