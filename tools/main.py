"""Compile models, run them, and look at what came out: the command `trivium`."""

import argparse
import ast
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from ..dialects.core.discovery import load_plugins
from ..version import __version__
from . import commands
from .terminal import OK as OK
from .terminal import REPORTED as REPORTED
from .terminal import USAGE as USAGE
from .terminal import Parser, run_tool


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool on command line arguments and return its exit code.

    That of a command is what its `run` returns, if it is anything.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    return run_tool(lambda: _run(given))


def _run(arguments: list[str]) -> int:
    modules = _command_modules()
    if not arguments or arguments[0] not in modules:
        options = bool(arguments) and arguments[0].startswith("-")
        _overview(modules).parse_args(arguments if options else arguments[:1])
    name, *rest = arguments
    module = import_module(modules[name])
    text = (module.__doc__ or "").strip()
    form = argparse.RawDescriptionHelpFormatter
    parser = Parser(prog=f"trivium {name}", description=text, formatter_class=form)
    module.add_arguments(parser)
    # A command reports arguments that contradict one another by way of its parser.
    flags = parser.parse_args(rest, argparse.Namespace(refuse=parser.error))
    if plugins := getattr(flags, "plugins", None):
        load_plugins(plugins)
    return module.run(flags) or OK


def _command_modules() -> dict[str, str]:
    """Return the module of each command by the name of the command."""
    found = (module.name for module in iter_modules(commands.__path__))
    return {name.replace("_", "-"): f"{commands.__name__}.{name}" for name in found}


def _overview(modules: dict[str, str]) -> Parser:
    """Make the parser that lists the commands by their docstrings, and imports none of them."""
    made = Parser(prog="trivium", description=__doc__)
    made.add_argument("--version", action="version", version=f"trivium {__version__}")
    made.add_argument("--plugin", metavar="MODULE", action=_Plugin, help="a plugin to import first")
    made.add_argument("--list-formats", action=_ListFormats, help="list the formats of models")
    listed = made.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for name, module in modules.items():
        listed.add_parser(name, help=_summary(module), add_help=False)
    return made


class _Plugin(argparse.Action):
    """Import a plugin, whose formats are then listed."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        load_plugins([values])


class _ListFormats(argparse.Action):
    """Print the formats and exit."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, nargs=0, **kwargs)

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        from .format_table import format_table

        print(format_table())
        parser.exit()


def _summary(module: str) -> str:
    """Return the first line of a module's docstring, from its source."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or "").partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main())
