"""Compile models, run them, and look at what came out: the command `trivium`."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

from .. import __version__
from ..dialects.core.errors import CompileError
from ..runtime.errors import Fault
from . import commands

OK, REPORTED, USAGE = 0, 1, 2
"""Exit codes; a traceback always means a bug in Trivium."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool on command line arguments and return its exit code.

    That of a command is what its `run` returns, if it is anything.
    """
    try:
        flags = parser().parse_args(argv)
        code = flags.run(flags) or OK
        sys.stdout.flush()
        return code
    except SystemExit as end:  # of --help, --version, and wrong usage
        return USAGE if end.code else OK
    except (CompileError, Fault) as error:
        print(error, file=sys.stderr)
        return REPORTED
    except BrokenPipeError:  # whoever reads the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


def parser() -> argparse.ArgumentParser:
    """Make the parser: one command for each module of `commands`, described by its docstring."""
    made = argparse.ArgumentParser(prog="trivium", description=__doc__)
    made.add_argument("--version", action="version", version=f"trivium {__version__}")
    listed = made.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for found in iter_modules(commands.__path__):
        module = import_module(f"{commands.__name__}.{found.name}")
        text = (module.__doc__ or "").strip()
        command = listed.add_parser(
            found.name.replace("_", "-"),
            help=text.partition("\n")[0],
            description=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        # A command says what is wrong with arguments together by way of its parser.
        command.set_defaults(run=module.run, refuse=command.error)
    return made


if __name__ == "__main__":
    sys.exit(main())
