"""What a user can see of the backend: torch's logs and torch's counters."""

import logging
import time
from collections.abc import Collection, Generator
from contextlib import contextmanager

from torch import fx
from torch._dynamo.utils import counters

from ...dialects.core.errors import CompileError, Unsupported
from ...runtime.errors import RunError

LOG = logging.getLogger("torch._dynamo.backends.trivium")
"""Below the logger of Dynamo: warnings are shown by default, all lines by TORCH_LOGS=+dynamo."""


def count(what: str) -> None:
    """Count in `torch._dynamo.utils.counters["trivium"]`: graphs, sessions, and graphs in eager."""
    counters["trivium"][what] += 1


def report_eager(graph: fx.Graph, error: Exception, refused: Collection[str] = ()) -> None:
    """Report why a graph, or only its `refused` nodes, runs in eager torch.

    What is no refusal has its traceback, among the lines that are not shown by default.
    """
    count("eager")
    which = f"{len(refused)} of {_calls(graph)}" if refused else f"{_calls(graph)}"
    _warn(f"{which} calls of a graph run in eager torch", error)


def report_static(graph: fx.Graph, error: Exception) -> None:
    """Report why a graph is compiled for each size that it is called with."""
    _warn(f"a graph of {_calls(graph)} calls is compiled for each size on its own", error)


def _warn(what: str, error: Exception) -> None:
    expected = isinstance(error, (CompileError, RunError, Unsupported))
    LOG.warning("%s: %s", what, error if expected else f"{type(error).__name__}: {error}")
    if not expected:
        LOG.info("the error was raised here", exc_info=error)


@contextmanager
def compiling(graph: fx.Graph) -> Generator[None]:
    """Report that a graph was compiled, and how long that took."""
    start = time.perf_counter()
    yield
    count("sessions")
    LOG.info("compiled a graph of %d calls in %.1f s", _calls(graph), time.perf_counter() - start)


def _calls(graph: fx.Graph) -> int:
    return sum(node.op.startswith("call_") for node in graph.nodes)
