"""Tuning files of GPUs: which settings of kernels were measured on one, and how long they took.

The key of an entry is the name of a kernel, which ends in a hash of what the kernel computes.
"""

from collections.abc import Mapping, Sequence

from ....dialects.core.errors import CompileError
from ....dialects.tile.setting import Setting
from ...tuning_file import Entry, Tuning, TuningFormat, gpu_tuning_format

Entries = Mapping[str, Entry[Setting]]


def tuning_format(architecture: str) -> TuningFormat[Setting]:
    """Return how tuning files for an architecture look."""
    return gpu_tuning_format(Setting.parse, architecture)


def read_entries(file: str, architecture: str) -> Entries:
    """Return the entries of a file for an architecture; none if no file is given.

    Raises CompileError for a file that is malformed, or that is for anything else.
    """
    if not file:
        return {}
    tuning = _read(file, architecture)
    if tuning.foreign:
        raise CompileError(f"{file}: {tuning.foreign}: tune again, or compile without the file")
    return tuning.entries


def check_file(file: str, architectures: Sequence[str]) -> None:
    """Raise CompileError for a file that is malformed, or that is for none of the architectures."""
    foreign = [_read(file, name).foreign for name in architectures] if file else []
    if foreign and all(foreign):
        raise CompileError(f"{file}: {foreign[0]}: tune again, or compile without the file")


def is_for(file: str, architecture: str) -> bool:
    """Return whether a file, which is well formed, holds settings for an architecture."""
    return bool(file) and not _read(file, architecture).foreign


def _read(file: str, architecture: str) -> Tuning[Setting]:
    return tuning_format(architecture).read(file)
