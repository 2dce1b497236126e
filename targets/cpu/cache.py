"""Compiled objects on disk, named by what they were compiled from."""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

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


def cached(source: str, compile_source: Callable[[], bytes]) -> bytes:
    """Return what `compile_source` makes of `source`, from the cache when it is there.

    `source` must hold everything that the result depends on. A cache that cannot be read or
    written is as good as none.
    """
    folder = cache_folder()
    if folder is None:
        return compile_source()
    digest = hashlib.sha256(source.encode()).hexdigest()
    path = folder / digest[:2] / f"{digest}.o"
    with suppress(OSError):
        return _unseal(path.read_bytes()) or _compile_into(path, compile_source)
    return _compile_into(path, compile_source)


def _compile_into(path: Path, compile_source: Callable[[], bytes]) -> bytes:
    made = compile_source()
    draft = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(hashlib.sha256(made).digest() + made)
        draft.replace(path)
    return made


def _unseal(data: bytes) -> bytes | None:
    """Return the content of a cache file, or None when it was damaged."""
    seal, content = data[:32], data[32:]
    return content if hashlib.sha256(content).digest() == seal else None
