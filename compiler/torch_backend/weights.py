"""Weights of a graph: frozen into the code, and watched for changes."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

_PROBES = (ctypes.c_int64, ctypes.c_int32, ctypes.c_int16, ctypes.c_int8)


@dataclass(frozen=True)
class WatchedWeight:
    """Describe a weight as it was frozen: an argument's number, its object, memory and version.

    Torch counts no version for a write by way of `.data`: the word in the middle of the memory,
    with the value that it had, shows one that writes all of a weight. `storage` keeps the memory.
    """

    index: int
    tensor: torch.Tensor
    address: int
    version: int
    word: Any
    value: int
    storage: Any


def watch(index: int, tensor: torch.Tensor) -> WatchedWeight:
    """Describe a weight that is argument `index`."""
    word = _middle_word(tensor)
    memory = tensor.data_ptr(), tensor._version, word, word.value, tensor.untyped_storage()
    return WatchedWeight(index, tensor, *memory)


def changed(watched: Sequence[WatchedWeight], arguments: Sequence[Any]) -> list[int]:
    """Return the numbers of the weights that are not as they were frozen."""
    return [each.index for each in watched if not _is_unchanged(each, arguments[each.index])]


def may_freeze(weight: torch.Tensor) -> bool:
    """Return whether changes of a weight are seen: one made in inference mode has no version."""
    return not weight.is_inference()


def _is_unchanged(known: WatchedWeight, given: torch.Tensor) -> bool:
    return (
        given is known.tensor
        and given.data_ptr() == known.address
        and given._version == known.version
        and known.word.value == known.value
    )


def _middle_word(tensor: torch.Tensor) -> Any:
    """Return a number of ctypes in a tensor's memory, as wide as fits."""
    size = tensor.element_size() * (tensor.numel() if tensor.is_contiguous() else 1)
    kind = next(kind for kind in _PROBES if ctypes.sizeof(kind) <= size)
    if not tensor.numel():
        return kind()
    width = ctypes.sizeof(kind)
    return kind.from_address(tensor.data_ptr() + size // 2 // width * width)
