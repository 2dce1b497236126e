"""The entries of a package that no run needs: what they are called where they are left out."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from ..errors import RunError

KINDS = {
    "ir": "module.mlirbc",
    "calls": "calls.json",
    "tuning": "tuning.json",
    "sources": "gpu/*/*.py",
}
"""Patterns of the names of such entries, by what they are: the IR, the list of the calls of native
code, notes of tuning, and the sources of kernels for GPUs."""


def own_name(name: str) -> str:
    """Return the name of an entry in its program: those of exact sizes have folders."""
    return name.split("/", 2)[2] if name.startswith("exact/") else name


def kind_of(name: str) -> str:
    """Return the kind of an entry by its name; empty for one that runs need."""
    own = own_name(name)
    return next((kind for kind, pattern in KINDS.items() if fnmatchcase(own, pattern)), "")


def kept_kinds(names: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds of some entries, in the order of `KINDS`."""
    found = set(map(kind_of, names))
    return tuple(kind for kind in KINDS if kind in found)


def checked_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return kinds, or the one that a text is, each once; raise RunError for another name."""
    listed = (kinds,) if isinstance(kinds, str) else kinds
    for kind in (names := tuple(dict.fromkeys(listed))):
        if kind not in KINDS:
            raise RunError(f"'{kind}' must be one of {', '.join(KINDS)}")
    return names
