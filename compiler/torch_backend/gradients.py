"""Refuse gradients at the moment when somebody asks for them, not before."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

_REFUSED = (
    "the torch.compile backend 'trivium' computes no gradients: call the model in torch.no_grad() "
    "or torch.inference_mode(), or train it with another backend"
)


def compute_without_gradients(
    compute: Callable[[], Sequence[torch.Tensor]],
    needs_gradient: Sequence[bool],
    arguments: Sequence[Any],
) -> Sequence[torch.Tensor]:
    """Return what `compute` computes of arguments; those that need a gradient refuse it later."""
    if not any(needs_gradient):
        return compute()
    function: Any = _WithoutGradients
    return function.apply(compute, needs_gradient, *arguments)


class _WithoutGradients(torch.autograd.Function):
    """Compute tensors that need gradients, as eager torch's do; `backward` is an error."""

    @staticmethod
    def forward(
        ctx: Any,
        compute: Callable[[], Sequence[torch.Tensor]],
        needs_gradient: Sequence[bool],
        *arguments: Any,
    ) -> tuple[torch.Tensor, ...]:
        """Return what `compute` returns; `arguments` are what it depends on."""
        computed = tuple(compute())
        pairs = zip(computed, needs_gradient, strict=True)
        ctx.mark_non_differentiable(*(each for each, needs in pairs if not needs))
        return computed

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Raise RuntimeError."""
        raise RuntimeError(_REFUSED)
