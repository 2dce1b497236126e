"""Arguments that commands share, and how their texts are read."""

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..dialects.core.errors import CompileError
from ..dialects.core.machine import machine_names
from ..runtime import SUFFIX
from ..targets.options import PRECISIONS, QUANTIZED

if TYPE_CHECKING:
    from ..runtime.package import Package

Binding = tuple[str, int | tuple[int, ...]]


class Table(argparse.Action):
    """Gather the NAME=VALUE pairs of a repeated flag in a dict."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, default={}, **kwargs)

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
"""What commands that compile take; torch modules are compiled from Python."""


def shape_argument() -> dict[str, Any]:
    """Describe what gives sizes to the inputs of a model."""
    return {
        "metavar": "NAME=SIZE",
        "dest": "shapes",
        "type": binding,
        "action": Table,
        "help": "size of a symbolic dimension, N=1, or of a whole input, x=1x3x224x224",
    }


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


def add_compile_arguments(parser: argparse.ArgumentParser, fallback: bool = True) -> None:
    """Add what says how a model is compiled; a default of None means that of the API.

    With `fallback` a part of the model may run elsewhere, unless the user is strict.
    """
    group = parser.add_argument_group("how to compile")
    group.add_argument(
        "--target",
        metavar="NAME",
        help="where to run: cpu (the default), host, a GPU such as gpu:sm_90, or an accelerator "
        "such as vanilla; trivium-opt --list-targets lists all",
    )
    if fallback:
        group.add_argument(
            "--strict",
            action="store_true",
            default=None,
            help="refuse a model of which anything would run on another target, "
            "but for what brings values to an accelerator",
        )
    group.add_argument("--shape", **shape_argument())
    group.add_argument(
        "--opt-level",
        type=int,
        choices=(0, 1, 2),
        help="0: as written, 1: fold, 2: fold and fuse (the default)",
    )
    group.add_argument(
        "--math",
        choices=("fast", "strict"),
        help="strict: no approximations, nothing rounds otherwise than the ops say",
    )
    group.add_argument(
        "--precision",
        choices=PRECISIONS,
        help="what f32 is computed in (f32 is the default); inputs and outputs keep their types",
    )
    group.add_argument(
        "--quantized",
        choices=QUANTIZED,
        help="what a quantised model is computed in (floats is the default)",
    )
    group.add_argument(
        "--winograd-error",
        metavar="ERROR",
        type=error,
        help="what a layer may lose by Winograd's method, as a part of its largest output: "
        "2e-6 unless said otherwise, 2e-5 allows larger tiles, 0 none",
    )
    group.add_argument(
        "--tuning",
        metavar="FILE.json",
        help="a tuning file, or a package that was tuned, to take schedules from",
    )
    group.add_argument(
        "--machine",
        metavar="NAME[,NAME...]",
        type=machines,
        help=f"the CPUs to make code for: {', '.join(machine_names())} (the first is the default)",
    )


def compile_arguments(flags: argparse.Namespace) -> dict[str, Any]:
    """Return what was given of the arguments above, as `compile` takes it."""
    names = ("target", "shapes", "opt_level", "math", "precision", "winograd_error", "tuning")
    names += ("machine", "quantized", "strict")
    return {
        name: value for name in names if (value := getattr(flags, name, None)) not in (None, {})
    }


def target_name(flags: argparse.Namespace) -> str:
    """Return the name of the target that was asked for, without architectures."""
    return (flags.target or "cpu").partition(":")[0]


def given_compile_arguments(flags: argparse.Namespace) -> list[str]:
    """List what was given of the arguments above, as the user wrote it."""
    spelled = {"shapes": "--shape"}
    names = compile_arguments(flags)
    return [spelled.get(name, f"--{name.replace('_', '-')}") for name in names]


def add_key_argument(parser: argparse.ArgumentParser) -> None:
    """Add what says whose packages a command accepts."""
    parser.add_argument(
        "--verify-key",
        metavar="FILE",
        action="append",
        help="refuse a package that the owner of this public key (PEM, Ed25519) has not signed as "
        "it is; given several times, any of them may have signed it",
    )


def add_load_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says how a session is made of a package, and whose packages are accepted."""
    parser.add_argument(
        "--threads",
        metavar="N",
        type=count,
        help="run on up to N threads, one for each core unless said otherwise",
    )
    parser.add_argument(
        "--device",
        metavar="N",
        type=int,
        default=0,
        help="run what is for a GPU on number N, 0 unless said otherwise",
    )
    parser.add_argument(
        "--no-mmap",
        action="store_true",
        help="read a package into memory, so that its file may change in place meanwhile",
    )
    add_key_argument(parser)


def open_package(flags: argparse.Namespace, path: str) -> "Package":
    """Open a package as the arguments above say; raise PackageError for one that is refused."""
    from ..runtime.package import Package

    mmap = False if getattr(flags, "no_mmap", False) else None
    return Package.open(path, mmap=mmap, key=flags.verify_key)


def refuse_key(flags: argparse.Namespace, path: str) -> None:
    """Refuse a key for what is no package: nothing would be verified."""
    if flags.verify_key:
        flags.refuse(f"--verify-key: '{path}' is not a package ({SUFFIX}), which can be signed")


def is_package(path: str) -> bool:
    """Say whether a path is that of a package, by its suffix."""
    return Path(path).suffix == SUFFIX


def package_path(text: str) -> str:
    """Read the path of a package to be written."""
    if not is_package(text):
        raise argparse.ArgumentTypeError(f"'{text}' must end in {SUFFIX}")
    return text


def binding(text: str) -> Binding:
    """Read `N=1` or `x=1x3x224x224`."""
    name, _, sizes = text.rpartition("=")
    numbers = sizes.split("x")
    if not name or not all(number.isdecimal() for number in numbers):
        raise argparse.ArgumentTypeError(f"'{text}' must be like N=1 or x=1x3x224x224")
    return name, int(sizes) if len(numbers) == 1 else tuple(map(int, numbers))


def machines(text: str) -> tuple[str, ...]:
    """Read `x86-64-v3` or `x86-64-v3,x86-64-v4`."""
    return tuple(text.split(","))


def file(text: str) -> tuple[str, str]:
    """Read `x=x.npy`."""
    name, _, path = text.partition("=")
    if not name or not path:
        raise argparse.ArgumentTypeError(f"'{text}' must be like x=x.npy")
    return name, path


def error(text: str) -> float:
    """Read a relative error: a number that is not negative."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number from 0 on")
    return number


def count(text: str) -> int:
    """Read a number that is at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number from 1 on")
    return int(text)
