"""Find the scheduler that a user asks for."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..errors import RunError
from .parallel import Parallel
from .scheduler import Scheduler

SEQUENTIAL, PARALLEL = "sequential", "parallel"


def find_scheduler(given: Any) -> Scheduler | None:
    """Return a scheduler by its name, or by `module:Class`, or as it is; None does steps in order.

    Raises RunError for anything else.
    """
    if given is None or given == SEQUENTIAL:
        return None
    if given == PARALLEL:
        return Parallel()
    found = _load(given) if isinstance(given, str) else given
    if not isinstance(found, Scheduler):
        raise RunError(f"scheduler is {given!r}, must be {_CHOICES}")
    return found


_CHOICES = f"{SEQUENTIAL}, {PARALLEL}, module:Class or a trivium.Scheduler"


def _load(name: str) -> object:
    module, colon, attribute = name.partition(":")
    if not colon:
        raise RunError(f"scheduler is '{name}', must be {_CHOICES}")
    try:
        made: Callable[[], object] = getattr(import_module(module), attribute)
        return made()
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise RunError(f"scheduler '{name}' cannot be made: {reason}") from None
