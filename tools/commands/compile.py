"""Compile a model and save it as a package: one file that runs with nothing but numpy.

Native code is for Linux on x86-64. A package (.trv) is compiled again, for a machine.
"""

import argparse

from .. import arguments
from ..allocation import return_large_blocks
from ..ir_flags import add_ir_arguments, given_ir_arguments, ir_hooks
from ..progress import shown_progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=f"{arguments.MODEL}, or a package (.trv)")
    parser.add_argument(
        "-o", "--output", metavar="OUT.trv", type=arguments.package_path, required=True
    )
    arguments.add_key_argument(parser)
    arguments.add_compile_arguments(parser, package=True)
    add_ir_arguments(parser)


def run(flags: argparse.Namespace) -> None:
    """Compile and save; nothing is written when either does not succeed."""
    from ...compiler.driver import build
    from ..report import summary

    return_large_blocks()
    model = flags.model
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


def _refuse_kept(flags: argparse.Namespace) -> None:
    if kept := arguments.kept_arguments(flags) + given_ir_arguments(flags):
        flags.refuse(f"{', '.join(kept)}: a package keeps what it was compiled with")
