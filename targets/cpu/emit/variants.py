"""Kernels of one call for several machines: memory that serves whichever of them runs."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from ....dialects.core.sizes.dim import highest
from ....dialects.core.tensor import Tensor
from ...program.calls import Scratch

Key = tuple[bool, int]
"""Whether a piece of scratch memory is private, and its number among the pieces of that kind."""

Value = TypeVar("Value")


def merge_scratch(needs: Sequence[Sequence[Scratch]]) -> dict[Key, Scratch]:
    """Return, piece by piece, the largest that any of several kernels asks for."""
    merged: dict[Key, Scratch] = {}
    for scratch in needs:
        for key, piece in zip(_keys(scratch), scratch, strict=True):
            known = merged.get(key)
            merged[key] = piece if known is None else _larger(known, piece)
    return merged


def _larger(first: Scratch, second: Scratch) -> Scratch:
    """Return memory that is large enough for either piece."""
    size = highest(first.tensor.size_bytes, second.tensor.size_bytes)
    if size == first.tensor.size_bytes:
        return first
    if size == second.tensor.size_bytes:
        return second
    return Scratch(Tensor((size,), "i8"), first.private)


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
