"""Kernels of one call for several machines: memory that serves whichever of them runs."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from ...program import Scratch

Key = tuple[bool, int]
"""Whether a piece of scratch memory is private, and its number among the pieces of that kind."""

Value = TypeVar("Value")


def merge_scratch(needs: Sequence[Sequence[Scratch]]) -> dict[Key, Scratch]:
    """Return, piece by piece, the largest that any of several kernels asks for."""
    merged: dict[Key, Scratch] = {}
    for scratch in needs:
        for key, piece in zip(_keys(scratch), scratch, strict=True):
            known = merged.get(key)
            if known is None or known.tensor.size_bytes < piece.tensor.size_bytes:
                merged[key] = piece
    return merged


def own_pieces(scratch: Sequence[Scratch], merged: Mapping[Key, Value]) -> list[Value]:
    """Return the values of the merged pieces that one kernel uses, in the kernel's order."""
    return [merged[key] for key in _keys(scratch)]


def _keys(scratch: Sequence[Scratch]) -> list[Key]:
    counts = {False: 0, True: 0}
    keys: list[Key] = []
    for piece in scratch:
        keys.append((piece.private, counts[piece.private]))
        counts[piece.private] += 1
    return keys
