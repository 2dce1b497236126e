"""Keep the text that a run works on; memory has a handle of 64 bits for each string.

The handle is a hash of the text, so that equal strings have equal handles in all packages and all
sessions: what moves or compares elements does not need their text.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import RunError

EMPTY = 0
"""The handle of the empty string: memory that nothing was written to has empty strings."""


def handle_of(text: str) -> int:
    """Return the handle of a string, as a signed integer."""
    if not text:
        return EMPTY
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def handles_of(texts: NDArray[Any]) -> NDArray[np.int64]:
    """Return the handles of an array of strings."""
    handles = np.fromiter(map(handle_of, texts.reshape(-1)), np.int64, texts.size)
    return handles.reshape(texts.shape)


def text_array(value: object) -> NDArray[Any]:
    """Return strings as an array of Python strings; raise TypeError for anything else.

    Strings of numpy, of fixed or of variable length, become Python's.
    """
    array = np.asarray(value)
    if array.dtype.kind in "UT":
        return array.astype(object)
    for item in array.reshape(-1) if array.dtype == object else ():
        if not isinstance(item, str):
            raise TypeError(f"it holds a {type(item).__name__}, must hold strings")
    if array.dtype != object:
        raise TypeError(f"it is {array.dtype}, must hold strings")
    return array


class Strings:
    """Know the strings of a session: those of its package, and those that a run has met."""

    def __init__(self, constants: Iterable[str] = ()) -> None:
        """Begin with the strings that are constants of the package."""
        self._constants = {handle_of(text): text for text in constants} | {EMPTY: ""}
        self._known = dict(self._constants)

    def forget(self) -> None:
        """Forget all strings but the constants; their handles have no text any more."""
        if len(self._known) != len(self._constants):
            self._known = dict(self._constants)

    def handles(self, texts: NDArray[Any]) -> NDArray[np.int64]:
        """Return the handles of an array of strings, which are known from now on.

        Raises RunError where two strings have one handle.
        """
        handles, known = handles_of(texts), self._known
        for handle, text in zip(handles.reshape(-1).tolist(), texts.reshape(-1), strict=True):
            if known.setdefault(handle, text) != text:
                raise RunError(
                    f"the strings {known[handle]!r} and {text!r} have the same hash of 64 bits: "
                    "change one of them"
                )
        return handles

    def texts(self, handles: NDArray[np.int64]) -> NDArray[Any]:
        """Return the strings of an array of handles, as an array of Python strings."""
        texts = np.empty(handles.size, object)
        texts[:] = [self._known[handle] for handle in handles.reshape(-1).tolist()]
        return texts.reshape(handles.shape)
