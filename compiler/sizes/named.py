"""Give names to what long sizes of a manifest have in common.

Sizes of kernels, such as the work of a convolution, are products of quotients and maxima that were
multiplied out: their texts repeat the same few parts many times, and those the same smaller ones.
"""

import re
from collections.abc import Collection
from dataclasses import replace
from itertools import count
from typing import Any

from ...runtime.contents import NamedSize
from ...runtime.manifest import Manifest
from ...runtime.sizes.fields import with_sizes

LONG, WORTH_A_NAME = 1024, 24
"""The characters of texts that are written anew, and of parts of them that get names."""

_KEPT = ("inputs", "outputs", "buffers", "checks")
_BRACKETS = re.compile(r"((?:\b(?:max|min))?\(|\))")
_PLACE = re.compile(r"\bat_[0-9]+\b")
"""Places in arenas, which are computed after what has a name."""


def name_sizes(manifest: Manifest) -> Manifest:
    """Return a manifest whose long sizes have names for their parts, which are `named_sizes`.

    Ports and buffers, whose shapes are compared, and checks, which reports show, stay as they are.
    """
    taken = {name for symbol in manifest.symbols for name in (symbol.name, symbol.unit)}
    names = _Names(taken)
    kept = {field: getattr(manifest, field) for field in _KEPT}
    written = replace(with_sizes(manifest, names.shorten), **kept)
    sizes = tuple(NamedSize(name, text) for text, name in names.of_texts.items())
    return replace(written, named_sizes=sizes) if sizes else manifest


class _Names:
    """Name parts of texts; equal ones have one name."""

    def __init__(self, taken: Collection[str]) -> None:
        self._free = (name for i in count() if (name := f"size_{i}") not in taken)
        self.of_texts: dict[Any, str] = {}
        """The name of each text, after those that stand in it."""

    def shorten(self, text: str) -> Any:
        """Return a text of the same size, which has names for its long parts."""
        if len(text) < LONG:
            return text
        open_parts: list[str] = [""]
        heads: list[str] = []
        for piece in _BRACKETS.split(text):
            if piece.endswith("("):
                heads.append(piece)
                open_parts.append("")
            elif piece == ")":
                inner = open_parts.pop()
                open_parts[-1] += self._part(heads.pop(), inner)
            else:
                open_parts[-1] += piece
        return open_parts[0]

    def _part(self, head: str, inner: str) -> str:
        """Return what stands for a part between brackets, `head` being what opens it."""
        text = inner if head == "(" else f"{head}{inner})"
        if len(text) < WORTH_A_NAME or _PLACE.search(text):
            return f"{head}{inner})"
        if text not in self.of_texts:
            self.of_texts[text] = next(self._free)
        return self.of_texts[text]
