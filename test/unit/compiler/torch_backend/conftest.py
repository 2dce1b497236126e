"""Compile functions and modules of torch by the backend, and count what it has done."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch._dynamo.utils import counters  # noqa: E402
from trivium.compiler.torch_backend.backend import compile_graph  # noqa: E402

Compile = Callable[..., Any]


@pytest.fixture
def compiled() -> Iterator[Compile]:
    """Return `torch.compile` for the backend, without anything that was compiled before."""
    torch._dynamo.reset()
    counters.clear()
    torch.manual_seed(0)

    def compile_model(model: Any, options: Any = None, **keywords: Any) -> Any:
        keywords |= {"options": options} if options else {}
        return torch.compile(model, backend=compile_graph, **keywords)

    with torch.no_grad():
        yield compile_model
    torch._dynamo.reset()


@pytest.fixture
def counted() -> Callable[[], dict[str, int]]:
    """Return what the backend has counted: graphs, sessions, and graphs that run in eager torch."""
    return lambda: dict(counters["trivium"])
