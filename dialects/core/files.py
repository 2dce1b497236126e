"""Write files as a whole or not at all."""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import CompileError


@contextmanager
def replaced_file(path: str | os.PathLike[str]) -> Generator[Path]:
    """Yield the path of a draft, which replaces the file at `path` when the block ends.

    An exception in the block, Ctrl-C included, removes the draft and leaves `path` as it was. A
    device or a pipe is written in place. Raises CompileError for a file that cannot be written.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with _reported(path):
            yield target
        return
    draft = target.parent / f".{target.name}.{os.urandom(4).hex()}"
    try:
        with _reported(path):
            yield draft
            draft.replace(target)
    finally:
        with suppress(OSError):
            draft.unlink()


def write_file(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Replace the file at `path` by one with this content; raises as `replaced_file`."""
    with replaced_file(path) as draft:
        draft.write_bytes(data.encode() if isinstance(data, str) else data)


@contextmanager
def _reported(path: str | os.PathLike[str]) -> Generator[None]:
    try:
        yield
    except OSError as error:
        where = os.fspath(path)
        raise CompileError(f"cannot write '{where}': {error.strerror}") from None
