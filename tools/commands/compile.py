"""Compile a model and save it as a package: one file that runs with nothing but numpy.

Native code is for Linux on x86-64. A package (.trv) is compiled again, for a machine.
"""

import argparse

from .. import arguments
from ..ir_flags import add_ir_arguments, given_ir_arguments, ir_hooks
from ..progress import shown_progress

KEPT = (
    *("--math", "--precision", "--quantized", "--winograd-error", "--tuning", "--tune"),
    *("--candidates", "--strict"),
)
"""What cannot be chosen again when a package is compiled anew."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=f"{arguments.MODEL}, or a package (.trv)")
    parser.add_argument(
        "-o", "--output", metavar="OUT.trv", type=arguments.package_path, required=True
    )
    arguments.add_key_argument(parser)
    arguments.add_compile_arguments(parser)
    add_ir_arguments(parser)
    parser.add_argument(
        "--tune",
        metavar="FILE.json",
        default="",
        help="a tuning file to use, after measuring what it lacks; it is made where there is none",
    )
    parser.add_argument(
        "--candidates",
        action="store_true",
        help="for a GPU: keep kernels with other settings too, for the command tune to measure",
    )


def run(flags: argparse.Namespace) -> None:
    """Compile and save; nothing is written when either does not succeed."""
    from ...compiler.driver import build
    from ..report import summary

    model = flags.model
    if arguments.is_package(model):
        _refuse_choices(flags)
        model = arguments.open_package(flags, model)
    else:
        arguments.refuse_key(flags, model)
    with shown_progress() as progress:
        choices = arguments.compile_arguments(flags)
        choices |= {"tune": flags.tune, "candidates": flags.candidates, "progress": progress}
        choices["hooks"] = ir_hooks(flags)
        package = build(model, **choices)
    package.save(flags.output)
    print(summary(flags.output, package.manifest))


def _refuse_choices(flags: argparse.Namespace) -> None:
    given = arguments.given_compile_arguments(flags)
    given += ["--tune"] * bool(flags.tune) + ["--candidates"] * flags.candidates
    kept = [name for name in given if name in KEPT] + given_ir_arguments(flags)
    if kept:
        flags.refuse(f"{', '.join(kept)}: a package keeps what it was compiled with")
