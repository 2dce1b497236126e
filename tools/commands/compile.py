"""Compile a model and save it as a package, one file that runs with nothing but numpy, or as C.

Native code of packages is for Linux on x86-64. A package (.trv) is compiled again: for a machine,
or to another form.
With `--emit library`, the model becomes a shared library for programs in C and C++, with its
header. With `--emit c`, OUT is a folder of C for any machine, which a C compiler alone builds.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ...runtime import SUFFIX
from ...targets.choices import C
from .. import arguments
from ..allocation import return_large_blocks
from ..ir_flags import add_ir_arguments, given_ir_arguments, ir_hooks
from ..progress import shown_progress

if TYPE_CHECKING:
    from ...runtime.package import Package


PACKAGE, LIBRARY = "package", "library"

_OF_PACKAGES = ("compress", "external_weights", "keep", "refit", "strip")
"""Options of what only packages have, and no library."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=f"{arguments.MODEL}, or a package (.trv)")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        required=True,
        help="the package to write (.trv), or a folder",
    )
    parser.add_argument(
        "--emit",
        choices=(PACKAGE, LIBRARY, C),
        default=PACKAGE,
        help="what is written: a package (the default); a library: libmodel.so and model.h, linked "
        "by the C compiler of this machine; or c: source, header, weights, Makefile, "
        "CMakeLists.txt and an example client",
    )
    parser.add_argument(
        "--name",
        metavar="NAME",
        help="what files and functions of C are called, model by default",
    )
    parser.add_argument(
        "--onnc",
        action="store_true",
        help="with --emit c: add the entry of ONNC's runtime, model_main(), which the client "
        "calls, and write NAME.weight",
    )
    arguments.add_key_argument(parser)
    arguments.add_compile_arguments(parser, package=True)
    add_ir_arguments(parser)


def run(flags: argparse.Namespace) -> None:
    """Compile and save; nothing is written when either does not succeed."""
    return_large_blocks()
    if flags.emit == C:
        _run_c(flags)
    else:
        _run_package(flags)


def _run_package(flags: argparse.Namespace) -> None:
    from ...compiler.driver import build

    model = flags.model
    if flags.onnc:
        flags.refuse(f"--onnc: is for --emit {C}")
    if flags.name and flags.emit == PACKAGE:
        flags.refuse(f"--name: is for --emit {LIBRARY} and --emit {C}")
    if flags.emit == LIBRARY:
        _refuse_of_packages(flags)
    if flags.emit == PACKAGE and not arguments.is_package(flags.output):
        flags.refuse(f"argument -o/--output: '{flags.output}' must end in {SUFFIX}")
    if arguments.is_package(model):
        _refuse_kept(flags)
        model = arguments.open_package(flags, model)
    else:
        arguments.refuse_key(flags, model)
    with shown_progress() as progress:
        given = arguments.compile_arguments(flags)
        package = build(model, progress=progress, hooks=ir_hooks(flags), **given)
    _write(package, flags)


def _write(package: "Package", flags: argparse.Namespace) -> None:
    from ..report import summary

    if flags.emit == PACKAGE:
        package.save(flags.output)
        print(summary(flags.output, package.manifest))
        return
    from ...compiler.library.emit import NAME, emit_library

    for path in emit_library(package, Path(flags.output), flags.name or NAME):
        print(path)


def _run_c(flags: argparse.Namespace) -> None:
    from ...compiler.c.emit import NAME, emit_c

    if arguments.is_package(flags.output):
        flags.refuse(f"argument -o/--output: '{flags.output}' is a package, C is a folder")
    model = flags.model
    if arguments.is_package(model):
        _refuse_kept(flags)
        model = arguments.open_package(flags, model)
    else:
        arguments.refuse_key(flags, model)
    if flags.onnc:  # in the words of ONNC, which scripts look for
        print("CLang is invoked")
    with shown_progress() as progress:
        given = arguments.compile_arguments(flags)
        written = emit_c(
            model,
            flags.output,
            name=flags.name or NAME,
            onnc=flags.onnc,
            progress=progress,
            hooks=ir_hooks(flags),
            **given,
        )
    if flags.onnc:
        print(f"[Clang] created model weight file: {written.path / written.weight_file}")
    print(f"{written.path}: {', '.join(written.files)}")


def _refuse_of_packages(flags: argparse.Namespace) -> None:
    given = arguments.compile_arguments(flags)
    if names := [f"--{name.replace('_', '-')}" for name in _OF_PACKAGES if name in given]:
        flags.refuse(
            f"{', '.join(names)}: only packages have that, libraries have not: leave it out"
        )


def _refuse_kept(flags: argparse.Namespace) -> None:
    if kept := arguments.kept_arguments(flags) + given_ir_arguments(flags):
        flags.refuse(f"{', '.join(kept)}: a package keeps what it was compiled with")
