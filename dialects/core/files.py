"""Write files as a whole or not at all, with errors that name the file."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import BinaryIO

from ...runtime.file.atomic_file import atomic_file
from .errors import CompileError


@contextmanager
def replaced_file(path: str | os.PathLike[str]) -> Generator[BinaryIO]:
    """Yield a file that replaces the one at `path` when the block ends: see `atomic_file`.

    Raises CompileError for a file that cannot be written.
    """
    try:
        with atomic_file(path) as file:
            yield file
    except OSError as error:
        where = os.fspath(path)
        raise CompileError(f"cannot write '{where}': {error.strerror}") from None


def write_file(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Replace the file at `path` by one with this content; raises as `replaced_file`."""
    with replaced_file(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)
