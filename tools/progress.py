"""What a user sees of a long compilation: a line on the terminal that moves."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

Progress = Callable[[str], None]


@contextmanager
def shown_progress() -> Generator[Progress | None]:
    """Show stages on standard error while they last, where that is a terminal and rich is there."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        yield None
        return
    count = 0

    def show(stage: str) -> None:
        nonlocal count
        is_kernel = stage.startswith("k_")
        count += is_kernel
        status.update(f"compile kernel {count}" if is_kernel else stage)

    with Console(stderr=True).status("start") as status:
        yield show
