"""The types of torch that signatures name, for type checkers alone."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    TorchModule = torch.nn.Module
    TorchTensor = torch.Tensor
