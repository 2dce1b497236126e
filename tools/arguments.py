"""Arguments that commands share, and how their texts are read."""

import argparse
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..dialects.core.discovery import load_plugins
from ..dialects.core.errors import CompileError, Invalid
from ..runtime import SUFFIX
from ..targets.option import Option, options_of
from ..targets.options import CompileOptions

if TYPE_CHECKING:
    from ..runtime.package import Package

OPTIONS = tuple(options_of(CompileOptions))


class Table(argparse.Action):
    """Gather the NAME=VALUE pairs of a repeated flag in a dict."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "default": {}})

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        name, value = values
        table = getattr(namespace, self.dest)
        if name in table:
            raise argparse.ArgumentError(self, f"'{name}' is given twice")
        setattr(namespace, self.dest, {**table, name: value})


MODEL = "an ONNX model (.onnx), a PNNX model (.param) or IR (.mlir)"
"""The kinds of models, for help texts; torch modules are compiled from Python."""

WRITTEN = "a path that ends in .onnx, .param, .mlir (text) or .mlirbc (bytecode)"
"""Where models are written, for help texts."""


def add_option(parser: Any, name: str, **changed: Any) -> None:
    """Add the flag of one option of `CompileOptions`; `changed` are arguments of argparse."""
    _add(parser, next(each for each in OPTIONS if each.name == name), changed)


def _add(parser: Any, option: Option, changed: Mapping[str, Any]) -> None:
    help = option.help.replace("%", "%%")  # argparse formats it
    given: dict[str, Any] = {"help": help, "dest": option.name, "default": None}
    if option.is_switch:
        given["action"] = "store_true"
    elif option.choices is not None:
        given |= {"choices": option.choices, "type": option.parse}
    else:
        given |= {"metavar": option.metavar, "type": _reader(option)}
    if option.collects:
        given["action"] = {"pairs": Table, "append": "append"}[option.collects]
    parser.add_argument(option.flag, **{**given, **changed})


def _reader(option: Option) -> Callable[[str], Any]:
    """Return the function that argparse calls with the text of a flag."""

    def read(text: str) -> Any:
        try:
            return option.read(text)
        except Invalid as error:
            raise argparse.ArgumentTypeError(f"'{text}' {error}") from None

    return read


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Add the switch that prints the data of a report and not its text."""
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON instead of text: docs/reports.md has its fields",
    )


def accelerator_argument() -> dict[str, Any]:
    """Describe what names an accelerator."""
    return {
        "metavar": "NAME[:FILE.toml]",
        "help": "an accelerator, and its description when it is not the accelerator's own",
    }


def read_bytes(file: Path) -> bytes:
    """Read a file; raise CompileError when that cannot be done."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise CompileError(f"cannot read '{file}': {error.strerror}") from None


def add_compile_arguments(
    parser: argparse.ArgumentParser, *, package: bool = False, without: Collection[str] = ()
) -> None:
    """Add the flags of the options of `CompileOptions`; a default of None means that of the API.

    With `package`, options that only a package records are among them.
    """
    group = parser.add_argument_group("how to compile")
    added = [
        each
        for each in OPTIONS
        if each.flag and each.name not in without and (package or not each.package_only)
    ]
    for each in added:
        _add(group, each, {})
    parser.set_defaults(compile_options=[each.name for each in added])


def compile_arguments(flags: argparse.Namespace) -> dict[str, Any]:
    """Return the options that flags were given for, as the keywords of `compile`."""
    given = {name: getattr(flags, name) for name in flags.compile_options}
    return {name: value for name, value in given.items() if value not in (None, {})}


def compile_options(flags: argparse.Namespace, progress: Callable[[str], None]) -> CompileOptions:
    """Return the options that flags were given for."""
    return CompileOptions(**compile_arguments(flags), progress=progress)


def checked_options(flags: argparse.Namespace) -> CompileOptions:
    """Return the options that flags were given for, when the plugins among them are imported."""
    options = CompileOptions(**compile_arguments(flags))
    load_plugins(options.plugin_names)
    return options


def target_name(flags: argparse.Namespace) -> str:
    """Return the name of the target that was asked for, without architectures."""
    return (flags.target or "cpu").partition(":")[0]


def given_compile_arguments(flags: argparse.Namespace) -> list[str]:
    """List the flags of options that were given, as the user wrote them."""
    given = compile_arguments(flags)
    return [each.flag for each in OPTIONS if each.flag and each.name in given]


def kept_arguments(flags: argparse.Namespace) -> list[str]:
    """List the given flags of options that a package that is compiled again keeps."""
    given = compile_arguments(flags)
    return [each.flag for each in OPTIONS if each.flag and each.name in given and not each.rebuilds]


def add_key_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the keys whose packages a command accepts."""
    parser.add_argument(
        "--verify-key",
        metavar="FILE",
        action="append",
        help="refuse a package that the owner of this public key (PEM, Ed25519) has not signed as "
        "it is; given several times, any of them may have signed it",
    )


