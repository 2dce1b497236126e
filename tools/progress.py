"""Show the progress of a long compilation: a line on the terminal that moves, and notes."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

Progress = Callable[[str], None]

NOTE = "note: "
"""The prefix of stages that are printed as notes, on a terminal or not."""


@contextmanager
def shown_progress() -> Generator[Progress]:
    """Show stages on standard error while they last, where that is a terminal and rich is there.

    Notes are shown in any case, and stay.
    """
    if not sys.stderr.isatty():
        yield _show_note
        return
    try:
        from rich.console import Console
        from rich.text import Text
    except ModuleNotFoundError:
        yield _show_note
        return

    def show(stage: str) -> None:
        if stage.startswith(NOTE):
            console.print(stage, markup=False, highlight=False, soft_wrap=True)
        else:
            status.update(Text(stage))

    console = Console(stderr=True)
    with console.status("start") as status:
        yield show


def _show_note(stage: str) -> None:
    if stage.startswith(NOTE):
        print(stage, file=sys.stderr)
