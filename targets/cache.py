"""Compiled code on disk, named by what it was compiled from."""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..runtime.file.atomic_file import atomic_file

VARIABLE = "TRIVIUM_CACHE"
"""The environment variable that names the cache folder; `off` switches the cache off."""


def cache_folder() -> Path | None:
    """Return the folder of the cache, or None when it is switched off."""
    if (chosen := os.environ.get(VARIABLE, "")) == "off":
        return None
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "trivium"


def cached(source: str, compile_source: Callable[[], bytes], suffix: str = ".o") -> bytes:
    """Return what `compile_source` makes of `source`, from the cache when it is there.

    `source` must hold everything that the result depends on. A cache that cannot be read or
    written is as good as none.
    """
    if (found := recall(source, suffix)) is not None:
        return found
    made = compile_source()
    remember(source, made, suffix)
    return made


def recall(source: str, suffix: str) -> bytes | None:
    """Return what was remembered for `source`; None when nothing was, or when it was damaged."""
    if (path := _path(source, suffix)) is None:
        return None
    with suppress(OSError):
        return _unseal(path.read_bytes())
    return None


def remember(source: str, made: bytes, suffix: str) -> None:
    """Keep what was made from `source`, where a cache can be written."""
    if (path := _path(source, suffix)) is None:
        return
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as file:
            file.write(hashlib.sha256(made).digest() + made)


def _path(source: str, suffix: str) -> Path | None:
    if (folder := cache_folder()) is None:
        return None
    digest = hashlib.sha256(source.encode()).hexdigest()
    return folder / digest[:2] / f"{digest}{suffix}"


def _unseal(data: bytes) -> bytes | None:
    """Return the content of a cache file, or None when it was damaged."""
    seal, content = data[:32], data[32:]
    return content if hashlib.sha256(content).digest() == seal else None