def add_load_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a session, and of the keys whose packages are accepted."""
    parser.add_argument(
        "--threads",
        metavar="N",
        type=count,
        help="run on up to N threads, by default as the package says, or one for each core",
    )
    parser.add_argument(
        "--cores", metavar="LIST", help="bind threads to these cores, as 0-3,8, or to none: all"
    )
    parser.add_argument(
        "--numa", metavar="N", type=int, help="bind threads to the cores of this NUMA node"
    )
    parser.add_argument(
        "--device",
        metavar="N",
        type=int,
        default=0,
        help="run code for GPUs on number N, 0 by default",
    )
    parser.add_argument(
        "--no-mmap",
        action="store_true",
        help="read a package into memory, so that its file may change in place meanwhile",
    )
    parser.add_argument(
        "--scheduler",
        metavar="NAME",
        help="what does the steps of a run: sequential (the default), parallel (those of different "
        "targets at once), or your own as module:Class",
    )
    add_key_argument(parser)


def session_options(flags: argparse.Namespace) -> dict[str, Any]:
    """Return what a session is made with, of the flags of `add_load_arguments`."""
    names = ("threads", "cores", "numa", "device", "scheduler")
    return {name: getattr(flags, name) for name in names}


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say what a run gets, which `feeds.of_run` reads."""
    parser.add_argument(
        "--input",
        metavar="NAME=FILE.npy",
        dest="input_files",
        type=file,
        action=Table,
        help="read an input from a file",
    )
    parser.add_argument(
        "--random",
        metavar="SEED",
        nargs="?",
        type=int,
        const=0,
        help="make up the inputs that no file gives",
    )


def open_package(flags: argparse.Namespace, path: str) -> "Package":
    """Open a package by its path and key; raise PackageError for one that is refused."""
    from ..runtime.package import Package

    mmap = False if getattr(flags, "no_mmap", False) else None
    check = getattr(flags, "check", False)
    return Package.open(path, mmap=mmap, key=flags.verify_key, check=check)


def refuse_key(flags: argparse.Namespace, path: str) -> None:
    """Refuse a key beside a model: only packages have signatures."""
    if flags.verify_key:
        flags.refuse(f"--verify-key: '{path}' is not a package ({SUFFIX}), which can be signed")


def is_package(path: str) -> bool:
    """Return whether a path is that of a package, by its suffix."""
    return Path(path).suffix == SUFFIX


def package_path(text: str) -> str:
    """Read the path of a package to be written."""
    if not is_package(text):
        raise argparse.ArgumentTypeError(f"'{text}' must end in {SUFFIX}")
    return text


def file(text: str) -> tuple[str, str]:
    """Read `x=x.npy`."""
    name, _, path = text.partition("=")
    if not name or not path:
        raise argparse.ArgumentTypeError(f"'{text}' must be like x=x.npy")
    return name, path


def count(text: str) -> int:
    """Read a number that is at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number from 1 on")
    return int(text)
