"""Run the body of a command-line tool: exit codes, Ctrl-C, and output that cannot be written."""

import argparse
import errno
import os
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import IO, Any, NoReturn, cast

OK, REPORTED, USAGE = 0, 1, 2
"""Exit codes; a traceback always means a bug in Trivium."""

INTERRUPTED, READER_LEFT = 128 + signal.SIGINT, 128 + signal.SIGPIPE
"""Exit codes as shells report them for programs that these signals end."""


class Parser(argparse.ArgumentParser):
    """Report wrong usage in one line, and name the option that prints the help."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: error: {message}\ntry '{self.prog} --help'\n")


class LostOutput(Exception):
    """Report that text did not reach a standard stream."""

    def __init__(self, stream: IO[str], name: str, error: OSError) -> None:
        super().__init__(f"error: cannot write to {name}: {error.strerror}")
        self.stream = stream
        self.reader_left = error.errno == errno.EPIPE


def run_tool(body: Callable[[], int]) -> int:
    """Return the exit code of a tool, and end it quietly when the user or a reader stops it.

    `body` returns an exit code, or raises a CompileError or a Fault, which is printed. Text that a
    standard stream does not accept makes the exit code non-zero, and is reported in one line unless
    the stream is a pipe whose reader has ended.
    """
    _open_missing_streams()
    out, err = _checked(sys.stdout, "standard output"), _checked(sys.stderr, "standard error")
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = _outcome(body)
            out.flush()
            err.flush()
            return code
    except KeyboardInterrupt:
        # A second Ctrl-C ends the process at once, without a traceback of the cleanup.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        return INTERRUPTED
    except LostOutput as lost:
        _discard_rest(lost.stream)
        if lost.reader_left:
            return READER_LEFT
        with suppress(OSError):
            print(lost, file=sys.stderr)
        return REPORTED


def _outcome(body: Callable[[], int]) -> int:
    try:
        return body()
    except SystemExit as end:  # --help, --version, and wrong usage
        return USAGE if end.code else OK
    except Exception as error:
        if not isinstance(error, _user_errors()):
            raise
        print(error, file=sys.stderr)
        return REPORTED


def _user_errors() -> tuple[type[Exception], ...]:
    """Return the errors that users see as text; imported only when something went wrong."""
    from ..dialects.core.errors import CompileError
    from ..runtime.errors import Fault

    return CompileError, Fault


class _CheckedStream:
    """Raise LostOutput where a stream raises OSError, which could come from any file."""

    def __init__(self, stream: IO[str], name: str) -> None:
        self._stream = stream
        self._name = name

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            raise LostOutput(self._stream, self._name, error) from None

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            raise LostOutput(self._stream, self._name, error) from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _checked(stream: IO[str], name: str) -> IO[str]:
    return cast("IO[str]", _CheckedStream(stream, name))


def _open_missing_streams() -> None:
    """Replace streams that were closed before the start by ones that fail when they are used.

    Python has None for them, and would give their numbers to the next files that it opens.
    """
    for name, mode, wrong in (
        ("stdin", "r", os.O_WRONLY),
        ("stdout", "w", os.O_RDONLY),
        ("stderr", "w", os.O_RDONLY),
    ):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, wrong)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8"))  # noqa: SIM115


def _discard_rest(stream: IO[str]) -> None:
    """Discard buffered output, which Python would write when it exits."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
