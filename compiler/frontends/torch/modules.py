"""Modules of torch as they are in inference; torch is imported no sooner than there is one."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeGuard

from ....dialects.core.errors import CompileError, Diagnostic

if TYPE_CHECKING:
    from .torch_types import TorchModule


_ON_LOGS = ("For ", "If you suspect the guard", "Caused by: (_export", "consider using data-dep")
"""How lines of torch begin that tell how to debug torch."""


def is_torch_module(model: object) -> "TypeGuard[TorchModule]":
    """Return whether a model is a torch module, without importing torch."""
    torch_nn = sys.modules.get("torch.nn")
    return torch_nn is not None and isinstance(model, torch_nn.Module)


@contextmanager
def in_inference(module: "TorchModule") -> Generator[None]:
    """Put a module into its state for inference for a while: no gradients, nothing dropped."""
    import torch

    modes = [(each, each.training) for each in module.modules()]
    mha: Any = torch.backends.mha
    fastpath = mha.get_fastpath_enabled()
    module.eval()
    mha.set_fastpath_enabled(False)  # it makes one operator of a layer, which has no rule
    try:
        with torch.no_grad():
            yield
    finally:
        mha.set_fastpath_enabled(fastpath)
        for each, mode in modes:
            each.training = mode


def raised(what: str, error: Exception, *notes: str) -> CompileError:
    """Return a CompileError of what torch, or the code of a module, has raised."""
    text, _, _ = str(error).partition("\nThe error above occurred when calling torch.export")
    lines = [line for line in text.splitlines() if line.strip()]
    first, *rest = [line for line in lines if not line.startswith(_ON_LOGS)] or [""]
    message = f"{what}: {type(error).__name__}: {first}"
    return CompileError([Diagnostic("", message, (*rest[:8], *notes))])
