"""Compile a model and save it as a package, one file that runs with nothing but numpy, or as C.

Native code of packages is for Linux on x86-64. A package (.trv) is compiled again, for a machine.
With --emit c, OUT is a folder of C for any machine, which a C compiler alone builds.
"""

import argparse

from ...targets.options import C
from .. import arguments
from ..allocation import return_large_blocks
from ..ir_flags import add_ir_arguments, given_ir_arguments, ir_hooks
from ..progress import shown_progress

PACKAGE = "package"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=f"{arguments.MODEL}, or a package (.trv)")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        required=True,
        help="the package to write (.trv), or with --emit c a folder",
    )
    parser.add_argument(
        "--emit",
        choices=(PACKAGE, C),
        default=PACKAGE,
        help="what is written: package (the default), or c: source, header, weights, Makefile, "
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
    from ..report import summary

    model = flags.model
    if flags.name or flags.onnc:
        flags.refuse(f"{'--name' if flags.name else '--onnc'}: is for --emit c")
    try:
        arguments.package_path(flags.output)
    except argparse.ArgumentTypeError as error:
        flags.refuse(f"argument -o/--output: {error}")
    if arguments.is_package(model):
        _refuse_kept(flags)
        model = arguments.open_package(flags, model)
    else:
        arguments.refuse_key(flags, model)
    with shown_progress() as progress:
        given = arguments.compile_arguments(flags)
        package = build(model, progress=progress, hooks=ir_hooks(flags), **given)
    package.save(flags.output)
    print(summary(flags.output, package.manifest))


def _run_c(flags: argparse.Namespace) -> None:
    from ...compiler.c.emit import NAME, emit_c

    if arguments.is_package(flags.output):
        flags.refuse(f"argument -o/--output: '{flags.output}' is a package, C is a folder")
    if arguments.is_package(flags.model):
        flags.refuse(f"--emit c: '{flags.model}' is a package: give the model that it was made of")
    arguments.refuse_key(flags, flags.model)
    if flags.onnc:
        print("CLang is invoked")
    with shown_progress() as progress:
        given = arguments.compile_arguments(flags)
        written = emit_c(
            flags.model,
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


def _refuse_kept(flags: argparse.Namespace) -> None:
    if kept := arguments.kept_arguments(flags) + given_ir_arguments(flags):
        flags.refuse(f"{', '.join(kept)}: a package keeps what it was compiled with")
