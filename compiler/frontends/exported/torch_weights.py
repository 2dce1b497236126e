"""Weights that are tensors of torch, read in place. Imported where torch is there already."""

import importlib
from collections.abc import Mapping

import torch

from ....dialects.core.errors import Unsupported
from ....dialects.core.tensor import Array
from ..torch.node import Weight


class TorchWeight(Weight):
    """A tensor of torch, in place."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor

    @property
    def is_complex(self) -> bool:
        return self._tensor.is_complex()

    def array(self) -> Array:
        return array_of(self._tensor)


def torch_weights(tensors: Mapping[str, torch.Tensor]) -> dict[str, Weight]:
    """Return weights by the names of tensors; tensors that share all of their memory are one.

    Raises Unsupported for a tensor that is no plain memory of numbers.
    """
    made: dict[object, Weight] = {}
    found: dict[str, Weight] = {}
    for name, tensor in tensors.items():
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer):
            raise Unsupported(f"'{name}' is a {type(tensor).__name__}, must be a plain tensor")
        if tensor.layout != torch.strided or tensor.device.type == "meta":
            what = f"{tensor.layout}, on {tensor.device}"
            raise Unsupported(f"'{name}' is {what}, must be a plain tensor")
        found[name] = made.setdefault(_memory_of(tensor), TorchWeight(tensor))
    return found


def array_of(tensor: torch.Tensor) -> Array:
    """Return a tensor as an array, in place where it is contiguous; bf16 is of ml_dtypes."""
    plain = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    if plain.dtype != torch.bfloat16:
        return plain.numpy()
    # numpy has no such type, and torch makes no array of one that it does not know.
    return plain.view(torch.int16).numpy().view(importlib.import_module("ml_dtypes").bfloat16)


def _memory_of(tensor: torch.Tensor) -> object:
    # Tensors without elements may all have the address 0.
    address = tensor.data_ptr() or id(tensor)
    return address, tensor.dtype, tensor.shape, tensor.stride(), tensor.is_conj(), tensor.is_neg()
